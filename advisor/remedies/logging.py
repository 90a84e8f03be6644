"""Against printing, logging and plotting in each step: less often, and read back from the device only then."""

from .host_python import propose

COMPLETE = frozenset({"logging-in-the-loop", "printing-in-the-loop", "plotting-in-the-loop"})

__all__ = ["COMPLETE", "propose"]

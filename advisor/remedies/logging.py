"""Against printing, logging and plotting in each step: less often, and read back from the device only then."""

from .host_python import COMPLETE, propose

__all__ = ["COMPLETE", "propose"]

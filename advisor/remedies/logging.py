"""Against printing, logging and plotting in each step."""

from .host_python import propose

__all__ = ["propose"]

"""Text of a run made harmless for whoever shows it: no character that shows nothing, or that steers a terminal."""

from __future__ import annotations

#: Control characters, and those that turn the direction of what follows; tabs and newlines may stay.
_UNSEEN = dict.fromkeys(
    (*range(9), 11, 12, *range(14, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)),
    "\ufffd",
)


def visible(text: str) -> str:
    """``text`` with a replacement character for each that cannot be seen."""
    return text.translate(_UNSEEN)

"""Which ink is readable on a coloured shape. Computes no colour of its own beyond black or white."""

from __future__ import annotations

from .palette import ink


def ink_on(color: str) -> str:
    """Dark or light ink for text on ``color`` (``#rrggbb``): whichever has the higher WCAG 2.2 contrast."""
    light, dark = ink(dark=True), ink(dark=False)
    return light if contrast(light, color) >= contrast(dark, color) else dark


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21, by WCAG 2.2."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

"""Which ink is readable on a coloured shape. Knows black and white only; colours are the palette's."""

from __future__ import annotations

BLACK, WHITE = "#000000", "#ffffff"


def ink_on(color: str) -> str:
    """Black or white for text on ``color`` (``#rrggbb``): on every colour one of them has a contrast above 4.5."""
    return max(BLACK, WHITE, key=lambda ink: contrast(ink, color))


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21, by WCAG 2.2."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

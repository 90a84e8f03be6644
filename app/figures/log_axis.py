"""Ticks for logarithmic axes that read as whole numbers: 1, 2, 5, 10, 20 …, thinned where there are many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

#: A wider axis keeps powers of ten only.
FEW_DECADES = 2.5
MAX_DECADES = 40


def log_axis(values: Sequence[float]) -> dict[str, Any]:
    """The settings of a logarithmic axis over ``values``; without a positive one it stays linear."""
    positive = [value for value in values if value > 0]
    if not positive:
        return {"type": "linear"}
    ticks = _ticks(math.log10(min(positive)), math.log10(max(positive)))
    return {
        "type": "log",
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [f"{tick:,.0f}" if 1 <= tick < 1e6 else f"{tick:g}" for tick in ticks],
    }


def _ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(low), min(math.ceil(high), math.floor(low) + MAX_DECADES) + 1)
    digits = (1, 2, 5) if high - low <= FEW_DECADES else (1,)
    if high - low < 0.5:
        digits = (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
    return [float(f"{digit}e{decade}") for decade in decades for digit in digits]

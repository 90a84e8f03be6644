"""One line on how much the model computes, and how close that comes to what the machine can."""

from __future__ import annotations

from ...profiler.report import Compute

_UNITS = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def compute_line(compute: Compute) -> str | None:
    """The line; None where operations were not counted."""
    if compute.flops_per_step is None or compute.achieved_flops is None:
        return None
    line = f"model {_scaled(compute.flops_per_step)}FLOP a step, {_scaled(compute.achieved_flops)}FLOP/s"
    if compute.mfu is None:
        return line
    return f"{line}, {compute.mfu * 100:.2g} % of the best measured here (MFU)"


def _scaled(value: float) -> str:
    """A number with the prefix of its unit: ``12.3 G``."""
    size, prefix = next(((size, prefix) for size, prefix in _UNITS if value >= size), (1.0, ""))
    return f"{value / size:.3g} {prefix}"

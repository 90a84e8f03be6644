"""What fills the memory at its peak, as a table, with what is left and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...profiler.diagnosis.memory import PEAK, STEPS_LEFT
from ...profiler.report import MemoryUse, Report
from . import format as text

#: A cause that only growth has, whose findings in older reports hold no forecast of their own.
GROWING = "growing-memory"


@dataclass(frozen=True)
class MemoryUseView:
    """Uses of memory with size, share of the peak and whether that was counted or remains; and what it means."""

    title: str
    caption: str
    parts: tuple[tuple[str, str, str, str], ...]
    facts: tuple[tuple[str, str], ...]


def memory_use_view(report: Report) -> MemoryUseView | None:
    """The use of memory of a report; None where nothing but a peak is known of a process."""
    use = report.memory_use
    if use is None or not (use.parts or use.on_device):
        return None
    whole = max(use.peak_bytes, sum(part.bytes for part in use.parts), 1)
    return MemoryUseView(
        title="What fills the GPU's memory" if use.on_device else "What fills the process's memory",
        caption=" ".join(_sentences(use, _steps_left(report, use))),
        parts=tuple(
            (part.name, text.size(part.bytes), text.percent(part.bytes / whole), part.basis)
            for part in use.parts
        ),
        facts=tuple(_facts(use)),
    )


def _steps_left(report: Report, use: MemoryUse) -> float | None:
    """When a finding predicts this memory to be used up; a slope that no rule found is noise."""
    for finding in report.findings:
        facts = {fact.name: fact.value for fact in finding.evidence}
        if facts.get(PEAK, use.peak_bytes) != use.peak_bytes:
            continue
        left = facts.get(STEPS_LEFT)
        if isinstance(left, int | float):
            return left
        if finding.cause == GROWING:
            return use.steps_left
    return None


def _sentences(use: MemoryUse, steps_left: float | None) -> Iterator[str]:
    limit = "" if use.limit_bytes is None else f" of {text.size(use.limit_bytes)}"
    yield f"At its peak {text.size(use.peak_bytes)}{limit}."
    if use.parts:
        yield "Parameters, gradients and optimizer state were counted from the tensors; the rest is what remains."
    if steps_left is not None:
        yield f"It grows; predicted to be used up in {steps_left:,.0f} steps."


def _facts(use: MemoryUse) -> Iterator[tuple[str, str]]:
    if use.growth_bytes_per_step is not None:
        yield "growth per step", text.size(round(max(use.growth_bytes_per_step, 0.0)))
    if not use.on_device:
        return
    reserved = use.reserved_peak_bytes
    yield "reserved at most", _size(reserved)
    yield "reserved beyond that peak", _size(None if reserved is None else max(reserved - use.peak_bytes, 0))
    yield "inactive split blocks (fragmentation)", _size(use.inactive_split_bytes)
    yield "outside PyTorch", _size(use.outside_bytes)
    yield "allocation retries", _times(use.retries)
    yield "out of memory", _times(use.out_of_memory)
    predicted = use.largest_batch
    yield (
        "largest batch, predicted",
        text.unavailable(use.largest_batch_reason) if predicted is None else f"{predicted:,}",
    )


def _size(value: int | None) -> str:
    return "n/a" if value is None else text.size(value)


def _times(count: int | None) -> str:
    return "n/a" if count is None else f"{count:,}×"

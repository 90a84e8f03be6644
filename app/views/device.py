"""The device view as charts show it: what the device was spent on, why it idled, which kernels it ran."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...profiler.report import DeviceShares, DeviceStep, KernelClass, Report
from ...profiler.vocabulary import IdleCause
from . import format as text

COMPUTE, COMMUNICATION, COPY, IDLE = "compute", "communication", "copy", "idle"
_BUSY_LABELS = {COMPUTE: "compute", COMMUNICATION: "exposed communication", COPY: "exposed copy"}
#: Fewer steps than this make no series.
FEW_STEPS = 2


@dataclass(frozen=True)
class DeviceSegment:
    """A share of the device's time; ``use`` is a key of the palette's device colours, ``cause`` why it idled."""

    use: str
    label: str
    share: float
    percent: str
    cause: IdleCause | None = None


@dataclass(frozen=True)
class DeviceBar:
    """Every instant of the device once.

    Attributes:
        uses: compute, exposed communication, exposed copy, idle; they sum to the window.
        causes: the idle time by cause, largest first; empty where the trace cannot tell.
    """

    uses: tuple[DeviceSegment, ...]
    causes: tuple[DeviceSegment, ...]

    @property
    def segments(self) -> tuple[DeviceSegment, ...]:
        """The busy uses and, where they are known, the causes in place of the idle time as a whole."""
        return (*self.uses[:-1], *self.causes) if self.causes else self.uses


@dataclass(frozen=True)
class KernelRow:
    """One class of kernels."""

    name: str
    share: float
    percent: str
    time: str
    count: str
    mean: str


@dataclass(frozen=True)
class DeviceSteps:
    """The device view of one rank's steps: ms of every segment, each shape (steps,)."""

    rank: int
    step: tuple[int, ...]
    segments_ms: tuple[tuple[DeviceSegment, tuple[float, ...]], ...]


@dataclass(frozen=True)
class DeviceView:
    """All that is shown of the device.

    Attributes:
        bar: None beside ``bar_reason`` where only kernels are known.
        notes: tensor-core use, precision, launch queue; one sentence each.
        steps: by rank; empty where fewer than two steps were traced.
    """

    bar: DeviceBar | None
    bar_reason: str
    caption: str
    kernels: tuple[KernelRow, ...]
    notes: tuple[str, ...]
    steps: tuple[DeviceSteps, ...]


def device_view(report: Report) -> DeviceView | None:
    """The device view of a report; None where no device was traced."""
    if report.device is None and not report.kernel_classes:
        return None
    return DeviceView(
        bar=device_bar(report.device) if report.device is not None else None,
        bar_reason=text.unavailable(report.device_reason) if report.device is None else "",
        caption=_caption(report),
        kernels=tuple(_kernel(found) for found in sorted(report.kernel_classes, key=lambda one: -one.share)),
        notes=tuple(_notes(report)),
        steps=tuple(_steps(report.device_steps)),
    )


def device_bar(device: DeviceShares) -> DeviceBar:
    """The shares of one device view."""
    return DeviceBar(
        uses=(*_busy(device), _segment(IDLE, "idle", device.idle_share)),
        causes=tuple(sorted(_causes(device), key=lambda segment: -segment.share)),
    )


def _busy(device: DeviceShares) -> Iterator[DeviceSegment]:
    shares = (device.compute_share, device.exposed_communication_share, device.exposed_copy_share)
    for use, share in zip(_BUSY_LABELS, shares, strict=True):
        yield _segment(use, _BUSY_LABELS[use], share)


def _causes(device: DeviceShares) -> Iterator[DeviceSegment]:
    for cause, share in device.idle_causes.items():
        if share > 0:
            yield _segment(IDLE, f"idle: {cause.value}", share, cause)


def _segment(use: str, label: str, share: float, cause: IdleCause | None = None) -> DeviceSegment:
    return DeviceSegment(use, label, share, text.percent(share), cause)


def _caption(report: Report) -> str:
    ranks = sum(rank.device is not None for rank in report.ranks)
    over = f", over {text.count(ranks, 'rank')}" if ranks > 1 else ""
    return (
        f"The traced window{over}, every instant once: compute before communication before copies before idle, "
        "so that only exposed time counts for the latter."
    )


def _kernel(found: KernelClass) -> KernelRow:
    return KernelRow(
        name=found.name,
        share=found.share,
        percent=text.percent(found.share),
        time=text.duration(found.seconds),
        count=text.count(found.count),
        mean=text.duration(found.mean_us / 1e6),
    )


def _notes(report: Report) -> Iterator[str]:
    use, queue = report.matrix_use, report.launch_queue
    if use is not None and use.matrix_unit_share is not None:
        yield f"Matrix multiplication on tensor or matrix cores: {text.percent(use.matrix_unit_share)} of its time."
    if use is not None and use.precision_shares:
        parts = sorted(use.precision_shares.items(), key=lambda item: -item[1])
        yield "Precision: " + ", ".join(f"{name} {text.percent(share)}" for name, share in parts) + "."
    if queue is not None:
        yield (
            f"From launch to start a kernel takes {text.duration(queue.delay_median_us / 1e6)} in the median, "
            f"with {queue.mean_depth:,.1f} queued on average: a long queue means that the host runs ahead."
        )


def _steps(steps: Sequence[DeviceStep]) -> Iterator[DeviceSteps]:
    for rank, group in groupby(
        sorted(steps, key=lambda step: (step.rank, step.number)), lambda step: step.rank
    ):
        rows = list(group)
        if len(rows) >= FEW_STEPS:
            yield DeviceSteps(rank, tuple(row.number for row in rows), tuple(_by_segment(rows)))


def _by_segment(rows: Sequence[DeviceStep]) -> Iterator[tuple[DeviceSegment, tuple[float, ...]]]:
    """Each segment that any of the steps has, in one order for all of them."""
    found = [{segment.label: segment for segment in device_bar(row.device).segments} for row in rows]
    for segment in _in_order(segments.values() for segments in found):
        parts = (segments.get(segment.label) for segments in found)
        times = [
            (part.share if part else 0.0) * row.seconds * 1e3 for part, row in zip(parts, rows, strict=True)
        ]
        if any(times):
            yield segment, tuple(times)


def _in_order(found: Iterable[Iterable[DeviceSegment]]) -> list[DeviceSegment]:
    """Every segment once: busy uses first, causes of idling as the vocabulary has them."""
    every = {segment.label: segment for segments in found for segment in segments}
    uses, causes = (COMPUTE, COMMUNICATION, COPY, IDLE), (None, *IdleCause)
    return sorted(every.values(), key=lambda one: (uses.index(one.use), causes.index(one.cause)))

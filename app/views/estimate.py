"""A run sampled from outside: shares with their intervals, from sampled stacks. It knows no milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

from ...profiler.diagnosis.finding import short_path
from ...profiler.report import EstimatedLine, EstimatedShare, EstimatedWorker, Report
from ...profiler.vocabulary import Stage
from . import format as text

MAX_LINES = 20


@dataclass(frozen=True)
class ShareView:
    """The estimated share of a stage, with its 95 % interval."""

    stage: Stage
    share: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class EstimateView:
    """All that is shown of an estimate; ``lines`` and ``workers`` are tables."""

    caption: str
    shares: tuple[ShareView, ...]
    lines: tuple[dict[str, str], ...]
    workers: tuple[dict[str, str], ...]


def estimate_view(report: Report) -> EstimateView | None:
    """The estimate of a report; None where the run was recorded or traced instead."""
    found = report.estimate
    if found is None:
        return None
    return EstimateView(
        caption=(
            f"Estimated from {text.count(found.samples, 'sampled stack')} over {text.duration(found.seconds)}, "
            "sampled from outside; whiskers are 95 % intervals. Step times cannot be known this way."
        ),
        shares=tuple(_share(one) for one in sorted(found.stages, key=lambda one: -one.share)),
        lines=tuple(_line(line) for line in found.lines[:MAX_LINES]),
        workers=tuple(_worker(worker) for worker in found.workers),
    )


def _share(one: EstimatedShare) -> ShareView:
    interval = f"{text.percent(one.low)} to {text.percent(one.high)}"
    return ShareView(one.name, one.share, one.low, one.high, f"≈ {text.percent(one.share)} ({interval})")


def _line(line: EstimatedLine) -> dict[str, str]:
    return {
        "line": f"{short_path(line.file)}:{line.line}",
        "function": line.function,
        "stage": line.stage.label,
        "share": f"≈ {text.percent(line.share)}",
        "seen in": text.count(line.samples, "sample"),
    }


def _worker(worker: EstimatedWorker) -> dict[str, str]:
    return {
        "process": str(worker.pid),
        "making a batch": f"≈ {text.percent(worker.busy_share)}",
        "computing": "n/a" if worker.cpu_share is None else text.percent(worker.cpu_share),
        "seen in": text.count(worker.samples, "sample"),
    }

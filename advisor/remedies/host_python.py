"""Against Python code between the stages: do it less often, elsewhere, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from ...profiler.vocabulary import Kind
from ..proposal import Case, Declined, Effort, Fit, Proposal

#: Every tenth step is often enough for metrics; every fiftieth for logs, as in Lightning's ``log_every_n_steps``.
INTERVAL, LOG_INTERVAL = 10, 50
#: Nothing that makes the model faster touches Python that runs beside it.
COMPLETE = frozenset({"python-between-stages", "metric-on-cpu"})
#: Libraries that compute metrics on the CPU, by their folder's name in a path.
_CPU_METRICS = ("sklearn", "scipy", "pandas", "numpy", "nltk", "pycocotools")


def propose(case: Case) -> Iterator[Proposal | Declined]:
    """Work on the lines that were seen; metrics stay on the device."""
    place = seen_at(case)
    interval = LOG_INTERVAL if case.finding.kind is Kind.LOGGING else INTERVAL
    yield Proposal(
        method="eval-and-log-frequency",
        how=f"run {place} every {interval} steps rather than in each: `if step % {interval} == 0:`",
        basis=f"the sampled time of these lines, kept in one step of {interval}",
        effort=Effort.LINES,
        estimate=case.remaining(1 / interval, 1 / interval, 0.5),
        fit=Fit.CAUSE,
    )
    if case.on_gpu and (case.cause == "metric-on-cpu" or _uses_cpu_metrics(case)):
        yield Proposal(
            method="avoid-host-sync",
            how=f"compute what {place} computes with torch operators on the device, and read it back when it is logged",
            basis="the sampled time of these lines, of which the device's own part stays",
            effort=Effort.LINES,
            estimate=case.remaining(0.05, 0.2, 0.8),
            fit=Fit.CAUSE,
        )
    yield from _no_use(case)


def _no_use(case: Case) -> Iterator[Declined]:
    yield Declined(
        "dataloader-num-workers", "the time goes to Python between the stages, not to waiting for data"
    )
    yield Declined(
        "torch-compile-default", "compiling the model does not touch Python that runs between the stages"
    )


def seen_at(case: Case) -> str:
    """The line that a finding was seen in, for a sentence."""
    return case.line or "the lines between the stages"


def _uses_cpu_metrics(case: Case) -> bool:
    lines = [line.file for line in case.report.host_lines]
    return any(f"{library}/" in file.replace("\\", "/") for file in lines for library in _CPU_METRICS)

"""The training thread waits for the next batch."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Kind, Stage
from .finding import percent, place, stage_finding


def find(observation: Observation) -> Finding | None:
    """Waiting for data, with the line where a loader without workers spends it."""
    share = observation.share(Stage.DATA_WAIT)
    lines = observation.lines_of(Stage.DATA_WAIT)
    workers = observation.setup.get("loader.num_workers")
    wait = (
        f"waits {observation.seconds(Stage.DATA_WAIT) * 1e3:.1f} ms of every step ({percent(share)}) for data"
    )
    if workers == 0:
        cause = "main-process-loading"
        summary = f"The training loop {wait}, which it loads itself: no worker process does{place(lines)}."
    else:
        cause = "too-few-workers" if workers is not None else None
        summary = f"The training loop {wait}" + (f" from {workers} worker processes." if workers else ".")
    evidence = () if workers is None else (Fact(name="loader.num_workers", value=workers, basis="setup"),)
    return stage_finding(
        observation,
        Kind.DATA_LOADING,
        Stage.DATA_WAIT,
        cause=cause,
        summary=summary,
        where=lines if workers == 0 else (),
        evidence=evidence,
    )

"""Compares stored runs, for terminal and dashboard."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ..advisor.compare.runs import Comparison, compare
from ..profiler.store import find_run
from .stored import StoredRun, open_run


def compare_stored(names: Sequence[str], runs_dir: Path) -> list[Comparison]:
    """Compare every run with the first.

    Raises:
        InputError: a run does not exist or is damaged.
    """
    first, *others = (open_run(find_run(name, runs_dir)) for name in names)
    return [compare_opened(first, other) for other in others]


def compare_opened(before: StoredRun, after: StoredRun) -> Comparison:
    """Compare two runs that are open already."""
    return compare(before.report, after.report, timed_s(before), timed_s(after))


def timed_s(run: StoredRun) -> list[float]:
    """Seconds of each timed step; of a trace, of each step of its first rank."""
    if run.steps is None:
        return [step.seconds for step in run.report.device_steps if step.rank == run.report.ranks[0].rank]
    timed = run.steps[run.steps["phase"] == "timed"]
    return [float(seconds) for seconds in timed["duration_s"]]


def document(comparisons: Sequence[Comparison]) -> str:
    """The JSON text of comparisons: the runs by id, the rest as it is."""
    return json.dumps(
        [
            {
                "before": one.before.run.id,
                "after": one.after.run.id,
                "outcome": one.outcome.value,
                "ratio": None if one.ratio is None else asdict(one.ratio),
                "reason": one.reason,
                "stages": [asdict(stage) | {"change_s": stage.change_s} for stage in one.stages],
                "settings": [asdict(setting) for setting in one.settings],
                "breaches": [asdict(breach) for breach in one.breaches],
            }
            for one in comparisons
        ],
        indent=1,
        default=str,
    )

"""The list of runs: one row each, whatever state its folder is in. Reads ``run.json`` and the report only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ...profiler.errors import InputError
from ...profiler.report import Finding, Report
from ...profiler.store import Manifest, RunFolder
from ...profiler.vocabulary import RunStatus, Severity
from . import format as text

UNREADABLE = "unreadable"
#: Modules that start the script which they are given.
_LAUNCHERS = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")
_NOT_ANALYSED = {
    RunStatus.RECORDING: "Being recorded now: open it to follow it.",
    RunStatus.LOST: "Its recorder was killed before it could finish: open it to see what was recorded.",
}


@dataclass(frozen=True)
class RunRow:
    """One run as the list shows it.

    Attributes:
        id: the name of its folder.
        status: a word of `RunStatus`, or ``unreadable``.
        script, started: None where ``run.json`` cannot be read.
        step_time: the median step; None where no step was timed.
        step_ms: the same as a number to sort by.
        worst: the family of the headline, ``none`` for a healthy run; None where nothing is known.
        readable: False where opening it cannot show a diagnosis.
    """

    id: str
    script: str | None
    status: str
    verdict: str
    step_time: str | None
    step_ms: float | None
    worst: str | None
    started: str | None
    readable: bool = True


def load_row(run: RunFolder) -> RunRow:
    """The row of a run folder; a folder that cannot be read gives a row that says why."""
    try:
        manifest = run.manifest
    except InputError as error:
        return unreadable_row(run.path.name, str(error))
    try:
        return run_row(manifest, run.report(), name=run.path.name)
    except InputError as error:
        stored = (run.path / "report.json").exists()
        return _row_without_report(manifest, run.path.name, str(error) if stored else None)


def run_row(manifest: Manifest, report: Report, *, name: str) -> RunRow:
    """The row of a run that was analysed."""
    step = report.step_time
    return RunRow(
        id=name,
        script=script_name(manifest.command),
        status=str(manifest.status),
        verdict=report.verdict,
        step_time=text.duration(step.p50_s) if step is not None else None,
        step_ms=step.p50_s * 1e3 if step is not None else None,
        worst=_worst(report),
        started=text.moment(manifest.started),
    )


def unreadable_row(name: str, reason: str) -> RunRow:
    """The row of a folder whose ``run.json`` is damaged, missing or too new."""
    return RunRow(name, None, UNREADABLE, reason, None, None, None, None, readable=False)


def matching(rows: Iterable[RunRow], *, words: str, families: Sequence[str]) -> list[RunRow]:
    """The rows that hold every word in their texts and wait for one of the families (or any)."""
    wanted = words.lower().split()
    return [
        row
        for row in rows
        if (not families or row.worst in families) and all(word in _searched(row) for word in wanted)
    ]


def described(row: RunRow) -> str:
    """A run in a box of choices: script, median step, and its id."""
    return " · ".join(filter(None, (row.script, row.step_time or row.status, row.id)))


def families(rows: Iterable[RunRow]) -> list[str]:
    """What the runs wait for, each once, in alphabetical order."""
    return sorted({row.worst for row in rows if row.worst})


def script_name(command: Sequence[str]) -> str:
    """What a command trains with: the script or module, without interpreter and launcher; else the trace read."""
    if list(command[:2]) == ["trainrx", "import"] and len(command) > 2:
        return PurePath(command[2].replace("\\", "/")).name
    for position, word in enumerate(command):
        module = command[position + 1] if word == "-m" and position + 1 < len(command) else None
        if module is not None and module not in _LAUNCHERS:
            return module
        if word.endswith(".py"):
            return PurePath(word.replace("\\", "/")).name
    return PurePath(command[0]).name if command else ""


def headline(report: Report) -> Finding | None:
    """The finding that the verdict speaks of; None where nothing dominates."""
    return next((finding for finding in report.findings if finding.severity is not Severity.NOTE), None)


def _row_without_report(manifest: Manifest, name: str, damage: str | None) -> RunRow:
    verdict = damage or _NOT_ANALYSED.get(manifest.status, "Not analysed yet: open it to analyse it.")
    return RunRow(
        id=name,
        script=script_name(manifest.command),
        status=str(manifest.status),
        verdict=verdict,
        step_time=None,
        step_ms=None,
        worst=None,
        started=text.moment(manifest.started),
    )


def _worst(report: Report) -> str | None:
    if report.cannot_tell or (report.step_time is None and report.estimate is None):
        return None
    found = headline(report)
    return str(found.family) if found is not None else "none"


def _searched(row: RunRow) -> str:
    return " ".join(
        filter(None, (row.id, row.script, row.status, row.verdict, row.worst, row.started))
    ).lower()

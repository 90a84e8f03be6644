"""Opens a stored run: as it was kept, or analysed anew where its recording went on since. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..advisor.trial.store import stored_trials
from ..profiler.errors import InputError
from ..profiler.report import Report
from ..profiler.store import MANIFEST_FILE, REPORT_FILE, STEPS_FILE, Manifest, RunFolder, list_runs
from ..profiler.vocabulary import RunStatus
from .analysing import advised

if TYPE_CHECKING:
    import pandas as pd

#: What damaged raw records make the analysis stumble over.
_DAMAGE = (ValueError, LookupError, TypeError, ArithmeticError, OSError)
_MAX_FILES_WATCHED = 1024

Fingerprint = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A run with its analysis.

    Attributes:
        steps: at least one, columns as in `RunFolder.steps`; None where there is none.
        notes: what of it could not be read, one sentence each.
    """

    manifest: Manifest
    report: Report
    steps: pd.DataFrame | None
    notes: tuple[str, ...] = ()

    @property
    def recording(self) -> bool:
        """The run is still going on."""
        return self.manifest.status is RunStatus.RECORDING


def named_run(name: str, runs_dir: Path) -> RunFolder:
    """The run with exactly this folder name: no ``name``, whatever it holds, leads outside ``runs_dir``.

    Raises:
        InputError: there is none.
    """
    found = next((run for run in list_runs(runs_dir) if run.path.name == name), None)
    if found is None:
        raise InputError(
            f"there is no run called {name[:120]!r} in {runs_dir}: choose one from the list of runs"
        )
    return found


def open_run(run: RunFolder) -> StoredRun:
    """A finished run as it was analysed; one that goes on, or was never analysed, is analysed now.

    Raises:
        InputError: ``run.json`` cannot be read, or neither the report nor the recording can.
    """
    manifest = run.manifest
    if _is_recorded(manifest) and not _is_kept(run, manifest):
        return _analysed(run, manifest)
    try:
        report = run.report()
    except InputError as error:
        if not _is_recorded(manifest):
            raise
        return _analysed(run, manifest, f"{error}. What is shown was analysed anew from the recording.")
    try:
        steps = run.steps()
        return StoredRun(manifest, report, steps if steps is not None and len(steps) else None)
    except InputError as error:
        return StoredRun(manifest, report, None, (str(error),))


def open_with_trials(run: RunFolder) -> StoredRun:
    """The run as `open_run` has it, with the trials that lie in its folder, should its report not have them.

    Raises:
        InputError: as `open_run`.
    """
    return with_trials(open_run(run), run)


def with_trials(stored: StoredRun, run: RunFolder) -> StoredRun:
    """An opened run with the trials that lie in its folder now."""
    trials = stored_trials(run)
    return replace(stored, report=stored.report.model_copy(update={"trials": trials})) if trials else stored


def current_report(run: RunFolder) -> Report:
    """The report as `open_with_trials` has it.

    Raises:
        InputError: as `open_run`.
    """
    return open_with_trials(run).report


def fingerprint(run: RunFolder, *, growing: bool = False) -> Fingerprint:
    """Name, time (ns) and size (bytes) of the files that a view rests on: it changes when they do.

    With ``growing``, what the ranks are still writing counts too.
    """
    return tuple(_stamps(run.path, "ranks/*/*" if growing else ""))


def status_of(run: RunFolder) -> RunStatus | None:
    """How the run stands, a recorder that is gone included; None where it cannot be read."""
    try:
        return run.manifest.status
    except InputError:
        return None


def _is_kept(run: RunFolder, manifest: Manifest) -> bool:
    """The run is over and its report was stored after its end."""
    over = manifest.status not in (RunStatus.RECORDING, RunStatus.LOST)
    return over and (run.path / REPORT_FILE).is_file()


def _is_recorded(manifest: Manifest) -> bool:
    """It has a recording that can be analysed: an imported or attached run has its report only."""
    return not manifest.sources and manifest.status is not RunStatus.ATTACHED


def _analysed(run: RunFolder, manifest: Manifest, *notes: str) -> StoredRun:
    import pandas as pd

    try:
        analysis = advised(run)
    except _DAMAGE as error:
        raise InputError(
            f"the recording in {run.path} is damaged ({type(error).__name__}: {error}): record the run again"
        ) from error
    steps = pd.DataFrame(analysis.steps)
    return StoredRun(manifest, analysis.report, steps if len(steps) else None, notes)


def _stamps(path: Path, more: str) -> Iterator[tuple[str, int, int]]:
    growing = sorted(path.glob(more))[:_MAX_FILES_WATCHED] if more else []
    for file in (path / MANIFEST_FILE, path / REPORT_FILE, path / STEPS_FILE, *growing):
        if (stamp := _stamp(file)) is not None:
            yield (str(file.relative_to(path)), *stamp)


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size

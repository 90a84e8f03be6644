"""Reads runs for the pages and keeps what was read, for as long as its files stay as they are."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from ....profiler.errors import InputError
from ....profiler.store import RunFolder, list_runs
from ....profiler.vocabulary import RunStatus
from ...bundled import is_sample, sample_run, sample_runs
from ...commands.options import DEFAULT_RUNS
from ...report.contents import contents
from ...report.file import as_bytes
from ...report.html import html
from ...stored import Fingerprint, StoredRun, fingerprint, named_run, open_run, open_with_trials, status_of
from ...views.details import Details, details
from ...views.diagnosis import DiagnosisView, diagnosis_view
from ...views.run_list import RunRow, load_row
from ...views.steps import StepSeries, step_series

#: A run that goes on is analysed again only after this multiple of what its last analysis took.
REST_PER_ANALYSIS = 5.0


@dataclass(frozen=True)
class DiagnosisPage:
    """All that the diagnosis page shows and gives away.

    Attributes:
        details: the parts that only some runs have.
        series: None where there is no step table.
        steps_csv: the step table; None where there is none.
    """

    view: DiagnosisView
    details: Details
    series: StepSeries | None
    report_json: str
    steps_csv: str | None


@dataclass(frozen=True)
class _Followed:
    name: str
    files: Fingerprint
    page: DiagnosisPage
    rest_until: float

    def serves(self, name: str, files: Fingerprint) -> bool:
        """It is the same run, and it has not changed or was analysed only just now."""
        return self.name == name and (self.files == files or time.monotonic() < self.rest_until)


def runs_dir() -> Path:
    """The folder that holds the runs, as ``trainrx ui`` was told."""
    return Path(os.environ.get("TRAINRX_RUNS") or DEFAULT_RUNS)


def run_rows() -> list[RunRow]:
    """The rows of all runs, newest first; only what changed since the last call is read again."""
    return _rows(list_runs(runs_dir()))


def sample_rows() -> list[RunRow]:
    """The rows of the runs that come with trainrx, which are to be looked at only."""
    return _rows(sample_runs())


def run_called(name: str) -> RunFolder:
    """The run with exactly this name: the reader's own, else one that comes with trainrx.

    Raises:
        InputError: there is none.
    """
    try:
        return named_run(name, runs_dir())
    except InputError:
        if is_sample(name):
            return sample_run(name)
        raise


def finished(run: RunFolder) -> DiagnosisPage:
    """The page of a run that does not go on.

    Raises:
        InputError: it cannot be read.
    """
    return _finished(run.path, fingerprint(run), status_of(run))


def followed(run: RunFolder) -> DiagnosisPage:
    """The page of a run that goes on: the last one again, unless its files changed since.

    Raises:
        InputError: it cannot be read.
    """
    last: _Followed | None = st.session_state.get("followed")
    files = fingerprint(run, growing=True)
    if last is not None and last.serves(run.path.name, files):
        return last.page
    begun = time.monotonic()
    page = _load(run)
    ended = time.monotonic()
    st.session_state["followed"] = _Followed(
        run.path.name, files, page, ended + REST_PER_ANALYSIS * (ended - begun)
    )
    return page


def report_file(run: RunFolder) -> bytes:
    """The run's report as one HTML file, as the run is now.

    Raises:
        InputError: it cannot be read.
    """
    return as_bytes(html(contents(open_with_trials(run))))


def stored_run(run: RunFolder) -> StoredRun:
    """A run with its report and steps, not to be changed; one that goes on is analysed as it is now.

    Raises:
        InputError: it cannot be read.
    """
    status = status_of(run)
    return open_run(run) if status is RunStatus.RECORDING else _stored(run.path, fingerprint(run), status)


def _rows(runs: list[RunFolder]) -> list[RunRow]:
    return [_row(run.path, fingerprint(run), status_of(run)) for run in runs]


@st.cache_resource(max_entries=16, show_spinner="Reading the run…")
def _stored(path: Path, files: Fingerprint, status: RunStatus | None) -> StoredRun:
    return open_run(RunFolder(path))


@st.cache_data(max_entries=5000, show_spinner=False)
def _row(path: Path, files: Fingerprint, status: RunStatus | None) -> RunRow:
    return load_row(RunFolder(path))


@st.cache_data(max_entries=16, show_spinner="Analysing the run…")
def _finished(path: Path, files: Fingerprint, status: RunStatus | None) -> DiagnosisPage:
    return _load(RunFolder(path))


def _load(run: RunFolder) -> DiagnosisPage:
    stored = open_run(run)
    return DiagnosisPage(
        view=diagnosis_view(stored.report, stored.manifest, warnings=stored.notes),
        details=details(stored.report),
        series=step_series(stored.steps) if stored.steps is not None else None,
        report_json=stored.report.to_json(),
        steps_csv=stored.steps.to_csv(index=False) if stored.steps is not None else None,
    )

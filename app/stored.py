"""The report of a stored run: as it was kept, or analysed anew where the recording has gone on since."""

from __future__ import annotations

from ..advisor.prescribe import prescribe
from ..profiler.analysis import analyse
from ..profiler.report import Report
from ..profiler.store import REPORT_FILE, RunFolder
from ..profiler.vocabulary import RunStatus


def current_report(run: RunFolder) -> Report:
    """The stored report if there is one and the run is over; else what its recording tells now.

    Raises:
        InputError: the run is damaged or from a newer trainrx.
    """
    over = run.manifest.status not in (RunStatus.RECORDING, RunStatus.LOST)
    if over and (run.path / REPORT_FILE).is_file():
        return run.report()
    return prescribe(analyse(run).report)

"""The one way from a recorded run to the report that is shown: diagnosis, what-ifs, prescriptions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..advisor.prescribe import prescribe
from ..advisor.replayed import with_what_ifs
from ..profiler.analysis import Analysis, analyse
from ..profiler.report import Report
from ..profiler.store import RunFolder


def advised(run: RunFolder) -> Analysis:
    """Analyse what a run has recorded so far, with what-ifs and prescriptions; writes nothing.

    Raises:
        InputError: ``run.json`` is missing, damaged or too new.
    """
    analysis = analyse(run)
    return replace(analysis, report=with_advice(analysis.report, run.path))


def with_advice(report: Report, folder: Path) -> Report:
    """A diagnosed report with what-ifs from the traces in its folder, and prescriptions that rest on both."""
    return prescribe(with_what_ifs(report, folder))


def keep(run: RunFolder, analysis: Analysis) -> None:
    """Store an analysis in the run's folder.

    Raises:
        UsageError: the folder cannot be written.
    """
    run.write_report(analysis.report)
    run.write_steps(analysis.steps)


def store_analysis(run: RunFolder) -> Report:
    """Analyse a run, prescribe, and keep the result in its folder.

    Raises:
        InputError: as `advised`.
        UsageError: as `keep`.
    """
    analysis = advised(run)
    keep(run, analysis)
    return analysis.report

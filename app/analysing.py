"""The one way from a recorded run to the report that is shown: diagnosis, what-ifs, prescriptions."""

from __future__ import annotations

from dataclasses import replace

from ..profiler.analysis import Analysis, analyse
from ..profiler.report import Report
from ..profiler.store import RunFolder
from .advising import with_advice


def advised(run: RunFolder) -> Analysis:
    """Analyse what a run has recorded so far, with what-ifs and prescriptions; writes nothing.

    Raises:
        InputError: ``run.json`` is missing, damaged or too new.
    """
    analysis = analyse(run)
    return replace(analysis, report=with_advice(analysis.report, run.path))


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

"""Adds to a diagnosed report what to do: the one way to it for recorded and imported runs."""

from __future__ import annotations

from pathlib import Path

from ..advisor.prescribe import prescribe
from ..advisor.replayed import with_what_ifs
from ..profiler.report import Report


def with_advice(report: Report, folder: Path) -> Report:
    """The report with what-ifs from the traces in its folder, and prescriptions that rest on both."""
    return prescribe(with_what_ifs(report, folder))

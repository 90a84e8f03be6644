"""Compares what trainrx said of a scenario with what is true of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from trainrx.profiler.report import Finding, Prescription, Report
from trainrx.profiler.vocabulary import Kind, Severity

from .truth import Scenario, Truth

FIRST_PRESCRIPTIONS = 3
HEALTHY = "healthy"


@dataclass(frozen=True)
class Score:
    """One row of the scorecard; None is "does not apply" or "not measured".

    Attributes:
        name, expected: of the scenario.
        found: kind of the headline, or ``healthy``.
        cause, place: what the headline says.
        remedy: position of the true change among the prescriptions, from 1; 0 where it is missing.
        first: the first prescription.
        predicted, bound: speed-up of the true change as predicted.
        measured: speed-up of ``fixed.py`` over ``slow.py`` in each pair.
    """

    name: str
    expected: str
    found: str | None = None
    share: float | None = None
    step_ms: float | None = None
    headline_ok: bool | None = None
    cause: str | None = None
    cause_ok: bool | None = None
    place: str | None = None
    place_ok: bool | None = None
    first: str | None = None
    remedy: int | None = None
    first_is_wrong: bool = False
    predicted: float | None = None
    bound: float | None = None
    measured: list[float] = field(default_factory=list[float])
    skipped: str | None = None
    failed: str | None = None

    @property
    def speedup(self) -> float | None:
        """Median measured speed-up."""
        return median(self.measured) if self.measured else None

    def to_json(self) -> dict[str, Any]:
        """For storing."""
        return asdict(self)


def headline(report: Report) -> Finding | None:
    """The first finding above a note."""
    return next((finding for finding in report.findings if finding.severity is not Severity.NOTE), None)


def _said(truth: Truth, report: Report) -> Finding | None:
    """The headline; where none is right, since the model fills the step, the note that says so."""
    first = headline(report)
    if first is not None or truth.kind is not Kind.COMPUTE:
        return first
    return next((finding for finding in report.findings if finding.kind is Kind.COMPUTE), None)


def score(scenario: Scenario, report: Report, measured: list[float]) -> Score:
    """Judge one report of ``slow.py``."""
    truth, finding = scenario.truth, _said(scenario.truth, report)
    found = finding.kind.value if finding is not None else HEALTHY
    position, prescription = _remedy(truth, report.prescriptions)
    first = report.prescriptions[0].method if report.prescriptions else None
    prediction = prescription.predicted_speedup if prescription is not None else None
    return Score(
        name=scenario.name,
        expected=truth.expected,
        found=found,
        share=finding.share if finding is not None else None,
        step_ms=report.step_time.p50_s * 1e3 if report.step_time is not None else None,
        headline_ok=found == truth.expected and report.step_time is not None,
        cause=finding.cause if finding is not None else None,
        cause_ok=_cause_ok(truth, finding),
        place=_place(finding),
        place_ok=_place_ok(scenario, finding),
        first=first,
        remedy=position if truth.remedies else None,
        first_is_wrong=first in truth.wrong_first,
        predicted=prediction.mid if prediction is not None else None,
        bound=prediction.bound if prediction is not None else None,
        measured=measured,
    )


def speedup(slow: Report, fixed: Report, truth: Truth) -> float | None:
    """How much less time a sample takes in ``fixed``; None where either has no step."""
    if slow.step_time is None or fixed.step_time is None:
        return None
    return slow.step_time.mean_s / fixed.step_time.mean_s * truth.samples_ratio


def _cause_ok(truth: Truth, finding: Finding | None) -> bool | None:
    if not truth.causes:
        return None
    return finding is not None and finding.kind is truth.kind and finding.cause in truth.causes


def _place_ok(scenario: Scenario, finding: Finding | None) -> bool | None:
    truth = scenario.truth
    if not truth.lines and truth.rank is None:
        return None
    if finding is None or not finding.where:
        return False
    where = finding.where[0]
    if truth.rank is not None and where.rank != truth.rank:
        return False
    if not truth.lines:
        return True
    is_script = where.file is not None and Path(where.file).resolve() == scenario.slow.resolve()
    return is_script and where.line in scenario.line_numbers()


def _place(finding: Finding | None) -> str | None:
    if finding is None or not finding.where:
        return None
    where = finding.where[0]
    if where.rank is not None:
        return f"rank {where.rank}"
    return f"{Path(where.file).name}:{where.line}" if where.file is not None else str(where)


def _remedy(truth: Truth, prescriptions: list[Prescription]) -> tuple[int, Prescription | None]:
    """Position of the first true change, 0 for none; and the change that ``fixed.py`` makes, which predicts its speed."""
    methods = [prescription.method for prescription in prescriptions]
    positions = [methods.index(method) + 1 for method in truth.remedies if method in methods]
    made = truth.remedies[0] if truth.remedies else None
    return min(positions, default=0), next((p for p in prescriptions if p.method == made), None)


def kinds() -> list[str]:
    """The words that a headline can be, in the order of tables."""
    return [*(kind.value for kind in Kind), HEALTHY]

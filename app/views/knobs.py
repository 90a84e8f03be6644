"""The changes that can be tried on a run from the browser: what is prescribed first, then all that apply."""

from __future__ import annotations

from dataclasses import dataclass

from ...advisor.trial.knob_choice import find_knob, knob_names
from ...profiler.report import Report

PRESCRIBED, OTHER = "prescribed", "possible"


@dataclass(frozen=True)
class KnobOption:
    """One knob: its name, a value to begin with, what it changes, and what that does to learning."""

    name: str
    value: str
    summary: str
    equivalence: str
    why: str

    @property
    def label(self) -> str:
        """Name and what it changes."""
        return f"{self.name}: {self.summary} ({self.why}, {self.equivalence})"


def knob_options(report: Report) -> list[KnobOption]:
    """The knobs that apply to a run, prescribed ones first in the order of the advice."""
    prescribed = _prescribed(report)
    applying = [name for name in knob_names() if find_knob(name).applies(report.setup) is None]
    ordered = [*prescribed, *(name for name in applying if name not in prescribed)]
    return [_option(name, prescribed.get(name)) for name in ordered]


def _prescribed(report: Report) -> dict[str, str]:
    """Value by knob, of prescriptions with a single one."""
    found: dict[str, str] = {}
    for prescription in report.prescriptions:
        name, equals, value = (prescription.knob or "").partition("=")
        if equals and " " not in value and name in knob_names():
            found.setdefault(name, value)
    return found


def _option(name: str, value: str | None) -> KnobOption:
    knob = find_knob(name)
    return KnobOption(
        name=name,
        value=knob.EXAMPLE if value is None else value,
        summary=knob.SUMMARY,
        equivalence=knob.EQUIVALENCE,
        why=OTHER if value is None else PRESCRIBED,
    )

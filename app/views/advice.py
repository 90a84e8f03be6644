"""One run's advice as people read it: prescriptions in order, where to look further, and what was ruled out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...profiler.report import CellAdvice, CellsLeft, Evidence, Prediction, Prescription, Report, Trial
from ...profiler.vocabulary import RunStatus
from . import format as text

COMPONENTS = ("system", "function", "data", "optimization")
#: None stands for methods without effect on what is learned.
ACTIONS: tuple[str | None, ...] = (None, "remove", "restrict", "reorder", "replace", "retrofit")
_PROSE = re.compile(r"[A-Za-z]+ [a-z]+ [a-z]+")
NOT_PREDICTED = "n/a: trainrx has no model for this change"


@dataclass(frozen=True)
class Gain:
    """A predicted speed-up beside what trials measured of it; above 1 is faster.

    Attributes:
        measured: median, low and high of the newest trial; None where none measured it.
    """

    label: str
    low: float
    mid: float
    high: float
    bound: float
    words: str
    measured: tuple[float, float, float] | None
    measured_words: str


@dataclass(frozen=True)
class EvidenceRow:
    """A published or measured effect; ``negative`` says that it did not pay there."""

    text: str
    grade: str
    negative: bool


@dataclass(frozen=True)
class PrescriptionView:
    """One prescription, ready to be shown.

    Attributes:
        gain: None where nothing predicts it; ``predicted`` has the words for either.
        evidence: negatives first.
        measured: what trials of it measured, one sentence each.
    """

    number: int
    title: str
    method: str
    knob: str | None
    finding: str
    equivalence: str
    effort: str
    risk: str
    basis: str
    how: str
    verify: str
    predicted: str
    gain: Gain | None
    evidence: tuple[EvidenceRow, ...]
    asks: tuple[str, ...]
    next_bottleneck: str | None
    measured: tuple[str, ...]

    @property
    def heading(self) -> str:
        """Number, name and prediction in one line."""
        return f"{self.number}. {self.title}, {self.predicted}"

    @property
    def how_is_code(self) -> bool:
        """``how`` is code to paste, and no sentence."""
        return _PROSE.match(self.how) is None

    @property
    def said(self) -> tuple[tuple[str, str], ...]:
        """What it promises, rests on, risks, and how to check it, each under its name."""
        rows = (
            ("speed-up", self.gain.words if self.gain else self.predicted),
            ("rests on", self.basis),
            *(("measured", sentence) for sentence in self.measured),
            ("risk", self.risk),
            ("check", self.verify),
            ("then", self.next_bottleneck or ""),
            *(("not known", question) for question in self.asks),
        )
        return tuple((name, words) for name, words in rows if words)


@dataclass(frozen=True)
class CellView:
    """A cell of the first taxonomy for a finding; ``avoid`` where its methods make the finding worse.

    ``methods_left`` counts those of its methods that are not named.
    """

    subcomponent: str
    methods: tuple[str, ...]
    avoid: bool
    reason: str
    methods_left: int = 0


@dataclass(frozen=True)
class CellMatrix:
    """The cells for one finding: ``rows[component][action]`` holds those that lie there, maybe none.

    ``left`` says how many more there are; empty where there are none.
    """

    finding: str
    rows: tuple[tuple[str, tuple[tuple[CellView, ...], ...]], ...]
    left: str = ""


@dataclass(frozen=True)
class AdviceView:
    """All of a run's advice.

    Attributes:
        can_try: trainrx recorded the run, so it can run its command again.
        nothing: why there is no prescription; empty where there is one.
        ruled_out: a table, ready to be shown.
    """

    id: str
    verdict: str
    can_try: bool
    nothing: str
    prescriptions: tuple[PrescriptionView, ...]
    cells: tuple[CellMatrix, ...]
    ruled_out: tuple[dict[str, str], ...]

    @property
    def findings(self) -> list[str]:
        """The findings that something is prescribed for, in order."""
        return list(dict.fromkeys(one.finding for one in self.prescriptions))

    @property
    def equivalences(self) -> list[str]:
        """What the prescriptions do to learning, each once, in order."""
        return list(dict.fromkeys(one.equivalence for one in self.prescriptions))


def advice_view(report: Report) -> AdviceView:
    """The advice of a report."""
    return AdviceView(
        id=report.run.id,
        verdict=report.verdict,
        can_try=can_try(report),
        nothing="" if report.prescriptions else _why_nothing(report),
        prescriptions=tuple(
            _prescription(number, found, report.trials)
            for number, found in enumerate(report.prescriptions, start=1)
        ),
        cells=tuple(_matrices(report.cells, report.cells_left)),
        ruled_out=tuple(
            {"method": one.title, "for": str(one.finding), "ruled out because": one.reason}
            for one in report.ruled_out
        ),
    )


def can_try(report: Report) -> bool:
    """Only a run that trainrx recorded here has a command to run again."""
    return report.run.source == "recorder" and report.run.status is not RunStatus.ATTACHED


def try_command(run: str, knob: str) -> str:
    """What to type to measure a change on a run."""
    return f"trainrx try {run} {knob}"


def wanted(
    prescriptions: Iterable[PrescriptionView], *, findings: Sequence[str], equivalences: Sequence[str]
) -> list[PrescriptionView]:
    """Those for one of the findings and of one of the equivalences; an empty choice means any."""
    return [
        one
        for one in prescriptions
        if (not findings or one.finding in findings) and (not equivalences or one.equivalence in equivalences)
    ]


def first_advice(report: Report) -> str | None:
    """What to try first, with its prediction, in one line; None where nothing is prescribed."""
    if not report.prescriptions:
        return None
    first = report.prescriptions[0]
    more = len(report.prescriptions) - 1
    rest = f"; {more:,} more" if more else ""
    return f"First to try: {first.title or first.method}, {predicted_words(first.predicted_speedup)}{rest}"


def predicted_words(found: Prediction | None) -> str:
    """A prediction in words."""
    if found is None:
        return NOT_PREDICTED
    return f"predicted {text.times(found.mid)} ({text.times(found.low)} to {text.times(found.high)})"


def trials_of(found: Prescription, trials: Iterable[Trial]) -> list[Trial]:
    """The trials that put exactly this prescription to the test."""
    return [trial for trial in trials if found.knob is not None and _knob(trial) == found.knob]


def _knob(trial: Trial) -> str:
    return " ".join(f"{name}={value}" for name, value in trial.knobs.items())


def _why_nothing(report: Report) -> str:
    if report.step_time is None and report.estimate is None:
        return f"Nothing can be prescribed: {report.step_time_reason or 'no step was timed'}."
    if not report.findings:
        return "Nothing is prescribed: no rule found enough time in one place to speak of."
    return "Nothing is prescribed: no known method relieves what was found on this setup."


def _prescription(number: int, found: Prescription, trials: Sequence[Trial]) -> PrescriptionView:
    own = trials_of(found, trials)
    return PrescriptionView(
        number=number,
        title=found.title or found.method,
        method=found.method,
        knob=found.knob,
        finding=str(found.finding),
        equivalence=found.equivalence,
        effort=found.effort,
        risk=found.risk,
        basis=found.basis,
        how=found.how,
        verify=found.verify,
        predicted=predicted_words(found.predicted_speedup),
        gain=_gain(number, found, own),
        evidence=tuple(_evidence(row) for row in sorted(found.evidence, key=lambda row: not row.negative)),
        asks=tuple(found.asks),
        next_bottleneck=found.next_bottleneck,
        measured=tuple(_measured(trial) for trial in own),
    )


def _gain(number: int, found: Prescription, trials: Sequence[Trial]) -> Gain | None:
    predicted = found.predicted_speedup
    if predicted is None:
        return None
    measured = next((trial.speedup for trial in reversed(trials) if trial.speedup is not None), None)
    return Gain(
        label=f"{number}. {found.title or found.method}",
        low=predicted.low,
        mid=predicted.mid,
        high=predicted.high,
        bound=predicted.bound,
        words=f"{predicted_words(predicted)}, bound {text.times(predicted.bound)}",
        measured=None if measured is None else (measured.median, measured.low, measured.high),
        measured_words="" if measured is None else (
            f"measured {text.times(measured.median)} ({text.times(measured.low)} to {text.times(measured.high)})"
        ),
    )  # fmt: skip


def _evidence(row: Evidence) -> EvidenceRow:
    return EvidenceRow(row.text, row.grade, row.negative)


def _measured(trial: Trial) -> str:
    if trial.speedup is None:
        return f"Trial {trial.id}: {trial.verdict}" + (f", {trial.reason}" if trial.reason else "")
    speed = trial.speedup
    return (
        f"Trial {trial.id}: {trial.verdict}, {text.times(speed.median)} ({text.times(speed.low)} to "
        f"{text.times(speed.high)}) over {text.count(trial.pairs, 'pair')}; losses {trial.loss_check}"
    )


def _matrices(cells: Iterable[CellAdvice], left: Sequence[CellsLeft]) -> Iterable[CellMatrix]:
    """One matrix per finding, in the order of the advice."""
    for finding, group in groupby(cells, key=lambda cell: cell.finding):
        found = list(group)
        rows = [(part, tuple(_cells(found, part, action) for action in ACTIONS)) for part in COMPONENTS]
        shown = tuple((part, row) for part, row in rows if any(row))
        yield CellMatrix(str(finding), shown, _left([one for one in left if one.finding == finding]))


def _left(left: Sequence[CellsLeft]) -> str:
    """How many cells are not shown, as one sentence."""
    if not left:
        return ""
    parts = (
        f"{one.cells:,} {'to avoid' if one.component is None else f'of {one.component}'}" for one in left
    )
    return f"And more cells: {', '.join(parts)}. The catalog has them all."


def _cells(found: Sequence[CellAdvice], component: str, action: str | None) -> tuple[CellView, ...]:
    return tuple(
        CellView(cell.subcomponent, tuple(cell.methods), cell.avoid, cell.reason, cell.methods_left)
        for cell in found
        if cell.component == component and cell.action == action
    )

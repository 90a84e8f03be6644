"""What a comparison says in words, and its parts as charts show them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...advisor.compare.runs import Comparison, Outcome, SettingChange, StageChange
from ...profiler.report import Report
from ...profiler.vocabulary import Stage
from ..comparing import compare_opened, timed_s
from ..stored import StoredRun
from . import format as text
from .device import DeviceBar, device_bar
from .diagnosis import Tone
from .format import times
from .run_list import script_name

FIRST, SECOND = "first", "second"


@dataclass(frozen=True)
class Side:
    """One of the two runs.

    Attributes:
        name: ``first`` or ``second``.
        step_time: the median step, or why there is none.
        steps_ms: of the timed steps; empty where they are not at hand.
        device: None beside ``device_reason``.
    """

    name: str
    id: str
    script: str
    verdict: str
    step_time: str
    steps_ms: tuple[float, ...]
    device: DeviceBar | None
    device_reason: str


@dataclass(frozen=True)
class StagePair:
    """A stage in both runs, in ms per step."""

    stage: Stage
    before_ms: float
    after_ms: float
    before: str
    after: str
    change: str


@dataclass(frozen=True)
class CompareView:
    """Two runs side by side.

    Attributes:
        headline: one sentence; no number where a serious rule is broken.
        better: the second run is faster, slower, or neither can be said.
        stages: largest change first.
        settings: a table, ready to be shown.
        breaches: rules that the comparison breaks; a serious one forbids the headline.
    """

    headline: str
    better: bool | None
    sides: tuple[Side, Side]
    stages: tuple[StagePair, ...]
    settings: tuple[dict[str, str], ...]
    serious: tuple[str, ...]
    breaches: tuple[str, ...]


def compare_view(before: StoredRun, after: StoredRun) -> CompareView:
    """The view of two runs."""
    comparison = compare_opened(before, after)
    return CompareView(
        headline=headline(comparison),
        better=_better(comparison),
        sides=(_side(FIRST, before), _side(SECOND, after)),
        stages=tuple(_pair(change) for change in comparison.stages),
        settings=tuple(_setting(change) for change in comparison.settings),
        serious=tuple(_broken(comparison, serious=True)),
        breaches=tuple(_broken(comparison, serious=False)),
    )


def headline_tone(view: CompareView) -> tuple[str, Tone]:
    """The outcome in a word or two, and how it reads at a glance."""
    if view.serious:
        return "no fair comparison", Tone.CONCERN
    match view.better:
        case True:
            return "faster", Tone.HEALTHY
        case False:
            return "slower", Tone.PROBLEM
        case None:
            return "no evidence", Tone.UNKNOWN


def _better(comparison: Comparison) -> bool | None:
    if any(breach.serious for breach in comparison.breaches):
        return None
    return {Outcome.FASTER: True, Outcome.SLOWER: False}.get(comparison.outcome)


def _broken(comparison: Comparison, *, serious: bool) -> Iterable[str]:
    return (f"{one.rule}: {one.detail}" for one in comparison.breaches if one.serious is serious)


def _side(name: str, run: StoredRun) -> Side:
    report = run.report
    return Side(
        name=name,
        id=report.run.id,
        script=script_name(run.manifest.command),
        verdict=report.verdict,
        step_time=_step_time(report),
        steps_ms=tuple(seconds * 1e3 for seconds in timed_s(run)),
        device=None if report.device is None else device_bar(report.device),
        device_reason="" if report.device is not None else text.unavailable(report.device_reason),
    )


def _step_time(report: Report) -> str:
    if report.step_time is None:
        return text.unavailable(report.step_time_reason or "no step was timed")
    step = report.step_time
    return f"{text.duration(step.p50_s)} over {text.count(step.n, 'step')}"


def _pair(change: StageChange) -> StagePair:
    delta_ms = change.change_s * 1e3
    return StagePair(
        stage=change.stage,
        before_ms=change.before_s * 1e3,
        after_ms=change.after_s * 1e3,
        before=text.milliseconds(change.before_s * 1e3),
        after=text.milliseconds(change.after_s * 1e3),
        change=f"{text.sign(delta_ms)}{text.milliseconds(abs(delta_ms))}",
    )


def _setting(change: SettingChange) -> dict[str, str]:
    return {"setting": change.name, FIRST: _told(change.before), SECOND: _told(change.after)}


def _told(value: object) -> str:
    return "not told" if value is None else text.setting(value)


def headline(comparison: Comparison) -> str:
    """One sentence: faster, slower, no evidence, or why there is no number."""
    serious = [breach for breach in comparison.breaches if breach.serious]
    if serious:
        return f"No headline number: these runs break the rule “{serious[0].rule}” ({serious[0].detail})."
    ratio = comparison.ratio
    if ratio is None:
        return f"These runs cannot be compared: {comparison.reason}."
    what = "sample" if ratio.per_sample else "step"
    match comparison.outcome:
        case Outcome.FASTER:
            return f"The second run is {times(ratio.median)} as fast per {what} ({_interval(ratio.low, ratio.high)})."
        case Outcome.SLOWER:
            interval = _interval(1 / ratio.high, 1 / ratio.low)
            return f"The second run takes a {what} {times(1 / ratio.median)} as long ({interval})."
        case _:
            interval = _interval(ratio.low, ratio.high)
            return f"No evidence of a difference: {times(ratio.median)} as fast ({interval})."


def _interval(low: float, high: float) -> str:
    return f"{times(low)} to {times(high)}" if low < high else "no interval"

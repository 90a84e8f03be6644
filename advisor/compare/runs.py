"""Compares two runs: step time, stages, device, setup. It never calls a difference a gain that the rules forbid.

Two runs recorded at different times are no interleaved trial: the interval covers the spread of the steps within the
runs, not what the machine did in between. `trainrx try` measures that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from ...profiler.report import DeviceShares, Report
from ...profiler.vocabulary import Stage
from .fairness import Breach, breaches

RESAMPLES = 2000
CONFIDENCE = 0.95
#: A ratio of medians closer to 1 than this is no difference worth a word, however narrow its interval.
PRACTICAL_RATIO = 1.03


class Outcome(str, Enum):
    """What a comparison of step times shows."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_EVIDENCE = "no evidence of a difference"
    UNAVAILABLE = "cannot be compared"


@dataclass(frozen=True)
class Ratio:
    """Step time of the first run over that of the second, above 1 where the second is faster; 95 % interval."""

    median: float
    low: float
    high: float
    per_sample: bool


@dataclass(frozen=True)
class StageChange:
    """Seconds per step of a stage in both runs; 0 where a run spent no time in it."""

    stage: Stage
    before_s: float
    after_s: float

    @property
    def change_s(self) -> float:
        """Seconds per step that the second run takes longer."""
        return self.after_s - self.before_s


@dataclass(frozen=True)
class SettingChange:
    """A setup fact that differs; None where a run did not tell."""

    name: str
    before: object
    after: object


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side.

    Attributes:
        ratio: None where the runs cannot be compared, beside ``reason``.
        stages: by size of the change, largest first.
        device: the device views, None where a run has none.
    """

    before: Report
    after: Report
    outcome: Outcome
    ratio: Ratio | None
    reason: str | None
    stages: tuple[StageChange, ...]
    settings: tuple[SettingChange, ...]
    breaches: tuple[Breach, ...]

    @property
    def device(self) -> tuple[DeviceShares | None, DeviceShares | None]:
        """The device views of both runs."""
        return self.before.device, self.after.device


def compare(
    before: Report,
    after: Report,
    before_steps_s: Sequence[float] = (),
    after_steps_s: Sequence[float] = (),
) -> Comparison:
    """Compare two reports; the timed steps' seconds give the interval, where they are at hand."""
    found = tuple(breaches(before, after))
    ratio, reason = _ratio(before, after, np.asarray(before_steps_s), np.asarray(after_steps_s))
    return Comparison(
        before=before,
        after=after,
        outcome=_outcome(ratio),
        ratio=ratio,
        reason=reason,
        stages=_stages(before, after),
        settings=_settings(before.setup, after.setup),
        breaches=found,
    )


def _ratio(
    before: Report, after: Report, before_s: NDArray[np.float64], after_s: NDArray[np.float64]
) -> tuple[Ratio | None, str | None]:
    if before.step_time is None or after.step_time is None:
        return None, "a run has no timed steps"
    samples = _batch(before), _batch(after)
    per_sample = samples[0] is not None and samples[1] is not None and samples[0] != samples[1]
    scale = samples[1] / samples[0] if per_sample and samples[0] and samples[1] else 1.0
    if len(before_s) < 2 or len(after_s) < 2:
        median = scale * before.step_time.p50_s / after.step_time.p50_s
        return Ratio(median, median, median, per_sample), "the steps of a run are not at hand: no interval"
    generator = np.random.default_rng(0)
    resampled = scale * _medians(before_s, generator) / _medians(after_s, generator)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    median = scale * float(np.median(before_s)) / float(np.median(after_s))
    return Ratio(median, float(low), float(high), per_sample), None


def _medians(steps_s: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.float64]:
    """Medians of bootstrap resamples, shape (RESAMPLES,)."""
    chosen = generator.integers(0, len(steps_s), size=(RESAMPLES, min(len(steps_s), 500)))
    return np.median(steps_s[chosen], axis=1)


def _batch(report: Report) -> float | None:
    value = report.setup.get("loader.batch_size")
    return float(value) if isinstance(value, int) and value > 0 else None


def _outcome(ratio: Ratio | None) -> Outcome:
    if ratio is None:
        return Outcome.UNAVAILABLE
    if ratio.low == ratio.high:
        return Outcome.NO_EVIDENCE
    if ratio.low > 1 and ratio.median >= PRACTICAL_RATIO:
        return Outcome.FASTER
    if ratio.high < 1 and ratio.median <= 1 / PRACTICAL_RATIO:
        return Outcome.SLOWER
    return Outcome.NO_EVIDENCE


def _stages(before: Report, after: Report) -> tuple[StageChange, ...]:
    first, second = ({one.name: one.seconds_per_step for one in report.stages} for report in (before, after))
    changes = [StageChange(stage, first.get(stage, 0.0), second.get(stage, 0.0)) for stage in Stage]
    shown = [change for change in changes if change.before_s or change.after_s]
    return tuple(sorted(shown, key=lambda change: -abs(change.change_s)))


def _settings(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[SettingChange, ...]:
    names = sorted({*before, *after})
    return tuple(
        SettingChange(name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    )

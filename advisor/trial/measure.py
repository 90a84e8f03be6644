"""Measures a change: interleaved pairs of runs on this machine, until the interval is narrow or the budget ends.

The order within pairs alternates, so that a machine that warms up or fills up favours no side. Nothing is printed here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from .arm import Arm, Script, run_arm
from .knob_choice import NOTHING, Choice
from .loss_guard import LossCheck, LossOutcome, check_losses
from .statistics import MIN_PAIRS, Interval, interval, is_settled, stalled_pairs, verdict
from .verdict import Verdict

#: A changed run that takes so many times as long as an unchanged one hangs; but compiling a model may take minutes.
HANG_RATIO = 8.0
LEAST_TIMEOUT_S = 600.0

RunArm = Callable[[Script, Choice], Arm]
OnArm = Callable[[str, Arm], None]


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes:
        pairs: at least so many.
        most_pairs: at most so many, narrow or not.
        budget_s: no pair is begun that would end after it; the first `pairs` are always measured.
    """

    pairs: int = MIN_PAIRS
    most_pairs: int = 10
    budget_s: float = 600.0


@dataclass(frozen=True)
class Pair:
    """Both sides, measured one after the other.

    Attributes:
        order: ``base first`` or ``changed first``.
    """

    base: Arm
    changed: Arm
    order: str

    def ratio(self, *, per_sample: bool) -> float:
        """Unchanged time over changed time, per step or per sample."""
        assert self.base.step_s is not None and self.changed.step_s is not None
        ratio = self.base.step_s / self.changed.step_s
        if per_sample:
            assert self.base.samples_per_batch and self.changed.samples_per_batch
            ratio *= self.changed.samples_per_batch / self.base.samples_per_batch
        return ratio


@dataclass(frozen=True)
class Measurement:
    """What a trial measured.

    Attributes:
        speedup: None where the pairs do not suffice.
        stalled: numbers of pairs that were left out.
        reason: the sentence behind a verdict that rests on no interval, and behind a budget that ended.
    """

    verdict: Verdict
    speedup: Interval | None
    losses: LossCheck
    pairs: tuple[Pair, ...] = ()
    stalled: tuple[int, ...] = ()
    reason: str = ""
    per_sample: bool = False
    arms: tuple[Arm, ...] = field(default=())

    @property
    def is_proven(self) -> bool:
        """Whether the change is faster and nothing is known against it."""
        return self.verdict is Verdict.BETTER and self.losses.allows_keeping


_NO_SAMPLES = "how many samples a batch has was not seen, and steps of unlike batches cannot be compared"
NOT_COMPARED = LossCheck(LossOutcome.NOT_COMPARABLE, "the change was not measured")


def measure(
    script: Script,
    change: Choice,
    *,
    runs_dir: Path,
    plan: Plan,
    kept: Choice = NOTHING,
    on_arm: OnArm = lambda side, arm: None,
    run: RunArm | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Measurement:
    """Measure ``kept`` against ``kept`` with ``change``.

    Args:
        script: what is run.
        change: what is tried.
        runs_dir: where the runs are kept.
        plan: how much is measured.
        kept: changes that both sides have.
        on_arm: told of each run that is over, with ``base`` or ``changed``.
        run: runs one side; for tests.
        clock: seconds; for tests.
    """
    session = _Session(script, kept, kept.with_(change), change, runs_dir, plan, on_arm, run, clock)
    return session.measure()


class _Session:
    def __init__(
        self,
        script: Script,
        base: Choice,
        changed: Choice,
        change: Choice,
        runs_dir: Path,
        plan: Plan,
        on_arm: OnArm,
        run: RunArm | None,
        clock: Callable[[], float],
    ) -> None:
        self._script = script
        self._sides = {"base": base, "changed": changed}
        self._change = change
        self._per_sample = "batch.size" in change.texts
        self._plan = plan
        self._on_arm = on_arm
        self._run: RunArm = run or (lambda script, choice: run_arm(script, choice.texts, runs_dir))
        self._clock = clock
        self._started = clock()
        self._pairs: list[Pair] = []
        self._arms: list[Arm] = []

    def measure(self) -> Measurement:
        while True:
            stopped = self._measure_pair()
            if stopped is not None:
                return stopped
            result = self._result()
            if result is not None:
                return result

    def _measure_pair(self) -> Measurement | None:
        """Measure one more pair; a result where it shows that there is no point in going on."""
        sides = ("base", "changed") if len(self._pairs) % 2 == 0 else ("changed", "base")
        arms: dict[str, Arm] = {}
        for side in sides:
            arm = arms[side] = self._measure_side(side)
            if arm.interrupted:
                return self._without_speedup(Verdict.INTERRUPTED, "the trial was interrupted")
            if arm.failure is not None:
                return self._without_speedup(Verdict.FAILED, _who_failed(side, arm))
            if side == "changed" and (missing := arm.not_applied(list(self._change.texts))):
                return self._without_speedup(Verdict.NOT_APPLIED, "; ".join(missing))
            if self._per_sample and not arm.samples_per_batch:
                return self._without_speedup(Verdict.NO_EVIDENCE, _NO_SAMPLES)
        self._pairs.append(Pair(arms["base"], arms["changed"], f"{sides[0]} first"))
        return None

    def _measure_side(self, side: str) -> Arm:
        script = self._script
        if self._arms:
            limit = max(HANG_RATIO * max(arm.seconds for arm in self._arms), LEAST_TIMEOUT_S)
            script = replace(script, limits=replace(script.limits, timeout_s=limit))
        start = self._clock()
        arm = replace(self._run(script, self._sides[side]), seconds=self._clock() - start)
        self._arms.append(arm)
        self._on_arm(side, arm)
        return arm

    def _result(self) -> Measurement | None:
        """The result so far; None if another pair is needed and there is time for it."""
        kept, stalled = self._kept_pairs()
        if len(self._pairs) < max(self._plan.pairs, MIN_PAIRS):
            return None
        result = interval([pair.ratio(per_sample=self._per_sample) for pair in kept])
        spent = self._is_spent()
        if not is_settled(result) and not spent and len(self._pairs) < self._plan.most_pairs:
            return None
        return Measurement(
            verdict=verdict(result),
            speedup=result,
            losses=self._check_losses(),
            pairs=tuple(self._pairs),
            stalled=stalled,
            reason="" if is_settled(result) else _why_wide(spent),
            per_sample=self._per_sample,
            arms=tuple(self._arms),
        )

    def _kept_pairs(self) -> tuple[list[Pair], tuple[int, ...]]:
        stalled = stalled_pairs(
            [pair.base.step_s or 0.0 for pair in self._pairs],
            [pair.changed.step_s or 0.0 for pair in self._pairs],
        )
        return [pair for number, pair in enumerate(self._pairs) if number not in stalled], stalled

    def _is_spent(self) -> bool:
        """Whether another pair would end after the budget; the first pairs are measured in any case."""
        if len(self._pairs) < MIN_PAIRS:
            return False
        passed = self._clock() - self._started
        return passed + passed / len(self._pairs) > self._plan.budget_s

    def _check_losses(self) -> LossCheck:
        change = self._change
        return check_losses(
            [pair.base.losses for pair in self._pairs],
            [pair.changed.losses for pair in self._pairs],
            equivalence=change.equivalence,
            tolerance=change.tolerance,
            moves_randomness=change.moves_randomness,
        )

    def _without_speedup(self, outcome: Verdict, reason: str) -> Measurement:
        return Measurement(
            outcome, None, NOT_COMPARED, tuple(self._pairs), reason=reason, arms=tuple(self._arms)
        )


def _who_failed(side: str, arm: Arm) -> str:
    whose = "with the change" if side == "changed" else "without any change"
    return f"{whose}: {arm.failure}"


def _why_wide(spent: bool) -> str:
    if spent:
        return "the budget ended before the interval was narrow (--budget allows more)"
    return "the interval did not become narrow within the most pairs that are measured"

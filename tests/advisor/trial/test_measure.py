"""Pairs, order, budget, and what ends a trial at once."""

from pathlib import Path

import numpy as np
import pytest

from trainrx.advisor.trial.knob_choice import choose
from trainrx.advisor.trial.loss_guard import LossOutcome
from trainrx.advisor.trial.measure import Plan, measure
from trainrx.advisor.trial.verdict import Verdict

from .conftest import LOSSES, Machine


def run(script, machine, *words, kept=(), **plan):
    return measure(
        script, choose(words), kept=choose(kept), runs_dir=Path("unused"), plan=Plan(**plan), run=machine,
        clock=machine.clock,
    )  # fmt: skip


def test_a_clear_gain_takes_three_pairs_in_alternating_order(script):
    # GIVEN a change that doubles the speed
    machine = Machine({"loader.num_workers": 2.0})

    # WHEN it is measured
    found = run(script, machine, "loader.num_workers=2")

    # THEN three pairs suffice, and each side came first in turn
    assert found.verdict is Verdict.BETTER and found.is_proven
    assert found.speedup.median == pytest.approx(2.0)
    assert found.losses.outcome is LossOutcome.EQUAL
    on = {"loader.num_workers": "2"}
    assert machine.ran == [{}, on, on, {}, {}, on]
    assert [pair.order for pair in found.pairs] == ["base first", "changed first", "base first"]


def test_kept_changes_are_on_both_sides(script):
    machine = Machine({"optimizer.fused": 1.0, "loader.num_workers": 2.0})
    run(script, machine, "optimizer.fused=true", kept=["loader.num_workers=2"])
    assert all(ran["loader.num_workers"] == "2" for ran in machine.ran)
    assert [("optimizer.fused" in ran) for ran in machine.ran[:2]] == [False, True]


def test_a_wide_interval_asks_for_more_pairs(script):
    # GIVEN a noisy machine and no effect
    noise = np.random.default_rng(5)
    machine = Machine({}, noise=lambda: float(np.exp(noise.normal(0, 0.2))))

    found = run(script, machine, "gc.control=freeze", most_pairs=7)
    assert (len(found.pairs), found.verdict) == (7, Verdict.NO_EVIDENCE)
    assert "did not become narrow" in found.reason


def test_the_budget_ends_a_trial_but_not_its_first_pairs(script):
    noise = np.random.default_rng(5)
    machine = Machine({}, noise=lambda: float(np.exp(noise.normal(0, 0.2))))
    found = run(script, machine, "gc.control=freeze", budget_s=45.0)
    assert len(found.pairs) == 4
    assert "budget ended" in found.reason
    assert len(run(script, Machine({}), "gc.control=freeze", budget_s=0.1).pairs) == 3


def test_a_change_that_met_nothing_is_not_measured(script):
    machine = Machine({}, ignores=("optimizer.fused",))
    found = run(script, machine, "optimizer.fused=true")
    assert found.verdict is Verdict.NOT_APPLIED
    assert found.reason == "optimizer.fused: because"
    assert len(machine.ran) == 2 and found.speedup is None


def test_a_change_that_crashes_is_told_with_its_error(script):
    found = run(script, Machine({}, fails=("compile.default",)), "compile.default=true")
    assert found.verdict is Verdict.FAILED
    assert found.reason.startswith("with the change: the script failed with exit code 1")
    assert not found.is_proven


def test_a_faster_change_with_other_losses_is_not_proven(script):
    other = {0: tuple((step, value + 1e-9) for step, value in LOSSES[0])}
    machine = Machine({"debug.off": 3.0}, losses={"debug.off": other})
    found = run(script, machine, "debug.off=true")
    assert found.verdict is Verdict.BETTER
    assert found.losses.outcome is LossOutcome.DIFFER and not found.is_proven


def test_a_run_that_hangs_is_given_a_limit(script):
    # WHEN the first run took five seconds
    limits = []

    class Watching(Machine):
        def __call__(self, script, choice):
            limits.append(script.limits.timeout_s)
            return super().__call__(script, choice)

    run(script, Watching({}), "gc.control=freeze")

    # THEN the later ones have a limit that leaves room, and the first has none
    assert limits[0] is None and limits[1] == 600.0


def test_batch_size_is_compared_per_sample(script):
    class Larger(Machine):
        def __call__(self, script, choice):
            from dataclasses import replace

            return replace(super().__call__(script, choice), samples_per_batch=64.0 if choice else 32.0)

    # GIVEN twice the samples in 1.5 times the time
    found = run(script, Larger({"batch.size": 1 / 1.5}), "batch.size=64")

    # THEN samples pass 1.33 times as fast
    assert found.per_sample and found.speedup.median == pytest.approx(2 / 1.5)
    assert found.losses.outcome is LossOutcome.NOT_COMPARABLE


def test_batches_of_unknown_size_are_not_compared(script):
    # GIVEN twice the samples in the same time, where nobody saw how many there were
    found = run(script, Machine({"batch.size": 1.0}), "batch.size=64")

    # THEN that is the answer, after one run, and no ratio of steps
    assert (found.verdict, found.speedup, len(found.arms)) == (Verdict.NO_EVIDENCE, None, 1)
    assert "how many samples a batch has was not seen" in found.reason

"""Rules of a fair comparison of curves: kept, broken, asked; answered by the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainrx.advisor.compare.costs import CostAxis
from trainrx.advisor.compare.curve_fairness import RULES, Check, Standing
from trainrx.advisor.compare.curves import Direction
from trainrx.advisor.compare.methods import Source
from trainrx.advisor.compare.quality_cost import Question, compare_curves
from trainrx.profiler.errors import UsageError

MakeTraining = Callable[..., Source]


def checked(
    sources: list[Source], cost: CostAxis = CostAxis.STEPS, metric: str = "val_acc", **more: Any
) -> dict[str, Check]:
    question = Question(metric, Direction.HIGHER, cost, **more)
    return {check.rule: check for check in compare_curves(sources, question).checks}


def seeds(training: MakeTraining, method: str, count: int = 3, **more: Any) -> list[Source]:
    return [training(method, seed, **more) for seed in range(count)]


def test_what_files_do_not_tell_is_asked(training: MakeTraining) -> None:
    found = checked(
        [*seeds(training, "a", final_lr=None), *seeds(training, "b", final_lr=None)],
        CostAxis.SECONDS,
        target=0.5,
        target_told=True,
    )
    asked = {rule for rule, check in found.items() if check.standing is Standing.ASKED}
    assert asked == set(RULES)
    assert all(found[rule].sentence.endswith("?") for rule in asked)


def test_an_answer_takes_the_place_of_a_question(training: MakeTraining) -> None:
    sources = [*seeds(training, "a"), *seeds(training, "b")]
    found = checked(sources, answers={"baseline-tuned": False, "evaluation-data": True})
    assert found["baseline-tuned"].forbids and found["baseline-tuned"].answer is False
    assert found["evaluation-data"].standing is Standing.KEPT
    with pytest.raises(UsageError, match="no rule that can be answered"):
        checked(sources, answers={"anything": True})


def test_an_answer_does_not_overrule_what_files_tell(training: MakeTraining) -> None:
    cut = [*seeds(training, "a"), *seeds(training, "b", final_lr=0.05)]
    assert checked(cut, answers={"schedule-ended": True})["schedule-ended"].forbids


def test_a_training_cut_short_of_its_decay_is_not_comparable(training: MakeTraining) -> None:
    found = checked([*seeds(training, "a"), *seeds(training, "b", final_lr=0.05)])["schedule-ended"]
    assert found.forbids and found.sentence.startswith("b stopped")
    assert checked([*seeds(training, "a"), *seeds(training, "b")])["schedule-ended"].standing is Standing.KEPT


def test_a_learning_rate_that_never_falls_is_asked_about(training: MakeTraining) -> None:
    found = checked([*seeds(training, "a"), *seeds(training, "b", final_lr=0.1)])["schedule-ended"]
    assert found.standing is Standing.ASKED and "b" in found.sentence


def test_other_budgets_forbid_a_number_unless_each_point_is_an_end(training: MakeTraining) -> None:
    sources = [*seeds(training, "a"), *seeds(training, "b", steps=150)]
    assert checked(sources)["same-budget"].forbids
    ends = [training(method, 1, steps=n, budget=n) for method in "ab" for n in (100, 200)]
    found = checked(ends)
    assert "same-budget" not in found and "ends-only" not in found


def test_the_same_steps_in_less_time_are_the_same_budget(training: MakeTraining) -> None:
    sources = [*seeds(training, "a"), *seeds(training, "b", seconds_per_step=0.05)]
    assert checked(sources, CostAxis.SECONDS)["same-budget"].standing is Standing.KEPT


def test_training_data_are_no_held_out_data(training: MakeTraining) -> None:
    sources = [*seeds(training, "a", metric="train_acc"), *seeds(training, "b", metric="train_acc")]
    assert checked(sources, metric="train_acc")["held-out"].forbids


def test_hardware_matters_for_seconds_only(training: MakeTraining) -> None:
    one, other = {"device.name": "A"}, {"device.name": "B"}
    sources = [*seeds(training, "a", hardware=one), *seeds(training, "b", hardware=other)]
    assert checked(sources, CostAxis.SECONDS)["same-hardware"].forbids
    assert "same-hardware" not in checked(sources)
    alike = [*seeds(training, "a", hardware=one), *seeds(training, "b", hardware=one)]
    assert checked(alike, CostAxis.SECONDS)["same-hardware"].standing is Standing.KEPT


def test_steps_alone_are_said_to_be_no_time(training: MakeTraining) -> None:
    sources = [*seeds(training, "a", seconds_per_step=None), *seeds(training, "b")]
    assert "may still take longer" in checked(sources)["time-beside"].sentence


def test_few_seeds_and_other_seeds_are_said(training: MakeTraining) -> None:
    found = checked([*seeds(training, "a"), *seeds(training, "b", 2)])
    assert found["seeds"].standing is Standing.BROKEN and "b has 2" in found["seeds"].sentence
    assert "none is chosen" in found["same-seeds"].sentence
    assert "9%" in checked([*seeds(training, "a"), *seeds(training, "b")])["seeds"].sentence


def test_more_evaluations_are_said_to_be_more_chances(training: MakeTraining) -> None:
    found = checked([*seeds(training, "a"), *seeds(training, "b", every=5)])
    assert "30 to 60 times" in found["same-evaluations"].sentence


def test_a_target_taken_from_the_curves_is_said(training: MakeTraining) -> None:
    sources = [*seeds(training, "a"), *seeds(training, "b")]
    assert checked(sources)["target-first"].standing is Standing.BROKEN
    # AND of one that was named it is asked when; that it was not before is said, and forbids nothing
    assert checked(sources, target=0.5, target_told=True)["target-first"].standing is Standing.ASKED
    late = checked(sources, target=0.5, target_told=True, answers={"target-first": False})["target-first"]
    assert late.standing is Standing.BROKEN and not late.forbids

"""Whole comparisons: which method is cheaper, by how much, and when nothing is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainrx.advisor.compare.costs import CostAxis
from trainrx.advisor.compare.curves import Direction
from trainrx.advisor.compare.labels import Label
from trainrx.advisor.compare.methods import Source
from trainrx.advisor.compare.quality_cost import (
    MAX_METHODS,
    QualityComparison,
    Question,
    compare_curves,
    shared_qualities,
)
from trainrx.advisor.compare.speedups import Outcome
from trainrx.profiler.errors import NotEnoughEvidence, UsageError
from trainrx.profiler.ingest.metric_table import parse_metric_table

MakeTraining = Callable[..., Source]


def compared(sources: list[Source], **more: Any) -> QualityComparison:
    return compare_curves(sources, Question("val_acc", Direction.HIGHER, CostAxis.STEPS, **more))


def seeds(training: MakeTraining, method: str, count: int = 4, **more: Any) -> list[Source]:
    return [training(method, seed, **more) for seed in range(count)]


def test_the_default_target_is_the_best_that_all_reach(training: MakeTraining) -> None:
    found = compared([*seeds(training, "slow"), *seeds(training, "fast", pace=2)])
    assert found.shared is not None and found.target == found.shared.by_all
    fast = found.results[1]
    assert fast.outcome is Outcome.CHEAPER and fast.speedup is not None
    assert fast.speedup.median == pytest.approx(2, rel=0.1)
    assert found.results[0].speedup is None and found.baseline == "slow"


def test_the_baseline_can_be_named(training: MakeTraining) -> None:
    sources = [*seeds(training, "slow"), *seeds(training, "fast", pace=2)]
    found = compared(sources, baseline="fast")
    assert found.baseline == "fast" and found.results[1].outcome is Outcome.COSTLIER
    with pytest.raises(UsageError, match="no method 'other'"):
        compared(sources, baseline="other")


def test_the_order_of_files_does_not_matter(training: MakeTraining) -> None:
    sources = [*seeds(training, "slow"), *seeds(training, "fast", pace=2)]
    first, second = compared(sources), compared([*reversed(sources)], baseline="slow")
    assert [one.speedup for one in first.results] == [one.speedup for one in second.results]
    assert [one.best for one in first.results] == [one.best for one in second.results]


def test_a_target_that_a_method_never_reaches(training: MakeTraining) -> None:
    found = compared([*seeds(training, "fast", pace=2), *seeds(training, "slow")], target=0.98)
    slow = found.results[1]
    assert slow.outcome is Outcome.NEVER_REACHED and slow.cost_to_target.median is None and slow.reached == 0


def test_the_default_target_is_reached_by_every_seed_that_lasted(training: MakeTraining) -> None:
    found = compared([*seeds(training, "a"), *seeds(training, "b", 3, pace=2), training("b", 9, breaks=True)])
    assert [result.reached for result in found.results] == [4, 3]
    assert found.shared is not None and found.shared.worst < found.shared.by_all <= found.shared.best


def test_a_broken_seed_stays_visible_and_opens_the_band(training: MakeTraining) -> None:
    sources = [*seeds(training, "a"), *seeds(training, "b", 3, pace=2), training("b", 9, breaks=True)]
    b = compared(sources, target=0.9).results[1]
    assert b.diverged == 1 and b.reached == 3 and len(b.method.runs) == 4
    assert b.cost_to_target.median is not None and b.cost_to_target.high is None


def test_a_seed_that_broke_before_its_first_evaluation_stays_visible(training: MakeTraining) -> None:
    table = parse_metric_table(b"step,seconds,lr,val_acc\n10,1,0.1,nan\n300,30,0,nan\n", source="b9.csv")
    sources = [*seeds(training, "a"), *seeds(training, "b", 3, pace=2), Source(Label("b", 9), table)]
    b = compared(sources, target=0.9).results[1]
    assert (len(b.method.runs), b.diverged, b.reached, b.best.low) == (4, 1, 3, None)


def test_quality_at_equal_cost_is_read_at_the_shortest_training(training: MakeTraining) -> None:
    found = compared([*seeds(training, "a", steps=150), *seeds(training, "b")])
    assert found.equal_cost == 150
    medians = [result.at_equal_cost.median for result in found.results]
    assert medians[0] == pytest.approx(medians[1], rel=0.02)


def test_the_ends_on_the_front_are_marked(training: MakeTraining) -> None:
    found = compared([*seeds(training, "slow", 1), *seeds(training, "fast", 1, pace=2)])
    assert [(end.method, end.on_front) for end in found.ends] == [("slow", False), ("fast", True)]


def test_every_budget_of_a_method_is_an_end(training: MakeTraining) -> None:
    found = compared(
        [
            training(name, 1, pace=pace, steps=n, budget=n)
            for name, pace in (("slow", 1), ("fast", 2))
            for n in (100, 200)
        ]
    )
    assert [(end.method, end.cost, end.on_front) for end in found.ends] == [
        ("slow", 100, False), ("slow", 200, False), ("fast", 100, True), ("fast", 200, True),
    ]  # fmt: skip


def test_nothing_finite_is_not_enough_evidence() -> None:
    table = parse_metric_table(b"step,val_acc\n1,inf\n2,inf\n", source="a")
    with pytest.raises(NotEnoughEvidence, match="no training has a finite val_acc"):
        compared([Source(Label("a"), table)])


def test_too_many_methods_are_refused(training: MakeTraining) -> None:
    with pytest.raises(UsageError, match="too many to compare"):
        compared([training(f"m{number}", 1) for number in range(MAX_METHODS + 1)])


def test_the_shared_range_without_a_whole_comparison(training: MakeTraining) -> None:
    sources = [*seeds(training, "slow"), *seeds(training, "fast", pace=2)]
    question = Question("val_acc", Direction.HIGHER, CostAxis.STEPS)
    assert shared_qualities(sources, question) == compared(sources).shared

"""Files put together as methods: seeds, budgets, costs that stand in other rows, bands."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainrx.advisor.compare.costs import CostAxis
from trainrx.advisor.compare.curves import Direction
from trainrx.advisor.compare.labels import Label
from trainrx.advisor.compare.methods import Source, band, methods_of, run_curve, shared_axes, shared_metrics
from trainrx.profiler.errors import InputError, UsageError
from trainrx.profiler.ingest.metric_table import MetricTable, parse_metric_table

MakeTraining = Callable[..., Source]
HIGHER = Direction.HIGHER


def table(text: str) -> MetricTable:
    return parse_metric_table(text.encode(), source="a.csv")


def test_seeds_of_one_method_come_together(training: MakeTraining) -> None:
    sources = [training("b", 1), training("a", 1), training("b", 2)]
    found = methods_of(sources, metric="val_acc", cost=CostAxis.STEPS, direction=HIGHER)
    assert [(method.name, [run.seed for run in method.runs]) for method in found] == [
        ("b", [1, 2]),
        ("a", [1]),
    ]


def test_files_without_seeds_are_seeds_of_their_own(training: MakeTraining) -> None:
    found = methods_of(
        [training("a", None), training("a", None, pace=1.1)],
        metric="val_acc",
        cost=CostAxis.STEPS,
        direction=HIGHER,
    )
    assert len(found[0].runs) == 2


def test_one_training_does_not_count_as_two_seeds(training: MakeTraining) -> None:
    # GIVEN one training's metrics in two files, WHEN both come without a seed, THEN they are refused by name
    sources = [Source(Label("a"), table("step,acc\n1,0.5\n2,0.6\n")) for _ in range(2)]
    with pytest.raises(UsageError, match=r"a\.csv and a\.csv hold the same curve"):
        methods_of(sources, metric="acc", cost=CostAxis.STEPS, direction=HIGHER)
    # AND two that learn nothing may be alike
    flat = [
        Source(Label("a"), parse_metric_table(b"step,acc\n1,0.1\n2,0.1\n", source=f"{seed}.csv"))
        for seed in (1, 2)
    ]
    assert len(methods_of(flat, metric="acc", cost=CostAxis.STEPS, direction=HIGHER)[0].runs) == 2


def test_the_same_seed_twice_is_asked_about(training: MakeTraining) -> None:
    with pytest.raises(UsageError, match="same training"):
        methods_of(
            [training("a", 1), training("a", 1)], metric="val_acc", cost=CostAxis.STEPS, direction=HIGHER
        )


def test_trainings_at_several_budgets_make_one_curve_of_their_ends(training: MakeTraining) -> None:
    sources = [training("a", 1, steps=steps, budget=steps) for steps in (100, 200, 400)]
    found = methods_of(sources, metric="val_acc", cost=CostAxis.STEPS, direction=HIGHER)
    (run,) = found[0].runs
    assert run.ends_only and run.curve.cost.tolist() == [100, 200, 400]


def test_a_cost_in_another_row_is_the_next_one_told() -> None:
    one = table("step,seconds,acc\n1,10,\n1,,0.5\n2,20,\n2,,0.6\n")
    found = run_curve(one, metric="acc", cost=CostAxis.SECONDS, direction=HIGHER)
    assert found.cost.tolist() == [20] and found.quality.tolist() == [0.6]
    assert run_curve(one, metric="acc", cost=CostAxis.STEPS, direction=HIGHER).cost.tolist() == [1, 2]


def test_what_a_file_lacks_is_named() -> None:
    one = table("step,acc\n1,0.5\n")
    with pytest.raises(InputError, match=r"no column 'loss'.*step, acc"):
        run_curve(one, metric="loss", cost=CostAxis.STEPS, direction=HIGHER)
    with pytest.raises(InputError, match="cost in seconds: costs that it tells: steps"):
        run_curve(one, metric="acc", cost=CostAxis.SECONDS, direction=HIGHER)


def test_what_files_share() -> None:
    first = table("step,seconds,loss,val_loss,lr\n1,1,1,1,1\n2,2,1,1,1\n")
    second = table("step,val_loss,loss\n1,1,1\n2,1,1\n")
    assert shared_metrics([first, second]) == ["val_loss", "loss"]
    assert shared_axes([first, second]) == [CostAxis.STEPS]


def test_a_band_reaches_as_far_as_all_seeds_and_shows_a_broken_one_as_missing() -> None:
    sources = [
        Source(Label("a", 1), table("step,acc\n1,0.1\n2,0.2\n3,0.3\n")),
        Source(Label("a", 2), table("step,acc\n1,0.3\n2,nan\n")),
        Source(Label("a", 3), table("step,acc\n1,0.2\n2,0.4\n3,0.5\n")),
    ]
    curves = methods_of(sources, metric="acc", cost=CostAxis.STEPS, direction=HIGHER)[0].curves
    found = band(curves, raw=True)
    assert found.cost.tolist() == [1, 2]
    assert found.median == (0.2, 0.2) and found.high == (0.3, 0.4) and found.low == (0.1, None)
    assert band(curves).low == (0.1, 0.2)

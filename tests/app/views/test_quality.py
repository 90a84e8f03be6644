"""Comparisons by quality against cost in words: cheaper, costlier, no evidence, or the rule that forbids a number."""

from __future__ import annotations

import math
from typing import Any

import pytest

from trainrx.advisor.compare.costs import CostAxis
from trainrx.advisor.compare.curves import Direction
from trainrx.advisor.compare.labels import Label
from trainrx.advisor.compare.methods import Source
from trainrx.advisor.compare.quality_cost import QualityComparison, Question, compare_curves
from trainrx.advisor.compare.speedups import Speedup
from trainrx.app.views.diagnosis import Tone
from trainrx.app.views.format import amount, large
from trainrx.app.views.quality import MAX_LINES, quality_view, table
from trainrx.app.views.quality_choice import cost_choices, cost_label, metric_choices
from trainrx.app.views.quality_headline import headline
from trainrx.app.views.quality_words import cost, interval
from trainrx.profiler.ingest.metric_table import parse_metric_table

YES = {"evaluation-data": True, "schedule-ended": True, "baseline-tuned": True, "whole-cost": True}


def source(method: str, seed: int, *, pace: float = 1.0, end: float = 1.0, steps: int = 300) -> Source:
    own = pace * (1 + 0.02 * seed)
    rows = [f"{step},{end * (1 - math.exp(-step * own / 100)):.6f}" for step in range(10, steps + 1, 10)]
    text = "step,val_acc\n" + "\n".join(rows)
    return Source(Label(method, seed), parse_metric_table(text.encode(), source=f"{method}{seed}.csv"))


def seeds(method: str, count: int = 4, **more: Any) -> list[Source]:
    return [source(method, seed, **more) for seed in range(count)]


def compared(*sources: Source, **more: Any) -> QualityComparison:
    asked = {"answers": YES, **more}
    return compare_curves(sources, Question("val_acc", Direction.HIGHER, CostAxis.STEPS, **asked))


def test_a_cheaper_method_is_the_headline() -> None:
    found = headline(compared(*seeds("slow"), *seeds("fast", pace=2), *seeds("faster", pace=3)))
    assert (found.label, found.tone) == ("cheaper", Tone.HEALTHY)
    assert found.sentence.startswith("faster reaches val_acc 0.9")
    assert "fewer steps than slow (" in found.sentence and found.sentence.endswith("×).")


def test_open_questions_are_a_reserve() -> None:
    found = headline(compared(*seeds("slow"), *seeds("fast", pace=2), answers={}))
    assert found.sentence.endswith(", provided the open questions below are answered yes.")


def test_a_costlier_method_says_how_much() -> None:
    found = headline(compared(*seeds("fast", pace=2), *seeds("slow")))
    assert (found.label, found.tone) == ("costlier", Tone.PROBLEM)
    assert found.sentence.startswith("slow needs 2.0")


def test_curves_that_cross_are_no_gain_everywhere() -> None:
    early, late = seeds("early", pace=3, end=0.8), seeds("late", pace=1.5)
    found = headline(compared(*late, *early, target=0.4))
    assert (found.label, found.tone) == ("cheaper there, not everywhere", Tone.CONCERN)
    assert "speed-ups range from 0." in found.sentence
    other = headline(compared(*early, *late, target=0.4))
    assert other.label == "costlier there, not everywhere"


def test_no_evidence_names_the_lack_of_seeds() -> None:
    found = headline(compared(*seeds("a", 2), *seeds("b", 2, pace=2)))
    assert found.tone is Tone.UNKNOWN and "fewer than 3 seeds" in found.sentence
    alike = headline(compared(*seeds("a"), *seeds("b"), *seeds("c")))
    assert alike.sentence.startswith("No evidence that another method needs less or more than a")


def test_a_broken_rule_takes_the_number_away() -> None:
    comparison = compared(*seeds("a"), *seeds("b", pace=2, steps=150))
    found = headline(comparison)
    assert found.tone is Tone.CONCERN and found.sentence.startswith(
        "No headline number: The trainings ended at"
    )
    assert quality_view(comparison).checks[0].forbids


def test_one_method_and_no_shared_quality() -> None:
    assert headline(compared(*seeds("a"))).label == "one method"
    broken = [Source(Label("b", 1), parse_metric_table(b"step,val_acc\n290,inf\n300,inf\n", source="b"))]
    assert headline(compared(*seeds("a"), *broken)).label == "cannot be compared"


def test_a_method_that_was_there_at_its_first_evaluation_is_at_least_so_much_cheaper() -> None:
    slow = seeds("slow", end=0.5)
    early = [
        Source(
            Label("early", seed),
            parse_metric_table(f"step,val_acc\n{5 + seed},0.8\n300,0.9".encode(), source="e"),
        )
        for seed in range(3)
    ]
    found = compared(*slow, *early)
    assert "with at least " in headline(found).sentence and "or more)" in headline(found).sentence
    assert table(found)[1][f"cost to {found.target:.4g}"] == "at most 6 steps"
    other = headline(compared(*early, *slow))
    assert other.label == "costlier"


def test_a_target_that_only_one_side_reaches() -> None:
    weak, strong = seeds("weak", end=0.5), seeds("strong")
    assert (
        headline(compared(*weak, *strong, target=0.9)).sentence
        == "strong: reaches val_acc 0.9, weak never does."
    )
    found = compared(*strong, *weak, target=0.9)
    assert headline(found).sentence == "Only strong reaches val_acc 0.9."
    assert table(found)[1]["cost to 0.9"] == "never reached"


def test_a_target_that_some_seeds_reach_is_not_called_never_reached() -> None:
    partly = [source("partly", 0), *(source("partly", seed, end=0.5) for seed in range(1, 4))]
    strong = seeds("strong")
    found = headline(compared(*partly, *strong, target=0.9))
    assert found.sentence == "strong: reaches val_acc 0.9, partly in 1 of 4 seeds only."
    other = compared(*strong, *partly, target=0.9)
    assert headline(other).sentence == "Only strong reaches val_acc 0.9 in most seeds."
    assert table(other)[1]["cost to 0.9"] == "reached by 1 of 4 seeds only"


@pytest.mark.parametrize("counts", [(1, 1), (4, 1), (1, 4)])
def test_a_target_that_one_side_reaches_is_no_evidence_with_few_seeds(counts: tuple[int, int]) -> None:
    weak, strong = seeds("weak", counts[0], end=0.5), seeds("strong", counts[1])
    for sides in ((weak, strong), (strong, weak)):
        found = headline(compared(*sides[0], *sides[1], target=0.9))
        assert (found.label, found.tone) == ("no evidence", Tone.UNKNOWN)
        assert "fewer than 3 seeds" in found.sentence


def test_the_table_has_the_quality_at_an_equal_cost_only_where_ends_differ() -> None:
    assert not any(name.startswith("at ") for name in table(compared(*seeds("a"), *seeds("b")))[0])
    assert "at 150 steps" in table(compared(*seeds("a"), *seeds("b", steps=150)))[0]


def test_charts_show_few_methods_and_name_those_left_out() -> None:
    view = quality_view(compared(*(source(f"m{number}", 1) for number in range(MAX_LINES + 2))))
    assert len(view.lines) == MAX_LINES and view.left_out == ("m8", "m9") and len(view.rows) == MAX_LINES + 2


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Speedup(2, 1.5, 2.5, True), "1.50× to 2.50×"),
        (Speedup(2, None, 2.5, True), "up to 2.50×"),
        (Speedup(2, 1.5, None, True), "1.50× or more"),
        (Speedup(2, None, None, True), "not bounded"),
        (Speedup(2, None, None, False), "single run"),
    ],
)
def test_intervals(found: Speedup, words: str) -> None:
    assert interval(found) == words


def test_costs_have_their_units() -> None:
    assert cost(90, CostAxis.SECONDS) == "90 s"
    assert cost(1234, CostAxis.STEPS) == "1,234 steps"
    assert cost(2.5e9, CostAxis.TOKENS) == "2.5 billion tokens"
    assert cost(3.2e18, CostAxis.FLOPS) == "3.2 EFLOP"
    assert cost(7200, CostAxis.ENERGY) == "7.2 kJ"
    assert cost(12.5, "euros") == "12.5 euros"
    assert (large(2e12), large(3.4e6), amount(999, "J")) == ("2e+12", "3.4 million", "999 J")


def test_what_can_be_chosen() -> None:
    one = Source(Label("a"), parse_metric_table(b"t,Value,val_loss\n1,1,1\n2,1,1\n", source="a"))
    assert metric_choices([one])[0] == "val_loss"
    assert cost_choices([one], []) == ["t", "Value", "val_loss"]
    assert cost_choices([one], [CostAxis.FLOPS]) == ["flops"]
    assert (cost_label("flops"), cost_label("energy"), cost_label("t")) == ("FLOPs", "energy, J", "t")

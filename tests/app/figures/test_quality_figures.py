"""Curves, speed-ups and front of a comparison by quality against cost."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from trainrx.advisor.compare.costs import CostAxis
from trainrx.advisor.compare.curves import Direction
from trainrx.advisor.compare.labels import Label
from trainrx.advisor.compare.methods import Source
from trainrx.advisor.compare.quality_cost import Question, compare_curves
from trainrx.app.figures import quality_curves, quality_front, speedup_curve
from trainrx.app.figures.log_axis import log_axis
from trainrx.app.figures.palette import NEUTRAL
from trainrx.app.views.quality import QualityView, quality_view
from trainrx.profiler.ingest.metric_table import parse_metric_table


def source(method: str, seed: int, pace: float) -> Source:
    rows = [
        f"{step},{3 * math.exp(-step * pace * (1 + 0.05 * seed) / 100):.6f}" for step in range(10, 310, 10)
    ]
    text = "step,val_loss\n" + "\n".join(rows)
    return Source(Label(method, seed), parse_metric_table(text.encode(), source=method))


@pytest.fixture(scope="module")
def view() -> QualityView:
    sources = [source(name, seed, pace) for name, pace in (("base", 1), ("<b>new", 2)) for seed in range(3)]
    return quality_view(compare_curves(sources, Question("val_loss", Direction.LOWER, CostAxis.STEPS)))


def drawn(figure: Any) -> dict[str, Any]:
    return json.loads(figure.to_json())


def test_each_method_has_a_band_a_line_and_the_target_is_named(view: QualityView) -> None:
    figure = drawn(quality_curves.quality_curves(view))
    assert [trace.get("name") for trace in figure["data"]] == [
        None, "base", None, "&lt;b>new", f"target {view.target_words}",
    ]  # fmt: skip
    assert figure["data"][1]["line"]["color"] == NEUTRAL
    assert figure["data"][0]["fill"] == "toself"
    assert "base" in quality_curves.alt(view) and "speed-up 2.0" in quality_curves.alt(view)


def test_axes_can_be_logarithmic(view: QualityView) -> None:
    layout = drawn(quality_curves.quality_curves(view, log_cost=True, log_quality=True))["layout"]
    assert (layout["xaxis"]["type"], layout["yaxis"]["type"]) == ("log", "log")
    assert layout["xaxis"]["ticktext"][:4] == ["10", "20", "50", "100"]


def test_speedups_stand_above_their_quality_the_better_to_the_right(view: QualityView) -> None:
    figure = drawn(speedup_curve.speedup_curve(view))
    area, line = figure["data"]
    assert figure["layout"]["xaxis"]["autorange"] == "reversed"
    assert all(1.5 < value < 2.5 for value in line["y"])
    assert area["fill"] == "toself" and "1×" in figure["layout"]["yaxis"]["ticktext"]
    assert "2.0" in speedup_curve.alt(view)


def test_the_front_is_drawn_and_beaten_trainings_are_faint(view: QualityView) -> None:
    figure = drawn(quality_front.quality_front(view))
    front, base, new = figure["data"]
    assert len(front["x"]) == 1 and front["showlegend"] is False
    assert set(base["marker"]["opacity"]) == {quality_front.BEATEN_OPACITY}
    assert sorted(new["marker"]["opacity"])[-1] == 1
    assert "On the front: <b>new, seed 2" in quality_front.alt(view)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0, -1], None),
        ([20, 400], ["10", "20", "50", "100", "200", "500", "1,000"]),
        ([1, 1e6], ["1", "10", "100", "1,000", "10,000", "100,000", "1e+06"]),
        ([0.2, 0.3], ["0.1", "0.15", "0.2", "0.3"]),
    ],
)
def test_ticks_of_logarithmic_axes(values: list[float], ticks: list[str] | None) -> None:
    found = log_axis(values)
    if ticks is None:
        assert found == {"type": "linear"}
    else:
        assert found["type"] == "log" and list(found["ticktext"])[: len(ticks)] == ticks  # type: ignore[call-overload]

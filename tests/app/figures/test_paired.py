"""Paired bars and distributions of two runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trainrx.app.figures import paired
from trainrx.app.stored import StoredRun
from trainrx.app.views.compare import CompareView, compare_view


@pytest.fixture(scope="module")
def view(samples: Any) -> CompareView:
    first = StoredRun(samples.manifest("a"), samples.full_report("a"), samples.step_table(20))
    second = StoredRun(samples.manifest("b"), samples.full_report("b", stages=samples.stages()[1:]), None)
    return compare_view(first, second)


def test_each_stage_has_two_bars_and_its_change(view: CompareView) -> None:
    figure = json.loads(paired.paired_stages(view.stages).to_json())
    before, after = figure["data"]
    assert (before["name"], after["name"]) == ("first run", "second run")
    assert (before["x"][0], after["x"][0]) == (60, 0)
    assert after["text"][0] == "0 ms  <b>−60.0 ms</b>"
    assert "data wait 60.0 ms then 0 ms" in paired.stages_alt(view.stages)


def test_only_runs_with_steps_have_a_distribution(view: CompareView) -> None:
    figure = json.loads(paired.step_times(view.sides).to_json())
    assert [box["name"] for box in figure["data"]] == ["first run, 17 steps"]
    assert figure["data"][0]["boxpoints"] == "all"
    assert "first run 99.0 ms" in paired.steps_alt(view.sides)

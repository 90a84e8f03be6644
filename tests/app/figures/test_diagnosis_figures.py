"""The figures of a diagnosis, as Plotly will read them."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go
import pytest

from trainrx.app.figures import host_lines, stage_bar, steps_over_time
from trainrx.app.figures.contrast import contrast, ink_on
from trainrx.app.figures.palette import STAGE_COLORS, stage_color
from trainrx.app.views.diagnosis import DiagnosisView, diagnosis_view
from trainrx.app.views.steps import step_series
from trainrx.profiler.vocabulary import Stage


def as_json(figure: go.Figure) -> dict[str, Any]:
    return json.loads(figure.to_json())


@pytest.fixture(scope="module")
def view(samples: Any) -> DiagnosisView:
    return diagnosis_view(samples.full_report(), samples.manifest("a"))


def test_the_stage_bar_sums_to_the_step(view: DiagnosisView) -> None:
    figure = as_json(stage_bar.stage_bar(view.stages))
    assert sum(trace["x"][0] for trace in figure["data"]) == pytest.approx(100)
    assert figure["layout"]["xaxis"]["range"] == pytest.approx([0, 100])
    assert figure["layout"]["barmode"] == "stack"
    assert [trace["marker"]["color"] for trace in figure["data"]] == [
        stage_color(stage.stage) for stage in view.stages
    ]


def test_a_wide_stage_is_labelled_and_a_narrow_one_named_in_the_legend(view: DiagnosisView) -> None:
    traces = as_json(stage_bar.stage_bar(view.stages))["data"]
    texts = [trace["text"][0] for trace in traces]
    assert texts == ["<b>data wait</b><br>60.0 ms · 60 %", "<b>forward</b><br>12.0 ms · 12 %",
                     "<b>backward</b><br>23.0 ms · 23 %", ""]  # fmt: skip
    assert [trace["name"] for trace in traces][-1] == "host code 5.0 %"
    assert all("of the step" in trace["hovertemplate"] for trace in traces)


def test_the_stage_bar_in_words(view: DiagnosisView) -> None:
    assert "data wait 60.0 ms (60 %); forward 12.0 ms (12 %)" in stage_bar.alt(view.stages)


def test_steps_are_bars_by_stage_with_the_left_out_shaded(samples: Any) -> None:
    series = step_series(samples.step_table(n=20, outliers=(10,)))
    figure = as_json(steps_over_time.steps_over_time(series))
    bars = [trace for trace in figure["data"] if trace["type"] == "bar"]
    assert [bar["name"] for bar in bars] == ["data wait", "forward", "backward", "host code"]
    assert bars[0]["marker"]["opacity"] == [0.45, 0.45, *[1.0] * 17, 0.45]
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == [-0.5, 18.5]
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["warm-up", "traced"]
    assert figure["layout"]["yaxis"]["title"]["text"] == "ms per step"


def test_a_step_that_is_cut_off_keeps_its_time(samples: Any) -> None:
    series = step_series(samples.step_table(n=40, outliers=(10,)))
    figure = as_json(steps_over_time.steps_over_time(series))
    marks = next(trace for trace in figure["data"] if trace["name"] == "stands out")
    assert (marks["x"], marks["text"]) == ([10], ["900.0 ms"])
    assert marks["y"][0] < figure["layout"]["yaxis"]["range"][1] < 900
    assert "step 10: 900.0 ms" in steps_over_time.alt(series)


def test_steps_without_a_timed_one_have_no_median(samples: Any) -> None:
    figure = as_json(steps_over_time.steps_over_time(step_series(samples.step_table(2, 2, 0))))
    assert not [trace for trace in figure["data"] if trace["type"] == "scatter"]


def test_thousands_of_steps_stay_few_bars(samples: Any) -> None:
    figure = as_json(steps_over_time.steps_over_time(step_series(samples.step_table(n=5000))))
    bars = [trace for trace in figure["data"] if trace["type"] == "bar"]
    assert len(figure["data"][0]["y"]) <= 400 or "bdata" in figure["data"][0]["y"]
    assert bars[0]["width"] == pytest.approx(13 * 0.9)


def test_many_left_out_steps_are_all_shaded_and_few_labelled(samples: Any) -> None:
    table = samples.step_table(n=4000)
    table.loc[table["step"] % 4 == 0, "phase"] = "traced"
    layout = as_json(steps_over_time.steps_over_time(step_series(table)))["layout"]
    assert len(layout["shapes"]) >= 1000
    assert 1 <= len(layout["annotations"]) <= 14


def test_lines_of_python_are_named_and_guesses_pale(view: DiagnosisView) -> None:
    figure = as_json(host_lines.host_lines(view.lines))
    assert figure["layout"]["yaxis"]["ticktext"] == ["u/train.py:12  &lt;module&gt;", "u/train.py:40  log"]
    assert [trace["marker"]["opacity"] for trace in figure["data"]] == [[1.0], [0.45]]
    assert figure["data"][0]["text"] == ["55.0 ms · 55 %"]
    assert "u/train.py:12 55.0 ms in data wait" in host_lines.alt(view.lines)


def test_many_lines_are_cut_to_the_longest(view: DiagnosisView) -> None:
    figure = as_json(host_lines.host_lines(view.lines * 30))
    assert len(figure["layout"]["yaxis"]["ticktext"]) <= 14


@pytest.mark.parametrize("stage", list(Stage))
def test_a_label_on_its_stage_is_readable(stage: Stage) -> None:
    color = STAGE_COLORS[stage]
    assert contrast(ink_on(color), color) >= 4.5

"""The figures of device, ranks, what-ifs, loader, memory, machine and estimate, as Plotly will read them."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go
import pytest

from trainrx.app.figures import (
    device_bar,
    device_steps,
    estimate_bars,
    kernel_classes,
    loader_costs,
    memory_curve,
    rank_matrix,
    series_lines,
    what_ifs,
)
from trainrx.app.figures.palette import DEVICE_COLORS, IDLE_CAUSE_COLORS
from trainrx.app.views.details import Details, details
from trainrx.profiler.vocabulary import IdleCause


def as_json(figure: go.Figure) -> dict[str, Any]:
    return json.loads(figure.to_json())


@pytest.fixture(scope="module")
def parts(samples: Any) -> Details:
    report = samples.traced_report(
        loader=samples.loader(), telemetry=samples.telemetry(), estimate=samples.attached_report().estimate
    )
    return details(report)


def test_causes_lie_under_the_idle_time_that_they_split(parts: Details) -> None:
    figure = as_json(device_bar.device_bar(parts.device.bar, dark=False))
    uses = [trace for trace in figure["data"] if trace["y"] == ["device"]]
    causes = [trace for trace in figure["data"] if trace["y"] != ["device"]]
    assert sum(trace["x"][0] for trace in uses) == pytest.approx(1)
    assert [trace["base"][0] for trace in causes] == pytest.approx([0.6, 0.9])
    assert uses[0]["marker"]["color"] == DEVICE_COLORS["compute"]
    assert causes[0]["marker"]["color"] == IDLE_CAUSE_COLORS[IdleCause.DATA]
    assert "idle: data 30 %" in device_bar.alt(parts.device.bar)


def test_two_devices_share_one_legend(parts: Details) -> None:
    bar = parts.device.bar
    figure = as_json(device_bar.device_bars([("first", bar), ("second", bar)], dark=True))
    named = [trace["name"] for trace in figure["data"] if trace["showlegend"]]
    assert len(named) == len(set(named))
    assert {trace["y"][0] for trace in figure["data"]} >= {"first: device", "second: device"}


def test_steps_of_the_device_sum_to_the_step(parts: Details) -> None:
    figure = as_json(device_steps.device_steps(parts.device.steps[0]))
    assert [sum(column) for column in zip(*(trace["y"] for trace in figure["data"]))] == pytest.approx(
        [100, 100]
    )
    assert "rank 0" in device_steps.alt(parts.device.steps[0])


def test_kernel_classes_keep_the_colours_of_the_device(parts: Details) -> None:
    bar = as_json(kernel_classes.kernel_classes(parts.device.kernels))["data"][0]
    assert bar["marker"]["color"] == [DEVICE_COLORS["compute"], DEVICE_COLORS["communication"]]
    assert bar["text"] == ["75 % · 300.0 ms", "25 % · 100.0 ms"]


def test_predictions_are_open_and_the_measured_step_a_line(parts: Details) -> None:
    figure = as_json(what_ifs.what_ifs(parts.what_ifs))
    predicted = next(trace for trace in figure["data"] if trace.get("name") == "predicted")
    assert predicted["marker"]["symbol"] == "circle-open"
    assert predicted["x"] == pytest.approx([60, 70])
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == [100]
    assert "bound 50.0 ms" in what_ifs.alt(parts.what_ifs)


def test_the_row_of_the_late_rank_is_outlined(parts: Details) -> None:
    figure = as_json(rank_matrix.rank_matrix(parts.ranks, dark=True))
    assert [(shape["y0"], shape["y1"]) for shape in figure["layout"]["shapes"]] == [(0.5, 1.5)]
    assert figure["data"][0]["text"][1][:1] == ["0"]
    assert "Rank 1 is late" in rank_matrix.alt(parts.ranks)


def test_loading_is_split_into_computing_and_waiting(parts: Details) -> None:
    computing, waiting = as_json(loader_costs.loader_costs(parts.loader.costs))["data"]
    assert (computing["x"][0], waiting["x"][0]) == pytest.approx((0.1, 2.9))
    assert waiting["marker"]["pattern"]["shape"] == "/"
    assert "Read computes 100 µs and waits 2.9 ms" in loader_costs.alt(parts.loader.costs)


def test_memory_keeps_its_peak(parts: Details) -> None:
    figure = as_json(memory_curve.memory_curve(parts.memory))
    assert [trace["name"] for trace in figure["data"]] == ["allocated", "peak 2.0 GiB", "reserved 3.0 GiB"]
    assert figure["data"][1]["y"] == [2.0, 2.0]


def test_each_series_has_a_chart_of_its_own(parts: Details) -> None:
    figure = as_json(series_lines.series_lines(parts.telemetry.series))
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["cores busy, cores", "rss, MiB"]
    assert figure["data"][0]["y"] == [1.0, None, 2.0]
    assert {trace["yaxis"] for trace in figure["data"]} == {"y", "y2"}


def test_estimates_have_whiskers(parts: Details) -> None:
    bars = as_json(estimate_bars.estimate_bars(parts.estimate.shares))["data"][0]
    assert bars["error_x"]["array"] == pytest.approx([0.09, 0.10])
    assert bars["marker"]["opacity"] < 1

"""Speed-ups: predictions are open, measurements filled, and the axis holds both."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import pytest

from trainrx.app.figures import gains
from trainrx.app.figures.palette import BETTER, WORSE
from trainrx.app.views.advice import Gain, advice_view


def as_json(figure: go.Figure) -> dict[str, Any]:
    return json.loads(figure.to_json())


@pytest.fixture(scope="module")
def gain(samples: Any) -> Gain:
    found = advice_view(samples.advised_report()).prescriptions[0].gain
    assert found is not None
    return found


def test_predicted_is_open_and_measured_filled(gain: Gain) -> None:
    bound, predicted, measured = as_json(gains.gains([gain]))["data"]
    assert (bound["x"], predicted["x"], measured["x"]) == ([2.5], [1.8], [1.7])
    assert (predicted["marker"]["symbol"], measured["marker"]["symbol"]) == ("circle-open", "circle")
    assert predicted["error_x"]["array"] == pytest.approx([0.4])
    assert measured["marker"]["color"] == [BETTER]


def test_without_a_trial_no_measured_marker_is_drawn_or_named(gain: Gain) -> None:
    figure = as_json(gains.gains([replace(gain, measured=None, measured_words="")]))
    assert figure["data"][2]["x"] == []
    assert not figure["data"][2]["showlegend"]


def test_a_slower_measurement_lies_on_the_axis(gain: Gain) -> None:
    figure = as_json(gains.gains([replace(gain, measured=(0.5, 0.4, 0.6))]))
    assert figure["layout"]["xaxis"]["range"][0] < 0.4
    assert figure["data"][2]["marker"]["color"] == [WORSE]


def test_the_figure_in_words(gain: Gain) -> None:
    assert "predicted 1.80× (1.20× to 2.20×), bound 2.50×, measured 1.70×" in gains.alt([gain])

"""The calibration plot: this run in colour, both intervals, the diagonal through the whole."""

from __future__ import annotations

import json

from trainrx.advisor.trial.calibration import ScoredPrediction
from trainrx.app.figures import calibration


def scored(run: str, predicted: float, measured: float) -> ScoredPrediction:
    return ScoredPrediction(
        run=run, trial="1", knobs="loader.num_workers=2", method=None, predicted_low=predicted * 0.8,
        predicted=predicted, predicted_high=predicted * 1.2, measured_low=measured * 0.9, measured=measured,
        measured_high=measured * 1.1,
    )  # fmt: skip


def test_predicted_along_measured_up() -> None:
    found = [scored("a", 2.0, 1.8), scored("b", 1.2, 0.5)]
    agreement, others, own = json.loads(calibration.calibration(found, run="a").to_json())["data"]
    assert (own["x"], own["y"], others["x"], others["y"]) == ([2.0], [1.8], [1.2], [0.5])
    assert agreement["x"] == agreement["y"]
    assert agreement["x"][0] < 0.5 * 0.9
    assert agreement["x"][1] > 2.0 * 1.2
    assert "predicted 2.00×, measured 1.80×" in calibration.alt(found)


def test_an_empty_group_is_not_named() -> None:
    _, others, _ = json.loads(calibration.calibration([scored("a", 2, 2)], run="a").to_json())["data"]
    assert not others["showlegend"]

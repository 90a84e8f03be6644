"""Trials are kept in the run's folder, with what was predicted, and scored from there."""

import json
import os

import pytest

from trainrx.advisor.trial.arm import Script
from trainrx.advisor.trial.calibration import calibration, scored_predictions, summarise
from trainrx.advisor.trial.knob_choice import NOTHING, choose
from trainrx.advisor.trial.store import TRIALS_FOLDER, TrialFolder, begin_trial, stored_trials
from trainrx.profiler.launch import Limits
from trainrx.profiler.report import Prediction, Speedup, Trial

SCRIPT = Script(("python", "train.py"), None, Limits())


def trial(predicted, measured, **more):
    return Trial(
        id="1", knobs={"gc.control": "freeze"}, pairs=3, verdict="better", loss_check="",
        predicted_speedup=None if predicted is None else Prediction(low=predicted[0], mid=predicted[1], high=predicted[2], bound=9),
        speedup=None if measured is None else Speedup(median=measured[1], low=measured[0], high=measured[2]), **more,
    )  # fmt: skip


def test_trials_are_numbered_and_a_running_one_is_no_result(base_run):
    folders = [begin_trial(base_run, choose(["gc.control=freeze"]), NOTHING, SCRIPT, None) for _ in range(2)]
    assert [folder.path.name for folder in folders] == ["1", "2"]
    assert stored_trials(base_run) == []


def test_a_trial_whose_command_was_killed_is_interrupted(base_run):
    # GIVEN a trial that was begun by a process that is gone
    folder = begin_trial(base_run, choose(["gc.control=freeze"]), NOTHING, SCRIPT, None)
    stored = json.loads((folder.path / "trial.json").read_text())
    (folder.path / "trial.json").write_text(json.dumps({**stored, "launcher_pid": 2**22 + os.getpid()}))

    # THEN it is shown as that
    assert [found.verdict for found in stored_trials(base_run)] == ["interrupted"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"summary": 3}', "\x00"])
def test_damaged_trials_are_left_out(base_run, text):
    folder = base_run.path / TRIALS_FOLDER / "1"
    folder.mkdir(parents=True)
    (folder / "trial.json").write_text(text)
    assert TrialFolder(folder).read() is None
    assert stored_trials(base_run) == []


def test_predictions_are_scored():
    # GIVEN one that was right, one that promised too much, and one without a prediction
    trials = [
        trial((1.5, 2.0, 2.5), (1.9, 2.0, 2.1)),
        trial((2.0, 3.0, 4.0), (1.0, 1.5, 1.6)),
        trial(None, (1.0, 1.0, 1.0)),
        trial((1.0, 1.1, 1.2), None),
    ]
    found = summarise(scored_predictions("run", trials))
    assert [row.overlaps for row in found.predictions] == [True, False]
    assert found.overlapping_share == 0.5
    assert found.median_error_ratio == pytest.approx(0.75)


def test_without_trials_nothing_is_claimed(tmp_path):
    assert calibration(tmp_path).overlapping_share is None

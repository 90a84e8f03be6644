"""Trials are kept in the run's folder, with what was predicted, and scored from there."""

import json

import pytest

from trainrx.advisor.trial.arm import Script
from trainrx.advisor.trial.calibration import calibration, scored_predictions, summarise
from trainrx.advisor.trial.knob_choice import NOTHING, choose
from trainrx.advisor.trial.own_evidence import own_evidence
from trainrx.advisor.trial.store import TRIALS_FOLDER, TrialFolder, begin_trial, stored_trials
from trainrx.app.views.own_evidence import own_evidence_sentence, own_evidence_table
from trainrx.catalog import load_catalog
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


@pytest.mark.parametrize("pid", [2**22 + 1, -1, 0, 2**70])
def test_a_trial_whose_command_was_killed_is_interrupted(base_run, pid):
    # GIVEN a trial that was begun by a process that is gone
    folder = begin_trial(base_run, choose(["gc.control=freeze"]), NOTHING, SCRIPT, None)
    stored = json.loads((folder.path / "trial.json").read_text())
    (folder.path / "trial.json").write_text(json.dumps({**stored, "launcher_pid": pid}))

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
    found = summarise(scored_predictions(("run", trial) for trial in trials))
    assert [row.overlaps for row in found.predictions] == [True, False]
    assert found.overlapping_share == 0.5
    assert found.median_error_ratio == pytest.approx(0.75)


def test_without_trials_nothing_is_claimed(tmp_path):
    assert calibration(tmp_path).overlapping_share is None


def test_own_trials_of_a_method_are_evidence(base_run):
    # GIVEN trials that changed the method's knob alone, it among others, and another one
    frozen = {"gc.control": "freeze"}
    for knobs, speedup in ((frozen, 1.5), ({**frozen, "tf32": "true"}, 3.0), ({"batch.size": "8"}, 2.0)):
        folder = begin_trial(base_run, choose(["gc.control=freeze"]), NOTHING, SCRIPT, None)
        stored = folder.read()
        summary = trial(None, (speedup - 0.1, speedup, speedup + 0.1)).model_copy(update={"knobs": knobs})
        folder.write(stored.model_copy(update={"summary": summary}))
    method = load_catalog().methods["python-gc-control"]

    # WHEN its own evidence is asked for
    found = own_evidence(base_run.path.parent, method)

    # THEN it is the trial that tested nothing else, with its run
    assert [(one.run, one.change) for one in found.trials] == [(base_run.path.name, "gc.control=freeze")]
    assert found.median_speedup == 1.5
    assert own_evidence_sentence(found, method) == "1 trial, 1 better; median 1.50×."
    assert own_evidence_table(found)[0]["measured"] == "1.50× (1.40× to 1.60×)"


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (("loader.pin_memory", "true"), True),
        (("loader.pin_memory", "false"), False),
        (("no.knob", "1"), False),
    ],
)
def test_a_method_that_was_switched_off_was_not_tested(base_run, change, counts):
    # GIVEN a trial said to test pinned memory WHEN it switched that off THEN it is no evidence for it
    folder = begin_trial(base_run, choose(["gc.control=freeze"]), NOTHING, SCRIPT, None)
    told = {"knobs": dict([change]), "method": "pin-memory"}
    summary = trial(None, (1.4, 1.5, 1.6)).model_copy(update=told)
    folder.write(folder.read().model_copy(update={"summary": summary}))
    found = own_evidence(base_run.path.parent, load_catalog().methods["pin-memory"])
    assert bool(found.trials) is counts


def test_a_method_without_trials_says_how_to_get_one(tmp_path):
    methods = load_catalog().methods
    nothing = own_evidence(tmp_path / "none", methods["python-gc-control"])
    assert "trainrx try RUN gc.control=VALUE" in own_evidence_sentence(nothing, methods["python-gc-control"])
    assert "no knob" in own_evidence_sentence(nothing, methods["adamw"])

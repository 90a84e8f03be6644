from trainrx.advisor.trial.calibration import summarise
from trainrx.app.views.trials import calibration_sentence, ceiling_note, trial_rows
from trainrx.profiler.report import Prediction, Speedup, Trial


def test_a_trial_as_a_row():
    # GIVEN one that was measured per sample, and one that was not measured at all
    trials = [
        Trial(
            id="1", knobs={"batch.size": "64"}, kept={"optimizer.fused": "true"}, pairs=5, stalled=1, per_sample=True,
            predicted_speedup=Prediction(low=1, mid=1.2, high=1.4, bound=2), verdict="better", loss_check="",
            speedup=Speedup(median=1.5, low=1.4, high=1.6),
        ),
        Trial(
            id="2", knobs={"ddp.static_graph": "true"}, pairs=0, predicted_speedup=None, speedup=None,
            verdict="not applied", loss_check="", reason="one process",
        ),
    ]  # fmt: skip

    first, second = trial_rows(trials)
    assert (first.change, first.on_top_of) == ("batch.size=64", "optimizer.fused=true")
    assert first.measured == "1.50× per sample (1.40 to 1.60)" and first.predicted == "1.20× (1.00 to 1.40)"
    assert first.pairs == "5, 1 of them stalled"
    assert (second.measured, second.predicted, second.reason) == (
        "not measured",
        "not predicted",
        "one process",
    )


def test_a_calibration_without_trials_says_how_to_get_some():
    assert "trainrx try RUN --auto" in calibration_sentence(summarise([]))


def test_what_only_measures_a_ceiling_is_said_to():
    assert "no change to keep" in ceiling_note({"optimizer.fused": "true", "loader.replay_batches": "2"})
    assert ceiling_note({"optimizer.fused": "true", "a.knob_of_old": "1"}) == ""

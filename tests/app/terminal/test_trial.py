"""What the terminal prints of trials and of the autopilot."""

import pytest

from trainrx.advisor.trial.arm import Arm
from trainrx.advisor.trial.autopilot import Attempt, Flight
from trainrx.advisor.trial.knob_choice import choose
from trainrx.advisor.trial.loss_guard import LossCheck, LossOutcome
from trainrx.advisor.trial.measure import NOT_COMPARED, Measurement, Pair
from trainrx.advisor.trial.result import AttemptRow, FlightFile
from trainrx.advisor.trial.session import Outcome
from trainrx.advisor.trial.statistics import Interval
from trainrx.advisor.trial.verdict import Verdict
from trainrx.app.terminal.trial import print_flight, print_outcome
from trainrx.profiler.report import Prediction, Prescription, Trial
from trainrx.profiler.vocabulary import Kind

EQUAL = LossCheck(LossOutcome.EQUAL, "all 8 losses are bitwise equal")


def pairs(*ratios):
    return tuple(
        Pair(Arm(run="a", step_s=0.01 * ratio), Arm(run="b", step_s=0.01), "base first") for ratio in ratios
    )


def outcome(knob, measurement):
    name, _, text = knob.partition("=")
    speedup = measurement.speedup
    trial = Trial(
        id="t1", knobs={name: text}, predicted_speedup=Prediction(low=1.0, mid=1.4, high=2.0, bound=3.0),
        speedup=None, pairs=len(measurement.pairs), verdict=str(measurement.verdict), loss_check=str(measurement.losses),
        reason=measurement.reason,
    )  # fmt: skip
    assert speedup is None or speedup.low <= speedup.median
    return Outcome(trial, measurement)


BETTER = Measurement(Verdict.BETTER, Interval(2.0, 1.9, 2.1), EQUAL, pairs(2.0, 9.0, 2.1), stalled=(1,))
FAILED = Measurement(
    Verdict.FAILED, None, NOT_COMPARED, reason="with the change: the script failed with exit code 1"
)


def test_a_trial_is_told_verdict_first_with_its_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    # WHEN a faster change with a stalled pair is printed
    print_outcome(outcome("loader.num_workers=2", BETTER))
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    # THEN the verdict comes first, then losses, pairs and the prediction
    assert lines[0] == "loader.num_workers=2: faster, 2.00× (95% interval 1.90 to 2.10)"
    assert lines[1] == "losses equal: all 8 losses are bitwise equal"
    assert lines[3].split() == ["1", "20.00", "ms", "10.00", "ms", "2.00×"]
    assert "stalled, left out" in lines[4] and "stalled" not in lines[5]
    assert lines[-1] == "predicted 1.40× (1.00 to 2.00)"


def test_a_ceiling_is_told_to_be_no_change_to_keep(capsys: pytest.CaptureFixture[str]) -> None:
    print_outcome(outcome("loader.replay_batches=2", BETTER))
    assert "this is no change to keep" in " ".join(capsys.readouterr().out.split())


def test_a_trial_that_failed_is_told_with_its_reason_alone(capsys: pytest.CaptureFixture[str]) -> None:
    print_outcome(outcome("compile.default=true", FAILED))
    said = " ".join(capsys.readouterr().out.split())
    assert "compile.default=true: failed: with the change: the script failed with exit code 1" in said
    assert "losses" not in said


@pytest.mark.parametrize("interrupted", [False, True])
def test_what_the_autopilot_kept_can_be_used_at_once(
    capsys: pytest.CaptureFixture[str], interrupted: bool
) -> None:
    # GIVEN a flight that kept one change, and was interrupted after it or not
    kept = outcome("loader.num_workers=2", BETTER)
    tried = Prescription(
        method="m", knob="loader.num_workers=2", finding=Kind.DATA_LOADING, equivalence="exact",
        predicted_speedup=kept.trial.predicted_speedup, basis="", risk="", how="", verify="",
    )  # fmt: skip
    ended = "it was interrupted" if interrupted else "nothing is left"
    flight = Flight(
        (Attempt(tried, kept, True, "it is faster"),), choose(["loader.num_workers=2"]),
        None if interrupted else kept, ended, interrupted,
    )  # fmt: skip
    result = FlightFile(
        summary="Kept loader.num_workers=2.", ended=ended, kept={"loader.num_workers": "2"}, combined=None,
        attempts=[AttemptRow(knob="loader.num_workers=2", kept=True, why="it is faster", trial=kept.trial)],
        command="trainrx run --knob loader.num_workers=2 -- python train.py", patch="--- a\n+++ b\n", patch_check="checked",
    )  # fmt: skip
    # WHEN it is printed
    print_flight(flight, result)
    # THEN the command, the diff and why it stopped are there
    said = capsys.readouterr().out
    assert "Use it at once" in said and result.command in said
    assert "The same written into the script (checked)" in said and "+++ b" in said
    assert f"it stopped because {ended}" in said

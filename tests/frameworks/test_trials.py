"""Trials of the trainers that people use: changes from outside take, the losses are held to what they promise."""

import sys

import pytest

from trainrx.advisor.trial.arm import Script, run_arm
from trainrx.advisor.trial.knob_choice import choose
from trainrx.advisor.trial.loss_guard import LossOutcome, check_losses
from trainrx.profiler.launch import Limits

from .conftest import TIMEOUT_S
from .test_lightning import SCRIPT as LIGHTNING
from .test_transformers import SCRIPT as TRANSFORMERS

LIMITS = Limits(steps=9, warmup=2, traced_steps=0, seconds=None, patience_s=None, timeout_s=TIMEOUT_S)


@pytest.mark.parametrize(
    ("text", "more"),
    [
        pytest.param(TRANSFORMERS, ["checkpoint.every=2"], id="transformers"),
        pytest.param(
            LIGHTNING, [], id="lightning"
        ),  # writes its checkpoints by fsspec, which no knob reaches
    ],
)
def test_changes_take_in_a_trainer_and_leave_its_losses(
    write_script, tmp_path, text: str, more: list[str]
) -> None:
    # GIVEN an unedited script of a trainer, that accumulates, evaluates, saves and computes in bf16
    script = Script((sys.executable, str(write_script(text))), tmp_path, LIMITS)
    change = choose(["loader.num_workers=1", "gc.control=freeze", *more])
    # WHEN it runs as it is and with changes of its loader, its checkpoints and the collector
    base, changed = (run_arm(script, knobs, tmp_path / "runs") for knobs in ({}, change.texts))
    # THEN each took, both were timed, and the losses are those that were promised
    assert (base.failure, changed.failure) == (None, None)
    assert base.step_s and changed.step_s
    assert changed.not_applied(list(change.texts)) == []
    losses = check_losses(
        [base.losses], [changed.losses], equivalence="exact", tolerance=0.0, moves_randomness=change.moves_randomness
    )  # fmt: skip
    assert losses.allows_keeping and losses.outcome is not LossOutcome.NOT_COMPARABLE, losses

"""The autopilot on a machine of numbers: what it tries, keeps and hands over."""

from dataclasses import replace
from itertools import cycle

import pytest

from trainrx.advisor.trial import autopilot
from trainrx.advisor.trial import session as session_module
from trainrx.advisor.trial.autopilot import fly
from trainrx.advisor.trial.measure import Plan, measure
from trainrx.advisor.trial.result import flight_file, summary
from trainrx.advisor.trial.session import Length, TrialSession
from trainrx.advisor.trial.store import stored_trials
from trainrx.profiler.report import Prediction, Prescription
from trainrx.profiler.vocabulary import Kind, RunStatus

from .conftest import LOSSES, Machine, report


def prescription(knob, mid=1.5):
    return Prescription(
        method=knob.partition("=")[0], knob=knob, finding=Kind.COMPUTE, equivalence="exact",
        predicted_speedup=Prediction(low=1.0, mid=mid, high=2.0, bound=3.0), basis="a model", risk="", how="", verify="",
    )  # fmt: skip


def proposing(*knobs):
    def propose(found, exclude):
        return [prescription(knob) for knob in knobs if knob not in exclude]

    return propose


@pytest.fixture
def fly_on(base_run, monkeypatch):
    """Flies on a machine of numbers; gives the flight, the machine and the run."""

    def start(machine, propose, *, budget_s=10_000.0, found=None, **more):
        def on_machine(script, change, **arguments):
            return measure(script, change, run=machine, clock=machine.clock, **arguments)

        monkeypatch.setattr(session_module, "measure", on_machine)
        session = TrialSession(
            base_run, report(), length=Length(), plan=Plan(), allow_semantic=more.get("allow_semantic", False)
        )
        profiled = []

        def profile(choice):
            profiled.append(dict(choice.texts))
            return found or report()

        flight = fly(session, propose, budget_s=budget_s, profile=profile, clock=machine.clock, **more)
        return flight, session, profiled

    return start


def test_it_keeps_what_is_proven_and_nothing_else(fly_on, base_run):
    # GIVEN one change that helps, one that hurts, one that does nothing, one that crashes, one that learns otherwise
    other = {0: tuple((step, value + 1e-6) for step, value in LOSSES[0])}
    machine = Machine(
        {"loader.num_workers": 2.0, "compile.default": 0.5, "debug.off": 4.0, "optimizer.fused": 1.5},
        fails=("sdpa.flash",),
        losses={"debug.off": other},
    )
    knobs = (
        "compile.default=true", "loader.num_workers=2", "gc.control=freeze", "sdpa.flash=true", "debug.off=true",
        "optimizer.fused=true",
    )  # fmt: skip

    # WHEN the autopilot flies
    flight, _, profiled = fly_on(machine, proposing(*knobs))

    # THEN it kept the two that are proven, profiled again after each, and measured both together
    assert flight.kept.texts == {"loader.num_workers": "2", "optimizer.fused": "true"}
    assert profiled == [{"loader.num_workers": "2"}, flight.kept.texts]
    assert flight.combined.measurement.speedup.median == pytest.approx(3.0)
    why = {attempt.prescription.knob: attempt.why for attempt in flight.attempts}
    assert why["loader.num_workers=2"] == "it is faster, losses are equal"
    assert why["compile.default=true"] == "it is slower"
    assert why["gc.control=freeze"].startswith("no evidence")
    assert "exit code 1" in why["sdpa.flash=true"]
    assert "differ" in why["debug.off=true"]

    # AND everything is stored with its prediction
    trials = stored_trials(base_run)
    assert len(trials) == 7
    assert trials[1].predicted_speedup.mid == 1.5 and trials[1].speedup.median == pytest.approx(2.0)
    assert base_run.report().trials == trials


def test_it_ends_where_nothing_pays(fly_on):
    flight, session, profiled = fly_on(Machine({}), proposing("gc.control=freeze"))
    assert not flight.kept and flight.combined is None and not profiled
    assert "nothing that is left" in flight.ended
    result = flight_file(session, flight)
    assert result.summary == "Nothing was kept: 1 change tried, none is proven to pay."
    assert result.patch == "" and result.command == ""


def test_semantic_and_ceiling_knobs_are_left_alone_unless_asked_for(fly_on):
    machine = Machine({"batch.size": 2.0, "loader.replay_batches": 9.0})
    propose = proposing("batch.size=64", "loader.replay_batches=2")
    assert not fly_on(machine, propose)[0].attempts
    tried = fly_on(machine, propose, allow_semantic=True)[0].attempts
    assert [attempt.prescription.knob for attempt in tried] == ["batch.size=64"]


def test_the_budget_ends_it(fly_on):
    # GIVEN runs of five seconds each, and a minute
    knobs = [f"loader.prefetch_factor={number}" for number in range(2, 12)]
    flight, _, _ = fly_on(Machine({}), proposing(*knobs), budget_s=60.0)

    # THEN no trial is begun that could not measure its three pairs
    assert 1 <= len(flight.attempts) <= 2
    assert "budget" in flight.ended


def test_the_last_thing_to_try_may_take_all_that_is_left_of_the_budget(fly_on):
    def pairs_of_the_first(*knobs):
        wandering = cycle([1.0, 1.5, 0.8, 1.2, 1.1, 0.7, 1.3])
        machine = Machine({}, noise=lambda: next(wandering))
        flight, _, _ = fly_on(machine, proposing(*knobs), budget_s=80.0)
        return flight.attempts[0].outcome.trial.pairs

    # GIVEN a machine that wanders, pairs of ten seconds and a budget of eighty
    # WHEN there is something else to try THEN the first takes half of it, else all
    assert pairs_of_the_first("gc.control=freeze", "debug.off=true") == 4
    assert pairs_of_the_first("gc.control=freeze") == 8


def test_a_changed_diagnosis_changes_what_is_tried(fly_on):
    # GIVEN that another bottleneck shows once the first is gone
    def propose(found, exclude):
        knobs = ["optimizer.fused=true"] if "loader.num_workers=2" in exclude else ["loader.num_workers=2"]
        return [prescription(knob) for knob in knobs if knob not in exclude]

    flight, _, _ = fly_on(Machine({"loader.num_workers": 2.0, "optimizer.fused": 1.5}), propose)
    assert [attempt.prescription.knob for attempt in flight.attempts] == [
        "loader.num_workers=2",
        "optimizer.fused=true",
    ]


def test_it_does_not_go_on_for_ever(fly_on, monkeypatch):
    monkeypatch.setattr(autopilot, "MOST_ATTEMPTS", 3)
    flight, _, _ = fly_on(
        Machine({}), lambda found, exclude: [prescription(f"loader.prefetch_factor={len(exclude) + 1}")]
    )
    assert len(flight.attempts) == 3


def test_the_command_can_be_pasted(fly_on):
    flight, session, _ = fly_on(Machine({"loader.num_workers": 2.0}), proposing("loader.num_workers=2"))
    result = flight_file(session, flight)
    assert result.command == "trainrx run --knob loader.num_workers=2 -- python train.py"
    assert '"loader.num_workers": "2"' in result.environment["TRAINRX_AGENT"]
    assert "write it yourself: DataLoader(..., num_workers=2)" in result.patch_notes[0]
    assert "2.00×" in summary(flight)
    assert (session.run.path / "trials" / "autopilot.json").is_file()


def test_an_interruption_while_it_profiles_again_ends_it(fly_on):
    # GIVEN a change that is proven, and somebody who presses Ctrl-C while the changed script is profiled
    run = report().run.model_copy(update={"status": RunStatus.INTERRUPTED})
    machine = Machine({"loader.num_workers": 2.0, "optimizer.fused": 1.5})
    found = report().model_copy(update={"run": run})
    flight, _, _ = fly_on(machine, proposing("loader.num_workers=2", "optimizer.fused=true"), found=found)
    # THEN it tries nothing more, keeps what was proven, and runs the script no further time
    assert flight.interrupted and len(flight.attempts) == 1 and flight.combined is None
    assert flight.kept.texts == {"loader.num_workers": "2"}


def test_an_interruption_between_two_trials_keeps_what_was_proven(fly_on):
    # GIVEN somebody who presses Ctrl-C while the next change is chosen
    def propose(found, exclude):
        if exclude:
            raise KeyboardInterrupt
        return [prescription("loader.num_workers=2")]

    flight, session, _ = fly_on(Machine({"loader.num_workers": 2.0}), propose)

    # THEN the proven change is handed over, and the command that has it
    assert flight.interrupted and flight.kept.texts == {"loader.num_workers": "2"}
    assert (
        flight_file(session, flight).command == "trainrx run --knob loader.num_workers=2 -- python train.py"
    )


def test_an_interruption_of_the_last_measurement_is_one(fly_on):
    # GIVEN two proven changes, and Ctrl-C while both are measured together
    class Interrupted(Machine):
        def __call__(self, script, choice):
            arm = super().__call__(script, choice)
            both = len(choice.texts) == 2 and {} in self.ran[-2:]
            return replace(arm, step_s=None, interrupted=True) if both else arm

    machine = Interrupted({"loader.num_workers": 2.0, "optimizer.fused": 1.5})
    flight, _, _ = fly_on(machine, proposing("loader.num_workers=2", "optimizer.fused=true"))
    assert flight.interrupted and flight.combined is None and len(flight.kept.texts) == 2


def test_a_change_whose_losses_nobody_saw_is_kept_with_that_said(fly_on):
    flight, _, _ = fly_on(
        Machine({"gc.control": 2.0}, losses={"gc.control": {}}), proposing("gc.control=freeze")
    )
    (attempt,) = flight.attempts
    assert attempt.kept
    assert (
        attempt.why
        == "it is faster; losses not comparable: no backward of the script was seen, so no loss is known"
    )

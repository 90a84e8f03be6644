"""The autopilot: tries the best prescription, keeps it if it is proven, profiles again, until nothing pays.

What to try comes from outside (``propose``), so that this file knows no bottleneck. It never keeps a change that is not
proven faster, or whose losses differ.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...profiler.analysis import analyse
from ...profiler.launch import Limits, Setting, record
from ...profiler.report import Prescription, Report
from ...profiler.vocabulary import RunStatus
from ..replayed import with_what_ifs
from .knob_choice import NOTHING, Choice, choose
from .loss_guard import LossOutcome
from .measure import Plan
from .session import Outcome, TrialSession
from .verdict import Verdict

Propose = Callable[[Report, Collection[str]], list[Prescription]]
Profile = Callable[[Choice], Report]

MOST_ATTEMPTS = 24
#: Of what is left of the budget, one trial may take this share while there is something else to try.
SHARE_OF_REST = 0.5


@dataclass(frozen=True)
class Attempt:
    """One prescription that was tried: what was measured, whether it was kept, and why not."""

    prescription: Prescription
    outcome: Outcome
    kept: bool
    why: str


@dataclass(frozen=True)
class Flight:
    """What the autopilot did.

    Attributes:
        attempts: in order.
        kept: all changes that were kept.
        combined: all of them together against the original script; None where nothing was kept.
        ended: why it stopped.
        interrupted: somebody stopped it.
    """

    attempts: tuple[Attempt, ...]
    kept: Choice
    combined: Outcome | None
    ended: str
    interrupted: bool = False


@dataclass
class _State:
    report: Report
    kept: Choice = NOTHING
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    tried: set[str] = field(default_factory=set[str])


def fly(
    session: TrialSession,
    propose: Propose,
    *,
    budget_s: float,
    allow_semantic: bool = False,
    profile: Profile | None = None,
    on_attempt: Callable[[Attempt], None] = lambda attempt: None,
    clock: Callable[[], float] = time.monotonic,
) -> Flight:
    """Improve a run as far as its prescriptions and the budget go.

    Args:
        session: the run.
        propose: what to try next, the best first, given the report as it stands and what was tried.
        budget_s: seconds for all of it.
        allow_semantic: also try changes that alter what the model learns.
        profile: records the script with changes and diagnoses it; for tests.
        on_attempt: told of each attempt that is over.
        clock: seconds; for tests.
    """
    started = clock()
    profile = profile or (lambda choice: profile_with(session, choice))
    state = _State(session.report)
    whole_plan = session.plan
    try:
        while True:
            rest = budget_s - (clock() - started)
            ended, candidates = _next(state, propose, session, rest, allow_semantic)
            if not candidates:
                break
            session.plan = _within(whole_plan, rest * SHARE_OF_REST if len(candidates) > 1 else rest)
            attempt = _attempt(session, state, candidates[0])
            on_attempt(attempt)
            _end_if(attempt.outcome.measurement.verdict is Verdict.INTERRUPTED)
            if attempt.kept:
                state.report = profile(state.kept)
                _end_if(state.report.run.status is RunStatus.INTERRUPTED)
        session.plan = _within(whole_plan, max(budget_s - (clock() - started), 0.0))
        combined = _combine(session, state)
        _end_if(combined is not None and combined.measurement.verdict is Verdict.INTERRUPTED)
        return Flight(tuple(state.attempts), state.kept, combined, ended)
    except KeyboardInterrupt:
        return Flight(tuple(state.attempts), state.kept, None, "it was interrupted", interrupted=True)


def _end_if(interrupted: bool) -> None:
    """A recording that somebody ended is reported as ended in good order."""
    if interrupted:
        raise KeyboardInterrupt


def _next(
    state: _State, propose: Propose, session: TrialSession, rest_s: float, allow_semantic: bool
) -> tuple[str, list[Prescription]]:
    """What is left to try, the best first, or why there is nothing."""
    if len(state.attempts) >= MOST_ATTEMPTS:
        return f"{MOST_ATTEMPTS} changes were tried", []
    if rest_s < _least_cost_s(state, session):
        return "the budget would end before another trial could (--budget allows more)", []
    proposed = propose(state.report, frozenset(state.tried))
    candidates = [one for one in proposed if _may_be_tried(one, state, allow_semantic)]
    return "" if candidates else "nothing that is left to try can be put on from outside", candidates


def _may_be_tried(prescription: Prescription, state: _State, allow_semantic: bool) -> bool:
    knob = prescription.knob
    if knob is None or knob in state.tried:
        return False
    choice = choose([knob])
    if choice.is_ceiling or any(state.kept.texts.get(name) == text for name, text in choice.texts.items()):
        return False
    return allow_semantic or choice.equivalence != "semantic"


def _least_cost_s(state: _State, session: TrialSession) -> float:
    """What the fewest pairs would take, by the last trial's runs; nothing is known before the first."""
    for attempt in reversed(state.attempts):
        arms = attempt.outcome.measurement.arms
        if arms:
            mean_s = sum(arm.seconds for arm in arms) / len(arms)
            return 2 * session.plan.pairs * mean_s
    return 0.0


def _within(plan: Plan, budget_s: float) -> Plan:
    return replace(plan, budget_s=min(plan.budget_s, budget_s))


def _attempt(session: TrialSession, state: _State, prescription: Prescription) -> Attempt:
    assert prescription.knob is not None
    state.tried.add(prescription.knob)
    change = choose([prescription.knob])
    outcome = session.try_(change, kept=state.kept, prescription=prescription)
    kept = outcome.measurement.is_proven
    if kept:
        state.kept = state.kept.with_(change)
    attempt = Attempt(prescription, outcome, kept, why(outcome) if kept else why_not(outcome))
    state.attempts.append(attempt)
    return attempt


def why(outcome: Outcome) -> str:
    """What speaks for a change that was kept."""
    losses = outcome.measurement.losses
    if losses.outcome is LossOutcome.NOT_COMPARABLE:
        return f"it is faster; losses {losses}"
    return f"it is faster, losses are {losses.outcome}"


def why_not(outcome: Outcome) -> str:
    """Why a change was not kept."""
    measurement = outcome.measurement
    if measurement.losses.outcome is LossOutcome.DIFFER:
        return f"losses {measurement.losses}"
    if measurement.verdict is Verdict.NO_EVIDENCE:
        return "no evidence that it is faster" + (f": {measurement.reason}" if measurement.reason else "")
    if measurement.verdict is Verdict.WORSE:
        return "it is slower"
    return measurement.reason


def _combine(session: TrialSession, state: _State) -> Outcome | None:
    """Measure all that was kept against the original; one change alone was measured so already."""
    kept = [attempt for attempt in state.attempts if attempt.kept]
    if not kept:
        return None
    return kept[0].outcome if len(kept) == 1 else session.try_(state.kept)


def profile_with(session: TrialSession, choice: Choice) -> Report:
    """Record and diagnose the script with changes on; the recording is kept in the run's ``trials/profiles``."""
    script = session.script
    runs_dir: Path = session.run.path / "trials" / "profiles"
    runs_dir.mkdir(parents=True, exist_ok=True)
    limits = Limits(seconds=None, patience_s=script.limits.patience_s)
    with (runs_dir / "output.log").open("ab") as output:
        run = record(
            script.command,
            runs_dir=runs_dir,
            limits=limits,
            setting=Setting(knobs=choice.texts, own_session=True, cwd=script.cwd),
            stdout=output,
            stderr=output,
        )
    report = with_what_ifs(analyse(run).report, run.path)
    run.write_report(report)
    return report

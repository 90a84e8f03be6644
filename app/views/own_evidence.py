"""What outputs show of our own trials of a method; measured here, on the user's scripts. No drawing, no printing."""

from __future__ import annotations

from ...advisor.trial.own_evidence import OwnEvidence
from ...advisor.trial.verdict import Verdict
from ...catalog import Method
from . import format as text


def own_evidence_sentence(found: OwnEvidence, method: Method) -> str:
    """What the trials say together, or how to get one."""
    middle = found.median_speedup
    if middle is None:
        knob = method.how.knob
        return (
            "no trial of it here yet"
            + (f"; `trainrx try RUN {knob}=VALUE` makes one" if knob else ", and no knob puts it on from outside")
            + "."
        )  # fmt: skip
    counts = ", ".join(
        f"{found.count(verdict)} {verdict}"
        for verdict in (Verdict.BETTER, Verdict.WORSE, Verdict.NO_EVIDENCE)
        if found.count(verdict)
    )
    trials = f"{len(found.trials)} trial{'s' if len(found.trials) != 1 else ''}"
    return f"{trials}, {counts}; median {text.times(middle)}."


def own_evidence_table(found: OwnEvidence) -> list[dict[str, str]]:
    """One row per trial."""
    return [
        {
            "verdict": trial.verdict,
            "measured": f"{text.times(trial.speedup.median)} "
            f"({text.times(trial.speedup.low)} to {text.times(trial.speedup.high)})",
            "change": trial.change,
            "pairs": str(trial.pairs),
            "losses": trial.losses,
            "run": trial.run,
        }
        for trial in found.trials
    ]

"""Builds a finding from a stage's share, so that every rule states the same things in the same way."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding, HostLine, Where
from ..vocabulary import Kind, Stage
from .thresholds import STEP_LEVELS, confidence

#: The bound of a finding by itself; on a busy CPU the rest of a step gets shorter too, which predictions count.
ALONE = "speed-up if only this time went"


def stage_finding(
    observation: Observation,
    kind: Kind,
    *stages: Stage,
    cause: str | None,
    summary: str,
    where: tuple[Where, ...] = (),
    evidence: tuple[Fact, ...] = (),
) -> Finding | None:
    """A finding that rests on the time of whole stages; None below the kind's threshold."""
    return timed_finding(
        observation,
        kind,
        observation.seconds(*stages),
        cause=cause,
        summary=summary,
        where=where,
        evidence=evidence,
    )


def timed_finding(
    observation: Observation,
    kind: Kind,
    seconds: float,
    *,
    cause: str | None,
    summary: str,
    where: tuple[Where, ...] = (),
    evidence: tuple[Fact, ...] = (),
    basis: str = "measured",
) -> Finding | None:
    """A finding that rests on some seconds of every step; None below the kind's threshold.

    ``basis`` is ``derived`` where the seconds are an estimate.
    """
    share = seconds / observation.step_s if observation.step_s > 0 else 0.0
    grade = STEP_LEVELS[kind].severity(share)
    if grade is None:
        return None
    return Finding(
        kind=kind,
        family=kind.family,
        cause=cause,
        share=share,
        ms_per_step=seconds * 1e3,
        severity=grade,
        confidence=confidence(observation.measured_steps),
        where=list(where),
        evidence=[
            share_of_step(share, basis=basis),
            Fact(name="time per step", value=seconds * 1e3, unit="ms", basis=basis),
            speedup_alone(share),
            *evidence,
        ],
        summary=summary,
    )


def share_of_step(share: float, *, basis: str) -> Fact:
    """What a finding takes of a step."""
    return Fact(name="share of step", value=share, basis=basis)


def speedup_alone(share: float) -> Fact:
    """How much faster a step would be without this share of it."""
    return Fact(name=ALONE, value=1 / max(1 - share, 1e-3), unit="×", basis="derived")


def places(lines: tuple[HostLine, ...]) -> tuple[Where, ...]:
    """Sampled lines as places of a finding, each once."""
    found = (Where(file=line.file, line=line.line, function=line.function) for line in lines)
    return tuple(dict.fromkeys(found))


def ms(seconds: float) -> str:
    """Seconds for a sentence: ``33.6 ms``, ``0.42 ms``, ``1.2 s``."""
    if seconds >= 1.0:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 0.001 else f"{seconds * 1e3:.2f} ms"


def percent(share: float) -> str:
    """A share for a sentence: ``73 %``, ``2.4 %``."""
    return f"{share * 100:.0f} %" if share >= 0.1 else f"{share * 100:.1f} %"


def place(lines: tuple[HostLine, ...]) -> str:
    """Where, for the end of a sentence: `` at train.py:12 (load)``; empty if it is not known."""
    if not lines:
        return ""
    line = lines[0]
    return f" at {short_path(line.file)}:{line.line} ({line.function})"


def short_path(file: str) -> str:
    """The last two parts of a path, enough to recognise a file."""
    return "/".join(file.replace("\\", "/").split("/")[-2:])

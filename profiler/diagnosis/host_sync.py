"""The host waits for its GPU, at every launch or to read values back, so that the device waits to be fed anew."""

from __future__ import annotations

from collections.abc import Sequence

from ..observation import Observation
from ..report import Crossing, Fact, Finding, Where
from ..vocabulary import Call, Confidence, Kind, Stage
from .finding import ms, percent, short_path, timed_finding
from .thresholds import LAUNCH_BLOCKING_SHARE

_SWITCH = "env.cuda_launch_blocking"
SHOWN_LINES = 3
_CAUSES = {
    Call.ITEM: "item-every-step",
    Call.CONDITION: "tensor-as-condition",
    Call.TO_HOST: "copy-to-host",
    Call.SHAPE: "value-dependent-shape",
    Call.SYNCHRONIZE: "synchronize-call",
    Call.EMPTY_CACHE: "empty-cache-in-loop",
}


def find(observation: Observation) -> Finding | None:
    """Launches that all wait, else the calls that do."""
    return _launch_blocking(observation) or _reading_back(observation)


def _launch_blocking(observation: Observation) -> Finding | None:
    """Launches that block, where a GPU computes; their cost is taken as a part of the model's and optimizer's time."""
    setup = observation.setup
    if setup.get(_SWITCH) is not True or setup.get("device.kind") not in ("cuda", "rocm"):
        return None
    seconds = LAUNCH_BLOCKING_SHARE * observation.seconds(Stage.FORWARD, Stage.BACKWARD, Stage.OPTIMIZER)
    found = timed_finding(
        observation,
        Kind.HOST_SYNC,
        seconds,
        cause="launch-blocking",
        basis="derived",
        summary=(
            f"CUDA_LAUNCH_BLOCKING=1 has the host wait for the device at every launch: perhaps {ms(seconds)} of every "
            f"step ({percent(seconds / observation.step_s)})."
        ),
        evidence=(Fact(name=_SWITCH, value=True, basis="setup"),),
    )
    return None if found is None else found.model_copy(update={"confidence": Confidence.LOW})


def _reading_back(observation: Observation) -> Finding | None:
    """What waiting calls expose: never more than they take, nor than the device waits for the host.

    Without them the host could run ahead and hide its own time behind the device's work, or the other way round: of
    the step remains the longer of the two, so the shorter of what each of them waits is what can go.
    """
    waits = waiting(observation.crossings)
    if observation.device_wait_s is None or not waits:
        return None
    waited_s = sum(one.seconds_per_step or 0.0 for one in waits)
    seconds = min(waited_s, observation.device_wait_s)
    first = waits[0]
    return timed_finding(
        observation,
        Kind.HOST_SYNC,
        seconds,
        cause=_CAUSES[first.call],
        summary=(
            f"The host waits {ms(waited_s)} of every step for the GPU, mostly at "
            f"{short_path(first.file)}:{first.line} ({first.call.label}); so it cannot run ahead, and the GPU waits "
            f"for it {ms(observation.device_wait_s)} of the step ({percent(seconds / observation.step_s)} can go)."
        ),
        where=_places(waits),
        evidence=(
            *_facts(waits),
            Fact(name="GPU waits for the host", value=observation.device_wait_s * 1e3, unit="ms"),
        ),
    )


def waiting(crossings: Sequence[Crossing]) -> list[Crossing]:
    """The calls that were seen to make the host wait, longest first."""
    return [one for one in crossings if one.call in _CAUSES and one.seconds_per_step is not None]


def placed(finding: Finding, crossings: Sequence[Crossing]) -> Finding:
    """A finding on waiting calls with their lines and cause, where it has none, as that of a trace."""
    waits = waiting(crossings)
    if finding.kind is not Kind.HOST_SYNC or finding.where or not waits:
        return finding
    return finding.model_copy(
        update={
            "cause": _CAUSES[waits[0].call],
            "where": list(_places(waits)),
            "evidence": [*finding.evidence, *_facts(waits)],
        }
    )


def _places(waits: Sequence[Crossing]) -> tuple[Where, ...]:
    return tuple(Where(file=one.file, line=one.line, function=one.function) for one in waits[:SHOWN_LINES])


def _facts(waits: Sequence[Crossing]) -> list[Fact]:
    facts = [
        Fact(
            name=f"{one.call.value} at {one.file}:{one.line}",
            value=(one.seconds_per_step or 0.0) * 1e3,
            unit="ms",
        )
        for one in waits[:SHOWN_LINES]
    ]
    counts = [one.calls_per_step for one in waits if one.calls_per_step is not None]
    return [*facts, Fact(name="waiting calls per step", value=sum(counts))] if counts else facts

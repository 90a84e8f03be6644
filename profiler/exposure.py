"""What of a rank's time costs time: on a CPU all of it; on a GPU what its device worked for, and where it waited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .recording import RankRecording
from .report import Crossing, DeviceStageInfo, HostLine
from .timeline.crossings import crossings
from .timeline.device_stages import device_stages
from .timeline.host import host_lines
from .timeline.interruptions import Interruptions, compilations, garbage_pauses
from .timeline.stages import StageTimes
from .timeline.steps import Steps
from .vocabulary import Stage

GPUS = ("cuda", "rocm")


@dataclass(frozen=True)
class Exposure:
    """The mean timed step as the rules look at it.

    Attributes:
        stages: exclusive seconds per step.
        lines: of the host, at times that cost time.
        garbage, compilation: interruptions at such times.
        crossings: on a GPU, the calls that copy to it and from it and wait for it.
        device: by the clock of the GPU; None where that was not read, ``reason`` says why.
    """

    stages: Mapping[Stage, float]
    lines: tuple[HostLine, ...]
    garbage: Interruptions
    compilation: Interruptions
    crossings: tuple[Crossing, ...] = ()
    device: DeviceStageInfo | None = None
    reason: str | None = None


def exposure(
    recording: RankRecording,
    steps: Steps,
    stages: StageTimes,
    setup: Mapping[str, Any],
    lines: tuple[HostLine, ...],
) -> Exposure:
    """What the timed steps of a rank spend, by the device's clock where there is one, else as the host saw it."""
    if not is_on_gpu(setup):
        return _of(recording, steps, stages, lines, reason="this run used no GPU")
    found = device_stages(recording, steps, stages)
    info = None if found is None else found.info(steps)
    if found is None or info is None:
        seen = _of(recording, steps, stages, lines, reason="no timed step was measured on the device")
    else:
        waited = tuple(host_lines(recording, found.steps(steps), found.exposed))
        seen = _of(recording, found.steps(steps), found.exposed, waited, device=info)
    return replace(seen, crossings=tuple(crossings(recording, steps, stages)))


def is_on_gpu(setup: Mapping[str, Any]) -> bool:
    """Whether the model is known to lie on a GPU."""
    return setup.get("device.kind") in GPUS


def _of(
    recording: RankRecording,
    steps: Steps,
    stages: StageTimes,
    lines: tuple[HostLine, ...],
    *,
    device: DeviceStageInfo | None = None,
    reason: str | None = None,
) -> Exposure:
    return Exposure(
        stages=stages.per_step(steps.timed),
        lines=lines,
        garbage=garbage_pauses(recording, steps, stages),
        compilation=compilations(recording, steps, stages),
        device=device,
        reason=reason,
    )

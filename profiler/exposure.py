"""What of a rank's time costs time: on a CPU all of it; on a GPU what its device worked for, and where it waited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .recording import RankRecording
from .report import DeviceStageInfo, HostLine
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
        device: by the clock of the GPU; None where that was not read, ``reason`` says why.
    """

    stages: Mapping[Stage, float]
    lines: tuple[HostLine, ...]
    garbage: Interruptions
    compilation: Interruptions
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
    reason = "this run used no GPU"
    if setup.get("device.kind") in GPUS:
        found = device_stages(recording, steps, stages)
        info = None if found is None else found.info(steps)
        if found is not None and info is not None:
            waited = tuple(host_lines(recording, found.steps(steps), found.exposed))
            return _of(recording, found.steps(steps), found.exposed, waited, device=info)
        reason = "no timed step was measured on the device"
    return _of(recording, steps, stages, lines, reason=reason)


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

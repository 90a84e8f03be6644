"""The host waits for its device at every launch, because the environment says so. Other waiting only a device tells."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Confidence, Kind, Stage
from .finding import ms, percent, timed_finding
from .thresholds import LAUNCH_BLOCKING_SHARE

_SWITCH = "env.cuda_launch_blocking"


def find(observation: Observation) -> Finding | None:
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
        summary=(
            f"CUDA_LAUNCH_BLOCKING=1 has the host wait for the device at every launch: perhaps {ms(seconds)} of every "
            f"step ({percent(seconds / observation.step_s)})."
        ),
        evidence=(Fact(name=_SWITCH, value=True, basis="setup"),),
    )
    return None if found is None else found.model_copy(update={"confidence": Confidence.LOW})

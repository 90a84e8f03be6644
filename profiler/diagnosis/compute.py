"""Forward and backward fill the step: the model itself is what the run waits for."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..setup_facts import ranks_here
from ..vocabulary import Kind, Stage
from .finding import ms, percent, stage_finding
from .thresholds import FREE_MEMORY_SHARE, RECOMPUTED_SHARE

#: The cause where nothing but the model's own work is known.
MODEL_COMPUTE = "model-compute"
#: Name of the fact that says how long parts of the model are computed a second time.
RECOMPUTED = "computed a second time"


def find(observation: Observation) -> Finding | None:
    """Time in the model, as a note: it is the work that a step is for, unless it is done twice for nothing."""
    share = observation.share(Stage.FORWARD, Stage.BACKWARD)
    twice_s = _needless_s(observation)
    why = (
        "the run is busy with the model itself"
        if twice_s is None
        else f"{ms(twice_s)} of it go to activations that are computed again, though memory is free to keep them"
    )
    return stage_finding(
        observation,
        Kind.COMPUTE,
        Stage.FORWARD,
        Stage.BACKWARD,
        cause=MODEL_COMPUTE if twice_s is None else "needless-recomputation",
        summary=(
            f"Forward and backward take {ms(observation.seconds(Stage.FORWARD, Stage.BACKWARD))} of every "
            f"step ({percent(share)}): {why}."
        ),
        evidence=() if twice_s is None else (Fact(name=RECOMPUTED, value=twice_s * 1e3, unit="ms"),),
    )


def _needless_s(observation: Observation) -> float | None:
    """Seconds of recomputing where most of the memory is free; None where there are none such."""
    used, seconds = _used_share(observation), observation.recomputation_s
    if used is None or used > 1 - FREE_MEMORY_SHARE or seconds < RECOMPUTED_SHARE * observation.step_s:
        return None
    return seconds


def _used_share(observation: Observation) -> float | None:
    """What is taken of the memory that activations lie in: the GPU's, else the machine's, which its ranks share."""
    if observation.device_memory is not None:
        return observation.device_memory.limit_share
    share = None if observation.memory is None else observation.memory.limit_share
    setup = observation.setup
    return None if share is None or setup.get("device.kind") != "cpu" else share * ranks_here(setup)

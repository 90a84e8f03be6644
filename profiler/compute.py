"""Operations of a step over its time, held against the calibrated ceiling of the machine it ran on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .calibration import Ceilings, MatmulRate, kept_ceilings, machine_key
from .facts import number, text
from .recording import RankRecording
from .report import Compute, StepTime

#: Under this name the manifest keeps a digest of the machine among its versions.
MACHINE = "machine"
TENSOR_FLOAT = "tfloat32"
_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
_FASTER = "the model computes faster than the calibration did: repeat `trainrx check --calibrate` on a quiet machine"
_CALIBRATE = "`trainrx check --calibrate` measures it"


def compute(
    recording: RankRecording,
    step_time: StepTime,
    setup: Mapping[str, Any],
    *,
    recorded_on: str | None,
    ceilings: Ceilings | None = None,
) -> Compute:
    """What a rank computes in a step, per second, and as a share of the machine's ceiling (MFU).

    Args:
        recording: the rank.
        step_time: of its timed steps; operations per second are those of the median step.
        setup: facts on device, precision and threads.
        recorded_on: digest of the machine that recorded it.
        ceilings: what the machine can; what is kept for this one if left out.
    """
    told = recording.facts.get("flops", [])
    flops = number(told[-1], "flops") if told else None
    if flops is None or flops <= 0:
        return Compute(reason=_why_uncounted(told[-1] if told else None))
    achieved = flops / step_time.p50_s
    known = Compute(flops_per_step=flops, achieved_flops=achieved)
    if recorded_on != machine_key():
        return known.model_copy(update={"reason": "the run was recorded on another machine than this"})
    found = _ceiling(ceilings or kept_ceilings(), setup)
    if isinstance(found, str):
        return known.model_copy(update={"reason": found})
    if achieved > found.flops_per_s:
        return known.model_copy(update={"reason": _FASTER})
    return known.model_copy(
        update={
            "ceiling_flops": found.flops_per_s,
            "ceiling": _name(found),
            "mfu": achieved / found.flops_per_s,
        }
    )


def _why_uncounted(told: Mapping[str, Any] | None) -> str:
    if told is None:
        return "operations were not counted: that takes the deep window, which --light leaves out"
    if "flops" in told:
        return "no matrix product, convolution or attention ran outside compiled or captured graphs"
    return text(told, "reason") or "operations were not counted"


def _ceiling(ceilings: Ceilings | None, setup: Mapping[str, Any]) -> MatmulRate | str:
    """The ceiling for a setup, or why there is none."""
    if ceilings is None:
        return f"the ceiling of this machine is not known: {_CALIBRATE}"
    kind, dtype = setup.get("device.kind"), _dtype(setup)
    if kind is None or dtype is None:
        return "the numeric type of the model is not known"
    device = "cpu" if kind == "cpu" else "cuda"
    found = ceilings.matmul_rate(device=device, dtype=dtype, threads=setup.get("cpu.threads"))
    return found or f"the ceiling for {dtype} on this setup is not known: {_CALIBRATE}"


def _dtype(setup: Mapping[str, Any]) -> str | None:
    dtype = _DTYPES.get(str(setup.get("precision")))
    may_round = setup.get("torch.matmul_precision") in ("high", "medium")
    return TENSOR_FLOAT if dtype == "float32" and may_round and setup.get("device.kind") != "cpu" else dtype


def _name(rate: MatmulRate) -> str:
    threads = "" if rate.threads is None else f" with {rate.threads} threads"
    return f"{rate.dtype} matrix products on {rate.device}{threads}"

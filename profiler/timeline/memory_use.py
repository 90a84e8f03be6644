"""What the memory of a training is used for: on a GPU by the allocator's own numbers, on a CPU by the process's.

Parameters, gradients and optimizer state were counted from the tensors; what the peak has beyond them are activations
and workspace on a GPU, and everything else in the process on a CPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..agent import format as layout
from ..facts import text, whole
from ..recording import RankRecording
from ..report import MemoryCurveInfo, MemoryPart, MemoryUse
from .memory import POINTS, highest_of_each_stretch
from .process_memory import ProcessMemory, over_steps
from .steps import Steps

#: Of a GPU's memory, the share that a batch may fill: beyond it allocations are retried.
SAFE_SHARE = 0.92
HELD = ("parameters", "gradients", "optimizer_state")
ACTIVATIONS, REST = "activations and workspace", "everything else in the process"
_LABELS = {"parameters": "parameters", "gradients": "gradients", "optimizer_state": "optimizer state"}


@dataclass(frozen=True)
class DeviceMemory:
    """The allocator of a GPU over the run.

    Attributes:
        growth: its peak so far over the steps, with the device's memory as the limit.
        reserved_peak_bytes: the most that the allocator had taken from the device.
        inactive_split_bytes: the most that was free, in blocks of which a part is in use.
        retries: how often it had to give everything back and ask again, within the timed steps.
        out_of_memory: how often even that did not help, from the timed steps to the end of the recording.
        outside_bytes: used on the device by something else than the allocator; None where that is not known.
    """

    growth: ProcessMemory
    reserved_peak_bytes: int
    inactive_split_bytes: int
    retries: int
    out_of_memory: int
    outside_bytes: int | None

    @property
    def allocated_peak_bytes(self) -> int:
        """The most that tensors took."""
        return self.growth.peak_bytes

    @property
    def limit_share(self) -> float | None:
        """What is taken from the device at the peak against what it has, 0 to 1."""
        total = self.growth.limit_bytes
        return (self.reserved_peak_bytes + (self.outside_bytes or 0)) / total if total else None


def device_memory(recording: RankRecording, steps: Steps, *, used_bytes: int | None) -> DeviceMemory | None:
    """The allocator's numbers; None where they were not read. ``used_bytes``: on the device at most, by NVML."""
    rows = [
        fact
        for fact in recording.facts.get("memory", [])
        if whole(fact, "device_allocated_bytes") is not None
    ]
    if not rows:
        return None
    device = recording.facts.get("device", [])
    growth = over_steps(
        recording,
        [(t, peak) for row in rows if (t := whole(row, "t")) is not None
         and (peak := whole(row, "device_allocated_peak_bytes")) is not None],
        steps,
        limit_bytes=whole(device[-1], "memory_bytes") if device else None,
    )  # fmt: skip
    if growth is None:
        return None
    reserved = _most(rows, "device_reserved_peak_bytes")
    return DeviceMemory(
        growth=growth,
        reserved_peak_bytes=reserved,
        inactive_split_bytes=_most(rows, "device_inactive_split_bytes"),
        retries=_added(rows, "device_retries", steps),
        out_of_memory=_added(rows, "device_out_of_memory", steps, to_the_end=True),
        outside_bytes=None if used_bytes is None else max(used_bytes - reserved, 0),
    )


def _most(rows: list[dict[str, Any]], key: str) -> int:
    return max((whole(row, key) or 0 for row in rows), default=0)


def _added(rows: list[dict[str, Any]], key: str, steps: Steps, *, to_the_end: bool = False) -> int:
    """How far a counter came within the timed steps, or from them to the last reading.

    What it showed at the first reading, if that came after the first timed step began, is none of theirs.
    """
    timed = np.flatnonzero(steps.timed)
    if not len(timed):
        return 0
    begins, ends = int(steps.start_ns[timed[0]]), int(steps.end_ns[timed[-1]])
    before = [whole(row, key) or 0 for row in rows if (whole(row, "t") or 0) < begins]
    until = [whole(row, key) or 0 for row in rows if to_the_end or (whole(row, "t") or 0) <= ends]
    first = before[-1] if before else whole(rows[0], key) or 0
    return max((until[-1] if until else 0) - first, 0)


def held_bytes(recording: RankRecording, *, on_device: bool) -> dict[str, int]:
    """Bytes of parameters, gradients and optimizer state, over all optimizers; empty where none was counted."""
    latest = {
        whole(fact, "optimizer"): fact
        for fact in recording.facts.get("holdings", [])
        if (text(fact, "device") not in ("cpu", "meta")) == on_device
    }
    if not latest:
        return {}
    held = {name: sum(max(whole(fact, name) or 0, 0) for fact in latest.values()) for name in HELD}
    held["parameters"] = max(held["parameters"], _largest_model(recording, on_device=on_device))
    return held


def _largest_model(recording: RankRecording, *, on_device: bool) -> int:
    """Bytes of the largest model, whose frozen parameters no optimizer knows; 0 where a rank may hold a part of it."""
    if (whole(recording.process, "world_size") or 1) > 1:
        return 0
    models = [
        whole(fact, "parameter_bytes") or 0
        for fact in recording.facts.get("model", [])
        if (text(fact, "device") not in ("cpu", "meta")) == on_device
    ]
    return max(models, default=0)


def memory_use(
    recording: RankRecording,
    process: ProcessMemory | None,
    device: DeviceMemory | None,
    setup: Mapping[str, Any],
) -> MemoryUse | None:
    """What fills the memory: of the GPU where its allocator was read, else of the process; None where neither was."""
    if device is not None:
        return _of_device(recording, device, setup)
    if process is None:
        return None
    held = held_bytes(recording, on_device=False)
    return MemoryUse(
        on_device=False,
        peak_bytes=process.peak_bytes,
        limit_bytes=process.limit_bytes,
        parts=_parts(held, process.peak_bytes, REST),
        growth_bytes_per_step=process.growth_bytes_per_step,
        steps_left=process.steps_left,
        largest_batch_reason="a process's memory does not tell which part of it grows with the batch",
    )


def _of_device(recording: RankRecording, device: DeviceMemory, setup: Mapping[str, Any]) -> MemoryUse:
    held = held_bytes(recording, on_device=True)
    growth = device.growth
    largest, reason = largest_batch(device, held, setup.get("loader.batch_size"))
    return MemoryUse(
        on_device=True,
        peak_bytes=growth.peak_bytes,
        limit_bytes=growth.limit_bytes,
        reserved_peak_bytes=device.reserved_peak_bytes,
        inactive_split_bytes=device.inactive_split_bytes,
        outside_bytes=device.outside_bytes,
        retries=device.retries,
        out_of_memory=device.out_of_memory,
        parts=_parts(held, growth.peak_bytes, ACTIVATIONS),
        growth_bytes_per_step=growth.growth_bytes_per_step,
        steps_left=growth.steps_left,
        largest_batch=largest,
        largest_batch_reason=reason,
    )


def _parts(held: Mapping[str, int], peak_bytes: int, rest: str) -> list[MemoryPart]:
    if not held:
        return []
    counted = [MemoryPart(name=_LABELS[name], bytes=size) for name, size in held.items()]
    return [*counted, MemoryPart(name=rest, bytes=max(peak_bytes - sum(held.values()), 0), basis="derived")]


def largest_batch(
    device: DeviceMemory, held: Mapping[str, int], batch_size: object
) -> tuple[int | None, str | None]:
    """The largest batch that is predicted to fit, or why nothing is predicted.

    All that the peak has beyond parameters, gradients and optimizer state is taken to grow with the batch, and the
    allocator to reserve as much more than is allocated as now; `SAFE_SHARE` of the device may be filled.
    """
    limit = device.growth.limit_bytes
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
        return None, "the size of a batch is not known"
    if not held or limit is None:
        return None, "what the memory is used for was not counted"
    fixed = sum(held.values())
    activations = device.allocated_peak_bytes - fixed
    if activations <= 0:
        return None, "the peak is no higher than what training always holds"
    reserved_per_allocated = max(device.reserved_peak_bytes / max(device.allocated_peak_bytes, 1), 1.0)
    room = (SAFE_SHARE * limit - (device.outside_bytes or 0)) / reserved_per_allocated - fixed
    return max(int(batch_size * room / activations), 0), None


def memory_curve(recording: RankRecording, steps: Steps) -> MemoryCurveInfo | None:
    """What the allocator of the GPU had in use whenever it was read; None where it was not."""
    rows = [
        (t, used)
        for fact in recording.facts.get("memory", [])
        if (t := whole(fact, "t")) is not None and (used := whole(fact, "device_allocated_bytes")) is not None
    ]
    if not rows or not len(steps):
        return None
    table = np.array(rows, dtype=np.int64)
    kept = highest_of_each_stretch(table[:, 1], POINTS)
    facts = recording.facts.get("memory", [])
    return MemoryCurveInfo(
        peak_allocated_bytes=_most(facts, "device_allocated_peak_bytes"),
        peak_reserved_bytes=_most(facts, "device_reserved_peak_bytes") or None,
        source=f"readings of PyTorch's allocator, in {layout.FACTS_FILE}",
        time_s=((table[kept, 0] - steps.start_ns[0]) / 1e9).tolist(),
        allocated_bytes=table[kept, 1].tolist(),
    )

"""The setup of a run: flat, dotted facts that diagnosis and catalog predicates ask for.

A fact that the run did not tell is absent, which means unknown, never false.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .agent import format as layout
from .facts import Facts, setting, whole
from .recording import RankRecording

_PROCESS_FACTS = {
    "device_kind": "device.kind",
    "device_name": "device.name",
    "torch": "torch.version",
    "python": "python.version",
    "platform": "platform",
    "cores": "cpu.cores",
    "threads": "cpu.threads",
    "world_size": "world_size",
}
_LOADER_FACTS = (
    "dataset", "length", "kind", "batch_size", "num_workers", "prefetch_factor", "persistent_workers", "pin_memory",
    "drop_last", "sampler", "collate_fn", "start_method",
)  # fmt: skip
_COUNTS = {
    "cores", "threads", "world_size", "length", "batch_size", "num_workers", "prefetch_factor", "tensors", "parameters",
}  # fmt: skip
_OPTIMIZER_FACTS = ("tensors", "parameters", "foreach", "fused")


def setup_facts(recording: RankRecording) -> dict[str, Any]:
    """What a rank told of its setup, by dotted name."""
    process = recording.process
    facts = _named(process, _PROCESS_FACTS)
    loader = training_loader(recording)
    if loader is not None:
        facts.update(_named(loader, {key: f"loader.{key}" for key in _LOADER_FACTS}))
    optimizers = recording.facts.get("optimizer", [])
    if optimizers:
        largest = max(optimizers, key=lambda fact: whole(fact, "parameters") or 0)
        facts.update(_named(largest, {"type": "optimizer.name"}))
        facts.update(_named(largest, {key: f"optimizer.{key}" for key in _OPTIMIZER_FACTS}))
        if len(optimizers) > 1:
            facts["optimizer.count"] = len(optimizers)
    return facts


def _named(fact: Facts, names: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a fact under their dotted names; what is missing or of the wrong type stays away."""
    values = ((name, (whole if key in _COUNTS else setting)(fact, key)) for key, name in names.items())
    return {name: value for name, value in values if value is not None}


def training_loader(recording: RankRecording) -> dict[str, Any] | None:
    """The loader that was fetched from most often; None where no ``DataLoader`` was used."""
    fetches = recording.of_code(layout.DATA_WAIT)[:, 3]
    told = ((whole(fact, "number"), fact) for fact in recording.facts.get("loader", []))
    loaders = {number: fact for number, fact in told if number is not None}
    if not loaders:
        return None
    counts = {number: int(np.count_nonzero(fetches == number)) for number in loaders}
    return loaders[max(counts, key=lambda number: counts[number])]

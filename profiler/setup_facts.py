"""The setup of a run: flat, dotted facts that diagnosis and catalog predicates ask for.

A fact that the run did not tell is absent, which means unknown, never false.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .agent import format as layout
from .recording import RankRecording

_PROCESS_FACTS = {
    "device_kind": "device.kind",
    "device_name": "device.name",
    "device_capability": "device.capability",
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
_OPTIMIZER_FACTS = ("tensors", "parameters", "foreach", "fused")
_MODEL_FACTS = ("type", "parameters", "parameter_bytes", "compiled", "channels_last")
_PARALLEL_FACTS = (
    "bucket_bytes_cap", "find_unused_parameters", "static_graph", "gradient_as_bucket_view", "broadcast_buffers",
    "gradient_bytes", "tensors",
)  # fmt: skip
_FLAGS = ("cudnn_benchmark", "matmul_precision", "deterministic", "anomaly_mode", "interop_threads")
_PRECISIONS = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


def setup_facts(recording: RankRecording) -> dict[str, Any]:
    """What a rank told of its setup, by dotted name."""
    process = recording.process
    facts = {name: process[key] for key, name in _PROCESS_FACTS.items() if process.get(key) is not None}
    facts |= _chosen("loader", training_loader(recording), _LOADER_FACTS)
    facts |= _optimizer_facts(recording)
    facts |= _model_facts(recording)
    facts |= _chosen("ddp", _last(recording, "parallel"), _PARALLEL_FACTS)
    facts |= _chosen("torch", _last(recording, "flags"), _FLAGS)
    inputs = _last(recording, "inputs")
    if inputs is not None:
        facts["batch.shapes"] = inputs.get("shapes")
        facts["batch.variable_length"] = _varies(inputs, facts)
    return facts


def training_loader(recording: RankRecording) -> dict[str, Any] | None:
    """The loader that was fetched from most often; None where no ``DataLoader`` was used."""
    fetches = recording.of_code(layout.DATA_WAIT)[:, 3] % layout.READY_UNIT
    loaders = {fact["number"]: fact for fact in recording.facts.get("loader", []) if "number" in fact}
    if not loaders:
        return None
    counts = {number: int(np.count_nonzero(fetches == number)) for number in loaders}
    return loaders[max(counts, key=lambda number: counts[number])]


def _chosen(prefix: str, fact: Mapping[str, Any] | None, keys: Iterable[str]) -> dict[str, Any]:
    if fact is None:
        return {}
    return {f"{prefix}.{key}": fact[key] for key in keys if fact.get(key) is not None}


def _last(recording: RankRecording, name: str) -> dict[str, Any] | None:
    found = recording.facts.get(name, [])
    return found[-1] if found else None


def _optimizer_facts(recording: RankRecording) -> dict[str, Any]:
    optimizers = recording.facts.get("optimizer", [])
    if not optimizers:
        return {}
    largest = max(optimizers, key=lambda fact: fact.get("parameters") or 0)
    facts = {"optimizer.name": str(largest.get("type")).lower(), "optimizer.class": largest.get("type")}
    return facts | {"optimizer.count": len(optimizers)} | _chosen("optimizer", largest, _OPTIMIZER_FACTS)


def _model_facts(recording: RankRecording) -> dict[str, Any]:
    """Of the largest model that was called in training."""
    models = [fact for fact in recording.facts.get("model", []) if fact.get("parameters")]
    if not models:
        return {}
    largest = max(models, key=lambda fact: fact["parameters"])
    facts = _chosen("model", largest, _MODEL_FACTS)
    facts["model.has"] = list(largest.get("traits") or [])
    numeric = largest.get("autocast") or next(iter(largest.get("dtypes") or []), None)
    precision = _PRECISIONS.get(str(numeric))
    if precision is not None:
        facts["precision"] = precision
    domain = _domain(facts["model.has"])
    return facts if domain is None else facts | {"task.domain": domain}


def _domain(traits: list[str]) -> str | None:
    """A cautious guess at what is learned from, by the layers; None where they do not tell."""
    if "embedding" in traits and "attention" in traits:
        return "nlp"
    return "vision" if "conv" in traits and "embedding" not in traits else None


def _varies(inputs: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """Whether inputs differ in shape from step to step; one odd shape is the last, smaller batch."""
    allowed = 1 if facts.get("loader.drop_last") else 2
    return int(inputs.get("distinct") or 0) > allowed

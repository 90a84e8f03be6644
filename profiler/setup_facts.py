"""The setup of a run: flat, dotted facts that diagnosis and catalog predicates ask for.

A fact that the run did not tell is absent, which means unknown, never false.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .agent import environment
from .agent import format as layout
from .facts import Facts, setting, text, texts, whole
from .recording import RankRecording
from .timeline.evaluation import evaluation_loaders

_PROCESS_FACTS = {
    "device_kind": "device.kind",
    "device_name": "device.name",
    "torch": "torch.version",
    "python": "python.version",
    "platform": "platform",
    "cores": "cpu.cores",
    "quota_cores": "cpu.quota_cores",
    "threads": "cpu.threads",
    "world_size": "world_size",
    "local_world_size": "local_world_size",
    "machine_cores": "cpu.machine_cores",
    "numa_nodes": "cpu.numa_nodes",
    "bf16": "cpu.bf16",
    "shared_memory_bytes": "memory.shared_bytes",
}
_DEVICE_FACTS = {
    "name": "device.name",
    "capability": "device.capability",
    "memory_bytes": "device.memory_bytes",
}
_LOADER_FACTS = (
    "dataset", "length", "kind", "batch_size", "num_workers", "prefetch_factor", "persistent_workers", "pin_memory",
    "drop_last", "sampler", "collate_fn", "start_method", "storage",
)  # fmt: skip
_COUNTS = {
    "cores", "threads", "world_size", "length", "batch_size", "num_workers", "prefetch_factor", "tensors", "parameters",
    "parameter_bytes", "bucket_bytes_cap", "gradient_bytes", "interop_threads", "local_world_size", "machine_cores",
    "numa_nodes", "shared_memory_bytes", "memory_bytes", "omp_num_threads", "mkl_num_threads", "sync_batchnorm",
    "dense_embedding_rows", "dense_embedding_parameters", "index_values",
}  # fmt: skip
_OPTIMIZER_FACTS = ("tensors", "parameters", "foreach", "fused")
_MODEL_FACTS = (
    "type", "parameters", "parameter_bytes", "compiled", "channels_last", "sync_batchnorm", "dense_embedding_rows",
    "dense_embedding_parameters",
)  # fmt: skip
_PARALLEL_FACTS = (
    "bucket_bytes_cap", "find_unused_parameters", "static_graph", "gradient_as_bucket_view", "broadcast_buffers",
    "gradient_bytes", "tensors",
)  # fmt: skip
_SHARDING_FACTS = ("reshard_after_forward", "param_dtype", "reduce_dtype", "offload")
_FLAGS = {
    "cudnn_benchmark": "torch.cudnn_benchmark",
    "matmul_precision": "torch.matmul_precision",
    "deterministic": "torch.deterministic",
    "anomaly_mode": "torch.anomaly_mode",
    "profiler": "torch.profiler",
    "interop_threads": "torch.interop_threads",
    "gc_enabled": "python.gc_enabled",
}
#: File systems that keep their files in memory.
IN_MEMORY = frozenset({"tmpfs", "ramfs"})
_PRECISIONS = {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}


def setup_facts(recording: RankRecording) -> dict[str, Any]:
    """What a rank told of its setup, by dotted name."""
    process = recording.process
    facts = _chosen("", process, _PROCESS_FACTS)
    facts |= _chosen("loader.", training_loader(recording), _LOADER_FACTS)
    facts |= _optimizer_facts(recording)
    facts |= _model_facts(recording)
    facts |= _device_kind(recording)
    facts |= _chosen("ddp.", _last(recording, "parallel"), _PARALLEL_FACTS)
    facts |= _sharding(recording)
    facts |= _chosen("", _last(recording, "flags"), _FLAGS)
    facts |= _chosen("", _last(recording, "device"), _DEVICE_FACTS)
    facts |= _chosen("env.", _last(recording, "environment"), environment.NAMES)
    inputs = _last(recording, "inputs")
    if inputs is not None:
        facts["batch.variable_length"] = _varies(inputs, facts)
        facts |= _chosen("batch.", inputs, ("index_values",))
    return facts


def ranks_here(setup: Mapping[str, Any]) -> int:
    """Ranks that share this machine's cores and memory; all of them where nodes are not known."""
    for name in ("local_world_size", "world_size"):
        value = setup.get(name)
        if isinstance(value, int | float):
            return max(int(value), 1)
    return 1


def training_loader(recording: RankRecording) -> dict[str, Any] | None:
    """The loader that was fetched from most often, of those that were not only evaluated on; None without any."""
    fetches = recording.of_code(layout.DATA_WAIT)[:, 3] % layout.READY_UNIT
    told = ((whole(fact, "number"), fact) for fact in recording.facts.get("loader", []))
    loaders = {number: fact for number, fact in told if number is not None}
    if not loaders:
        return None
    trained_on = loaders.keys() - evaluation_loaders(recording) or loaders.keys()
    counts = {number: int(np.count_nonzero(fetches == number)) for number in trained_on}
    return loaders[max(counts, key=lambda number: counts[number])]


def _chosen(prefix: str, fact: Facts | None, names: Iterable[str] | Mapping[str, str]) -> dict[str, Any]:
    """The settings of a fact under dotted names; what is missing or of the wrong type stays away."""
    if fact is None:
        return {}
    renamed = names if isinstance(names, Mapping) else {name: name for name in names}
    values = ((key, (whole if key in _COUNTS else setting)(fact, key)) for key in renamed)
    return {f"{prefix}{renamed[key]}": value for key, value in values if value is not None}


def _last(recording: RankRecording, name: str) -> dict[str, Any] | None:
    found = recording.facts.get(name, [])
    return found[-1] if found else None


def _optimizer_facts(recording: RankRecording) -> dict[str, Any]:
    optimizers = recording.facts.get("optimizer", [])
    if not optimizers:
        return {}
    largest = max(optimizers, key=lambda fact: whole(fact, "parameters") or 0)
    facts: dict[str, Any] = {"optimizer.count": len(optimizers)}
    name = text(largest, "type")
    if name is not None:
        facts |= {"optimizer.name": name.lower(), "optimizer.class": name}
    return facts | _chosen("optimizer.", largest, _OPTIMIZER_FACTS)


def _model_facts(recording: RankRecording) -> dict[str, Any]:
    """Of the largest model that was called in training."""
    models = [fact for fact in recording.facts.get("model", []) if whole(fact, "parameters")]
    if not models:
        return {}
    largest = max(models, key=lambda fact: whole(fact, "parameters") or 0)
    facts = _chosen("model.", largest, _MODEL_FACTS)
    traits = texts(largest, "traits")
    facts["model.has"] = traits
    numeric = text(largest, "autocast") or next(iter(texts(largest, "dtypes")), None)
    precision = _PRECISIONS.get(str(numeric))
    if precision is not None:
        facts["precision"] = precision
    domain = _domain(traits)
    return facts if domain is None else facts | {"task.domain": domain}


def _sharding(recording: RankRecording) -> dict[str, Any]:
    """Settings of the module that was sharded last, which is the whole model."""
    sharded = _last(recording, "sharded")
    return {} if sharded is None else {"fsdp": True, **_chosen("fsdp.", sharded, _SHARDING_FACTS)}


def _device_kind(recording: RankRecording) -> dict[str, Any]:
    """Where the largest model lies, in the catalog's words; what torch was built for does not tell."""
    models = [fact for fact in recording.facts.get("model", []) if whole(fact, "parameters")]
    if not models:
        return {}
    device = text(max(models, key=lambda fact: whole(fact, "parameters") or 0), "device")
    kind = (text(recording.process, "accelerator") or "cuda") if device == "cuda" else device
    return {} if kind is None else {"device.kind": kind}


def _domain(traits: list[str]) -> str | None:
    """A cautious guess at what is learned from, by the layers; None where they do not tell."""
    if "embedding" in traits and "attention" in traits:
        return "nlp"
    return "vision" if "conv" in traits and "embedding" not in traits else None


def _varies(inputs: Facts, facts: Mapping[str, Any]) -> bool:
    """Whether inputs differ in shape from step to step; one odd shape is the last, smaller batch."""
    allowed = 1 if facts.get("loader.drop_last") else 2
    return (whole(inputs, "distinct") or 0) > allowed

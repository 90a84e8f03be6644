"""Against memory that runs out: what holds it needlessly first, then what can be held in less."""

from __future__ import annotations

from collections.abc import Iterator

from ...profiler.diagnosis.finding import percent
from ...profiler.diagnosis.memory import KEPT, mega
from ...profiler.timeline.memory_use import ACTIVATIONS
from ..proposal import Case, Declined, Effort, Fit, Proposal

#: Causes that are a mistake or a limit of the host: saving device memory by recomputing does not answer them.
COMPLETE = frozenset(
    {
        "eval-without-no-grad",
        "loss-graph-kept",
        "growing-memory",
        "fragmentation",
        "shm-limit",
        "copy-on-write-python-objects",
        "gc-disabled",
    }
)
#: Activations are worth computing again from this share of the peak on. Ours: checkpointing keeps about a third,
#: and what it frees should be a fifth of the memory for a third more forward time.
LARGE_ACTIVATIONS_SHARE = 0.3
_NOT_ACTIVATIONS = "what fills the memory here is no activation that could be computed again"


def propose(case: Case) -> Iterator[Proposal | Declined]:
    """By what holds the memory."""
    match case.cause:
        case "eval-without-no-grad":
            yield _evaluation(case)
        case "loss-graph-kept" | "growing-memory":
            yield _kept_graph(case)
        case "fragmentation":
            yield from _allocator(Fit.CAUSE)
        case "shm-limit":
            yield from _shared_memory(case)
        case "copy-on-write-python-objects":
            yield from _shared_samples(case)
        case "gc-disabled":
            yield _collect()
        case _:
            yield from _near_the_limit(case)
            return
    yield Declined("activation-checkpointing", _NOT_ACTIVATIONS)


def _basis(case: Case) -> str:
    """What was measured of the memory, for a sentence."""
    sizes = [
        f"{fact.name} {mega(float(fact.value))}"
        for fact in case.finding.evidence
        if fact.unit == "bytes" and isinstance(fact.value, int | float)
    ]
    return f"measured: {', '.join(sizes)}" if sizes else "the composition of the memory was not measured"


def _evaluation(case: Case) -> Proposal:
    return Proposal(
        method="inference-mode-eval",
        knob="eval.inference_mode=true",
        how="with torch.inference_mode(): around the whole evaluation loop, metrics too, not only around forward",
        basis=f"evaluation then keeps no activations; {_basis(case)}",
        effort=Effort.SWITCH,
        fit=Fit.CAUSE,
    )


def _kept_graph(case: Case) -> Proposal:
    return Proposal(
        method="no-kept-graph",
        how="total_loss += loss.detach() (also in lists and metrics): a sum of losses keeps every step's graph alive",
        basis=f"the growth from step to step goes; {_basis(case)}",
        effort=Effort.LINES,
        fit=Fit.CAUSE,
    )


def _allocator(fit: Fit) -> Iterator[Proposal]:
    yield Proposal(
        method="expandable-segments",
        knob="allocator.expandable_segments=true",
        how="PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True in the environment, before torch is imported",
        basis="memory that is reserved and not in use becomes usable for large tensors",
        effort=Effort.SWITCH,
        fit=fit,
    )
    yield Proposal(
        method="allocator-split-gc",
        how="PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512,garbage_collection_threshold:0.8 (not with the former)",
        basis="large blocks are no longer split by small tensors that live on",
        effort=Effort.LINES,
        fit=fit,
    )


def _shared_memory(case: Case) -> Iterator[Proposal]:
    yield Proposal(
        method="worker-shared-memory",
        how='docker run --shm-size=8g (or --ipc=host); else torch.multiprocessing.set_sharing_strategy("file_system")',
        basis="every batch that waits in a queue lies in shared memory: workers x prefetch_factor batches",
        effort=Effort.LINES,
        fit=Fit.CAUSE,
    )
    workers = case.number("loader.num_workers")
    if workers is not None and workers > 1:
        yield Proposal(
            method="dataloader-num-workers",
            knob=f"loader.num_workers={int(workers) // 2}",
            how=f"DataLoader(..., num_workers={int(workers) // 2})  # it is {workers:g} now",
            basis="half the shared memory; loading may become slower",
            effort=Effort.SWITCH,
        )


def _shared_samples(case: Case) -> Iterator[Proposal]:
    workers = case.number("loader.num_workers")
    copies = "each worker" if workers is None else f"each of {workers:g} workers"
    yield Proposal(
        method="hf-datasets-arrow",
        how="keep samples in arrays: one NumPy array with offsets, or an Arrow table that all workers map",
        basis=f"Python objects are copied into {copies} as their reference counts are touched; arrays are not",
        effort=Effort.REWORK,
        fit=Fit.CAUSE,
    )
    if workers is not None and workers > 1:
        yield Proposal(
            method="dataloader-num-workers",
            knob=f"loader.num_workers={int(workers) // 2}",
            how=f"DataLoader(..., num_workers={int(workers) // 2})  # it is {workers:g} now: half the copies",
            basis="half the copies of the data set; loading may become slower",
            effort=Effort.SWITCH,
        )


def _collect() -> Proposal:
    return Proposal(
        method="python-gc-control",
        how="take gc.disable() out, or call gc.collect() every 100 steps: cycles of objects pile up without it",
        basis="cycles of objects are freed again",
        effort=Effort.SWITCH,
        fit=Fit.CAUSE,
    )


def _smaller_state(case: Case) -> Iterator[Proposal]:
    name = str(case.setup("optimizer.name") or "")
    if case.on_gpu and name in ("adam", "adamw"):
        yield Proposal(
            method="eightbit-optimizers",
            how="bitsandbytes.optim.AdamW8bit or torchao's AdamW8bit in place of AdamW: a quarter of the state",
            basis=f"two 32-bit numbers for each parameter become two of 8 bits; {_basis(case)}",
            effort=Effort.LINES,
            fit=Fit.CAUSE,
        )
    if (case.number("world_size") or 1) > 1:
        yield Proposal(
            method="fsdp2",
            how="fully_shard(block) for each block and fully_shard(model): each rank keeps its share of the state",
            basis=f"parameters, gradients and state over {case.number('world_size'):g} ranks; {_basis(case)}",
            effort=Effort.REWORK,
            fit=Fit.CAUSE,
        )


def _near_the_limit(case: Case) -> Iterator[Proposal | Declined]:
    if case.evidence(KEPT) is not None:
        yield from _kept_data(case)
        return
    if case.cause == "optimizer-state":
        yield from _smaller_state(case)
    if case.has("large-vocab"):
        yield _fused_loss(case)
    known = case.cause == "activation-memory" or _activations_share(case) is not None
    if known:
        yield _checkpointing(case)
    if case.on_gpu:
        yield from _allocator(Fit.KIND)
    yield Proposal(
        method="gradient-accumulation",
        how="halve the batch, step every second backward, divide the loss by two: about half the activations",
        basis=f"activations grow with the batch; {_basis(case)}",
        effort=Effort.LINES,
    )
    if not known:
        yield _recomputing(
            case, "how much of the memory activations take was not measured: find out first", Fit.LISTED
        )


def _kept_data(case: Case) -> Iterator[Proposal | Declined]:
    """What the script keeps beside the model, as a data set or a buffer: no batch and no activation fills it."""
    yield Proposal(
        method="memory-mapped-storage",
        how='map it from a file: torch.from_file(path, shared=True, size=n), np.load(path, mmap_mode="r"), TorchRL\'s '
        "LazyMemmapStorage; else keep less of it, or in fewer bytes: uint8 or float16 in place of float32",
        basis=f"mapped pages are given back when memory runs short; {_basis(case)}",
        effort=Effort.LINES,
        fit=Fit.CAUSE,
    )
    yield Declined("activation-checkpointing", _NOT_ACTIVATIONS)
    yield Declined("gradient-accumulation", "what fills the memory here does not grow with the batch")


def _activations_share(case: Case) -> float | None:
    """What activations take of the peak, workspace among them; None where they were not told apart."""
    use, size = case.report.memory_use, _activation_bytes(case)
    return None if use is None or size is None or use.peak_bytes <= 0 else size / use.peak_bytes


def _activation_bytes(case: Case) -> int | None:
    use = case.report.memory_use
    parts = [] if use is None else use.parts
    return next((part.bytes for part in parts if part.name == ACTIVATIONS), None)


def _checkpointing(case: Case) -> Proposal | Declined:
    size, share = _activation_bytes(case), _activations_share(case)
    told = "most of the memory is activations"
    if size is not None and share is not None:
        told = f"{ACTIVATIONS} are {mega(size)} of the peak ({percent(share)})"
        if share < LARGE_ACTIVATIONS_SHARE:
            return Declined("activation-checkpointing", f"{told}: computing them again frees too little")
    answers = case.cause == "activation-memory" and not case.has("large-vocab")
    return _recomputing(case, told, Fit.CAUSE if answers else Fit.KIND)


def _recomputing(case: Case, told: str, fit: Fit) -> Proposal:
    return Proposal(
        method="activation-checkpointing",
        knob="checkpoint.activation=auto",
        how="torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False) around each repeated block",
        basis=f"activations of blocks are computed again, for about a third more forward time; {told}; {_basis(case)}",
        effort=Effort.SWITCH,
        fit=fit,
    )


def _fused_loss(case: Case) -> Proposal:
    return Proposal(
        method="fused-linear-cross-entropy",
        how="LigerFusedLinearCrossEntropyLoss, or cut_cross_entropy: logits never lie in memory as a whole",
        basis=f"cross-entropy holds about four times the logits at its peak; {_basis(case)}",
        effort=Effort.LINES,
        fit=Fit.CAUSE,
    )

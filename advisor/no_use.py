"""Which methods a run uses already, or has no use for: they are never proposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..profiler.report import Report
from ..profiler.vocabulary import Kind, Stage
from .remedies.cpu_threads import has_single_threads
from .remedies.debugging import CAUSES as DEBUGGING
from .remedies.debugging import aids_on

Setup = Mapping[str, object]


def _is_true(name: str) -> Callable[[Setup], bool]:
    return lambda setup: setup.get(name) is True


def _is_false(name: str) -> Callable[[Setup], bool]:
    return lambda setup: setup.get(name) is False


#: The cause of a finding for which activations were seen to be computed twice.
NEEDLESS_RECOMPUTATION = "needless-recomputation"

#: What a setup tells to be on already, by method, with the words for it.
CHECKS: Mapping[str, tuple[Callable[[Setup], bool], str]] = {
    "dataloader-persistent-workers": (_is_true("loader.persistent_workers"), "persistent_workers is on"),
    "pin-memory": (_is_true("loader.pin_memory"), "pin_memory is on"),
    "torch-compile-default": (_is_true("model.compiled"), "the model is compiled"),
    "channels-last": (_is_true("model.channels_last"), "the weights are channels-last"),
    "fused-optimizer": (_is_true("optimizer.fused"), "the optimizer is fused"),
    "foreach-optimizer": (
        lambda setup: setup.get("optimizer.foreach") is True or _foreach_is_default(setup),
        "foreach is on, by request or by PyTorch's default on GPUs",
    ),
    "cudnn-benchmark": (_is_true("torch.cudnn_benchmark"), "cudnn.benchmark is on"),
    "tf32": (lambda setup: setup.get("torch.matmul_precision") in ("high", "medium"), "TF32 is allowed"),
    "ddp-find-unused-off": (_is_false("ddp.find_unused_parameters"), "find_unused_parameters is off"),
    "ddp-static-graph": (_is_true("ddp.static_graph"), "static_graph is on"),
    "ddp-gradient-as-bucket-view": (_is_true("ddp.gradient_as_bucket_view"), "gradient_as_bucket_view is on"),
    "ddp": (lambda setup: "ddp.gradient_bytes" in setup, "the model is under DistributedDataParallel"),
    "fsdp-no-reshard": (_is_false("fsdp.reshard_after_forward"), "reshard_after_forward is off"),
    "zero-grad-set-to-none": (lambda setup: True, "it is PyTorch's default since 2.0"),
}

#: What the recorded steps show to be on already.
SEEN: Mapping[str, tuple[Callable[[Report], bool], str]] = {
    "worker-thread-limit": (
        has_single_threads,
        "workers compute with one thread each; only cv2 keeps a pool of its own: cv2.setNumThreads(0) in each worker",
    ),
    "activation-checkpointing": (
        lambda report: (
            (report.recomputation_s_per_step or 0.0) > 0 or _has_cause(report, NEEDLESS_RECOMPUTATION)
        ),
        "activations were seen to be computed again in the backward",
    ),
}

_NEEDS_STAGE: Mapping[str, tuple[Stage, str]] = {
    "inference-mode-eval": (Stage.EVALUATION, "the recorded steps evaluated nothing"),
    "async-checkpoint": (Stage.CHECKPOINT, "the recorded steps saved no checkpoint"),
}
#: Kinds for which doing things beside the loop less often is an answer.
_BESIDE_THE_LOOP = {
    Kind.EVALUATION,
    Kind.LOGGING,
    Kind.CHECKPOINT_IO,
    Kind.HOST_PYTHON,
    Kind.HOST_SYNC,
    Kind.COMMUNICATION,
    Kind.STRAGGLERS,
}
#: Methods that answer one kind of waiting only, though a loop may use them for more.
_NO_CHECKPOINT = "this finding is not about checkpoints"
_ONLY_FOR: Mapping[str, tuple[set[Kind], str]] = {
    "dataloader-num-workers": (
        {Kind.DATA_LOADING, Kind.STRAGGLERS, Kind.MEMORY_CAPACITY, Kind.CPU_THREADS},
        "this finding is not about waiting for data",
    ),
    "async-checkpoint": ({Kind.CHECKPOINT_IO, Kind.STRAGGLERS}, _NO_CHECKPOINT),
    "no-empty-cache-in-loop": (
        {Kind.HOST_SYNC, Kind.MEMORY_CAPACITY},
        "no call of empty_cache was seen in the loop",
    ),
    "ddp": ({Kind.COMMUNICATION}, "the number of GPUs is no setting of this script"),
    "inference-mode-eval": (
        {Kind.EVALUATION, Kind.MEMORY_CAPACITY},
        "this finding is not about evaluation",
    ),
    "eval-and-log-frequency": (
        _BESIDE_THE_LOOP,
        "evaluation and logging are not what this finding is about",
    ),
}


_OF_DDP = {
    "ddp-broadcast-buffers-off",
    "ddp-bucket-cap",
    "ddp-find-unused-off",
    "ddp-gradient-as-bucket-view",
    "ddp-static-graph",
    "fp16-bf16-compress-hook",
    "powersgd",
}
_OF_FSDP = {"fsdp-no-reshard", "fsdp-prefetch"}
_OF_OTHER_FRAMEWORKS = {
    "deepspeed-autotuning": "DeepSpeed's tuner needs a script that runs under DeepSpeed",
    "ddp-over-dataparallel": "whether the script uses torch.nn.DataParallel was not looked for",
}


def no_use(method: str, kind: Kind, report: Report) -> str | None:
    """Why a method has nothing to do in this run, or is on already; None if neither, or the run does not tell."""
    only = _ONLY_FOR.get(method)
    if only is not None and kind not in only[0]:
        return only[1]
    stage = _NEEDS_STAGE.get(method)
    told = bool(report.stages) and kind is not Kind.MEMORY_CAPACITY
    if stage is not None and told and all(share.name is not stage[0] for share in report.stages):
        return stage[1]
    if method == "disable-debug-apis" and not _is_debugging(kind, report):
        return "no debugging aid is known to be on that takes this time"
    if method == "no-activation-checkpointing" and not _has_cause(report, NEEDLESS_RECOMPUTATION):
        return "no activation was seen to be computed twice while memory is free"
    if method in _OF_DDP and not _is_ddp(report.setup):
        return "no DistributedDataParallel was seen in this run"
    if method in _OF_FSDP and _was_recorded(report.setup) and report.setup.get("fsdp") is not True:
        return "no sharded parameters were seen in this run"
    if method in _OF_OTHER_FRAMEWORKS and _was_recorded(report.setup):
        return _OF_OTHER_FRAMEWORKS[method]
    seen = SEEN.get(method)
    if seen is not None and seen[0](report):
        return seen[1]
    check = CHECKS.get(method)
    return check[1] if check is not None and check[0](report.setup) else None


def _was_recorded(setup: Setup) -> bool:
    """Whether the recorder described the run: then what it did not see was not there."""
    return any(name.startswith(("loader.", "optimizer.", "model.")) for name in setup)


def _is_ddp(setup: Setup) -> bool:
    return any(name.startswith("ddp.") for name in setup) or not _was_recorded(setup)


def _is_debugging(kind: Kind, report: Report) -> bool:
    found = any(finding.cause in DEBUGGING for finding in report.findings if finding.kind is kind)
    return found or bool(aids_on(kind, report.setup))


def _has_cause(report: Report, cause: str) -> bool:
    return any(finding.cause == cause for finding in report.findings)


def _foreach_is_default(setup: Setup) -> bool:
    return setup.get("device.kind") in ("cuda", "rocm") and setup.get("optimizer.foreach") is None

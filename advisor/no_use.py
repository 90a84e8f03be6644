"""Which methods a run uses already, or has no use for: they are never proposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..profiler.report import Report
from ..profiler.vocabulary import Kind, Stage

Setup = Mapping[str, object]


def _is_true(name: str) -> Callable[[Setup], bool]:
    return lambda setup: setup.get(name) is True


def _is_false(name: str) -> Callable[[Setup], bool]:
    return lambda setup: setup.get(name) is False


_CHECKS: Mapping[str, tuple[Callable[[Setup], bool], str]] = {
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
    "disable-debug-apis": (_is_false("torch.anomaly_mode"), "anomaly detection is off"),
    "ddp-find-unused-off": (_is_false("ddp.find_unused_parameters"), "find_unused_parameters is off"),
    "ddp-static-graph": (_is_true("ddp.static_graph"), "static_graph is on"),
    "ddp-gradient-as-bucket-view": (_is_true("ddp.gradient_as_bucket_view"), "gradient_as_bucket_view is on"),
    "ddp": (lambda setup: "ddp.gradient_bytes" in setup, "the model is under DistributedDataParallel"),
    "zero-grad-set-to-none": (lambda setup: True, "it is PyTorch's default since 2.0"),
}


_NEEDS_STAGE: Mapping[str, tuple[Stage, str]] = {
    "inference-mode-eval": (Stage.EVALUATION, "the recorded steps evaluated nothing"),
    "async-checkpoint": (Stage.CHECKPOINT, "the recorded steps saved no checkpoint"),
}
#: Kinds for which doing things beside the loop less often is an answer.
_BESIDE_THE_LOOP = {Kind.EVALUATION, Kind.LOGGING, Kind.CHECKPOINT_IO, Kind.HOST_PYTHON, Kind.HOST_SYNC}


def no_use(method: str, kind: Kind, report: Report) -> str | None:
    """Why a method has nothing to do in this run, or is on already; None if neither, or the run does not tell."""
    stage = _NEEDS_STAGE.get(method)
    if stage is not None and all(share.name is not stage[0] for share in report.stages):
        return stage[1]
    if method == "eval-and-log-frequency" and kind not in _BESIDE_THE_LOOP:
        return "evaluation and logging are not what this finding is about"
    check = _CHECKS.get(method)
    return check[1] if check is not None and check[0](report.setup) else None


def _foreach_is_default(setup: Setup) -> bool:
    return setup.get("device.kind") in ("cuda", "rocm") and setup.get("optimizer.foreach") is None

"""What is on already is never proposed, and the reason says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from trainrx.advisor.no_use import CHECKS, SEEN, no_use
from trainrx.catalog import Catalog
from trainrx.profiler.report import LoaderReport, Report
from trainrx.profiler.vocabulary import Kind

DDP = {"ddp.bucket_bytes_cap": 25 * 2**20}
#: A fact that a method is on by, the words that say so, and what is told of a run that it is not on in; None: always on.
ON: Mapping[str, list[tuple[dict[str, object], str, dict[str, object] | None]]] = {
    "dataloader-persistent-workers": [
        (
            {"loader.persistent_workers": True},
            "persistent_workers is on",
            {"loader.persistent_workers": False},
        )
    ],
    "pin-memory": [({"loader.pin_memory": True}, "pin_memory is on", {"loader.pin_memory": False})],
    "torch-compile-default": [({"model.compiled": True}, "is compiled", {"model.compiled": False})],
    "channels-last": [({"model.channels_last": True}, "are channels-last", {"model.channels_last": False})],
    "fused-optimizer": [({"optimizer.fused": True}, "is fused", {"optimizer.fused": False})],
    "foreach-optimizer": [
        ({"optimizer.foreach": True}, "foreach is on", {"optimizer.foreach": False}),
        ({"device.kind": "cuda"}, "foreach is on", {"device.kind": "cuda", "optimizer.foreach": False}),
        ({"device.kind": "rocm"}, "foreach is on", {"device.kind": "cpu"}),
    ],
    "cudnn-benchmark": [
        ({"torch.cudnn_benchmark": True}, "benchmark is on", {"torch.cudnn_benchmark": False})
    ],
    "tf32": [
        ({"torch.matmul_precision": "high"}, "TF32 is allowed", {"torch.matmul_precision": "highest"}),
        ({"torch.matmul_precision": "medium"}, "TF32 is allowed", {}),
    ],
    "ddp-find-unused-off": [
        ({"ddp.find_unused_parameters": False}, "parameters is off", {"ddp.find_unused_parameters": True})
    ],
    "ddp-static-graph": [({"ddp.static_graph": True}, "static_graph is on", {"ddp.static_graph": False})],
    "ddp-gradient-as-bucket-view": [
        ({"ddp.gradient_as_bucket_view": True}, "view is on", {"ddp.gradient_as_bucket_view": False})
    ],
    "ddp": [({"ddp.gradient_bytes": 4096}, "under DistributedDataParallel", {"world_size": 2})],
    "fsdp-no-reshard": [
        (
            {"fsdp": True, "fsdp.reshard_after_forward": False},
            "reshard_after_forward is off",
            {"fsdp": True, "fsdp.reshard_after_forward": True},
        )
    ],
    "zero-grad-set-to-none": [({}, "PyTorch's default", None)],
}
ROWS = [(method, *row) for method, rows in ON.items() for row in rows]


def test_every_check_has_its_fact_and_every_method_is_in_the_catalog(bundled: Catalog) -> None:
    assert set(ON) == set(CHECKS)
    assert (set(CHECKS) | set(SEEN)) - set(bundled.methods) == set()


@pytest.mark.parametrize(("method", "fact", "reason", "off"), ROWS)
def test_a_fact_that_a_method_is_on_rules_it_out(
    method: str,
    fact: dict[str, object],
    reason: str,
    off: dict[str, object] | None,
    make_report: Callable[..., Report],
) -> None:
    # GIVEN a run that tells the fact WHEN it is asked for THEN the reason names it, and without it nothing is said
    said = no_use(method, Kind.COMMUNICATION, make_report(setup={**DDP, **fact}))
    assert said is not None and reason in said
    if off is not None:
        assert no_use(method, Kind.COMMUNICATION, make_report(setup={**DDP, **off})) is None


@pytest.mark.parametrize(("threads", "ruled_out"), [(1, True), (8, False), (None, False)])
def test_workers_of_one_thread_are_not_limited_to_one(
    threads: int | None, ruled_out: bool, make_report: Callable[..., Report]
) -> None:
    loader = LoaderReport(
        num_workers=2, batches=40, samples_per_batch=8, sample_wall_s=0.01, sample_cpu_s=0.01, collate_wall_s=0,
        collate_cpu_s=0, cpu_share=1.0, worker_threads=threads,
    )  # fmt: skip
    said = no_use("worker-thread-limit", Kind.DATA_LOADING, make_report(loader=loader))
    assert (said is not None and "cv2" in said) is ruled_out


@pytest.mark.parametrize(("seconds", "ruled_out"), [(0.01, True), (0.0, False), (None, False)])
def test_activations_that_are_computed_again_are_not_told_to_be(
    seconds: float | None, ruled_out: bool, make_report: Callable[..., Report]
) -> None:
    report = make_report(recomputation_s_per_step=seconds)
    said = no_use("activation-checkpointing", Kind.MEMORY_CAPACITY, report)
    assert (said is not None and "computed again" in said) is ruled_out

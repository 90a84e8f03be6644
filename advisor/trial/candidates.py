"""What the autopilot tries next: the ranked prescriptions, then knobs that a plain table holds worth a try.

The table predicts nothing; it is for findings that no remedy is modelled for, and the trial decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ...profiler.errors import UsageError
from ...profiler.report import Finding, Prescription, Report
from ...profiler.vocabulary import Kind
from ..prescribe import prescribe
from .knob_choice import choose, reasons_against

Setup = Mapping[str, Any]
#: A run with a model that is compiled takes so many times as long as another one: tens of seconds against a few. Ours.
COMPILING_COST = 4.0


def propose(report: Report, exclude: Collection[str]) -> list[Prescription]:
    """What to try, the best first; prescriptions with a prediction come before the table's.

    A change that compiles the model waits for those that gain as much for the time that their trials take.

    Args:
        report: the run as it stands.
        exclude: changes that were tried, as ``knob=value``.
    """
    proposed: dict[str, Prescription] = {}
    for found in (*prescribe(report).prescriptions, *_from_table(report)):
        if found.knob is not None and found.knob not in exclude:
            proposed.setdefault(found.knob, found)
    return _dear_ones_later([found for knob, found in proposed.items() if _is_possible(knob, report.setup)])


def _dear_ones_later(found: list[Prescription]) -> list[Prescription]:
    cheap = [one for one in found if not _compiles(one)]

    def place(dear: Prescription) -> int:
        enough = [at for at, one in enumerate(cheap, 1) if COMPILING_COST * _gain(one) >= _gain(dear)]
        return max(enough, default=0)

    placed = [(place(one) if _compiles(one) else cheap.index(one) + 1, _compiles(one), one) for one in found]
    return [one for *_, one in sorted(placed, key=lambda each: each[:2])]


def _compiles(prescription: Prescription) -> bool:
    return (prescription.knob or "").startswith("compile.")


def _gain(prescription: Prescription) -> float:
    """The logarithm of the speed-up that is predicted; 0 where none is."""
    predicted = prescription.predicted_speedup
    return 0.0 if predicted is None else math.log(max(predicted.mid, 1.0))


def _is_possible(knob: str, setup: Setup) -> bool:
    """Whether the knob is one that can be put on here; catalog and remedies may name others."""
    try:
        return not reasons_against(choose([knob]), setup)
    except UsageError:
        return False


def _from_table(report: Report) -> Iterator[Prescription]:
    for finding in report.findings:
        for knob in _KNOBS.get(finding.kind, _nothing)(finding, report.setup):
            yield _prescription(knob, finding)


def _data_loading(finding: Finding, setup: Setup) -> Iterator[str]:
    cores, workers = int(setup.get("cpu.cores", 2)), int(setup.get("loader.num_workers", 0))
    if finding.cause == "pinning":
        yield "loader.pin_memory=false"
    if workers == 0:
        yield f"loader.num_workers={max(cores, 2)}"
        return
    if finding.cause == "worker-restart":
        yield "loader.persistent_workers=true"
    if finding.cause == "oversubscribed":
        yield f"loader.num_workers={max(cores // 2, 1)}"
        yield "loader.worker_threads=1"
        return
    yield f"loader.num_workers={workers * 2}"
    yield "loader.prefetch_factor=4"
    yield "loader.persistent_workers=true"


def _compute(finding: Finding, setup: Setup) -> Iterator[str]:
    cores, threads = int(setup.get("cpu.cores", 1)), int(setup.get("cpu.threads", 1))
    yield "debug.off=true"
    if setup.get("device.kind") == "cpu" and threads != cores:
        yield f"threads.intraop={cores}"
    yield from ("memory_format.channels_last=true", "compile.default=true", "precision.autocast_bf16=true")


def _launch_overhead(finding: Finding, setup: Setup) -> Iterator[str]:
    yield from ("compile.default=true", "compile.reduce_overhead=true", "optimizer.foreach=true")


def _optimizer_step(finding: Finding, setup: Setup) -> Iterator[str]:
    yield from ("optimizer.fused=true", "optimizer.foreach=true", "optimizer.zero_grad_none=true")


def _communication(finding: Finding, setup: Setup) -> Iterator[str]:
    yield from (
        "ddp.find_unused_parameters=false", "ddp.static_graph=true", "ddp.gradient_as_bucket_view=true",
        "ddp.bucket_cap_mb=50", "ddp.comm_hook_bf16=true",
    )  # fmt: skip


def _nothing(finding: Finding, setup: Setup) -> Iterator[str]:
    yield from ()


def _always(*knobs: str) -> Callable[[Finding, Setup], Iterator[str]]:
    return lambda finding, setup: iter(knobs)


_KNOBS: Mapping[Kind, Callable[[Finding, Setup], Iterator[str]]] = {
    Kind.DATA_LOADING: _data_loading,
    Kind.H2D_TRANSFER: _always("loader.pin_memory=true", "copy.non_blocking=true"),
    Kind.COMPUTE: _compute,
    Kind.LAUNCH_OVERHEAD: _launch_overhead,
    Kind.HOST_SYNC: _always("debug.off=true", "allocator.no_empty_cache=true", "copy.non_blocking=true"),
    Kind.OPTIMIZER_STEP: _optimizer_step,
    Kind.RECOMPILATION: _always("compile.dynamic=true"),
    Kind.CPU_THREADS: _compute,
    Kind.MEMORY_BANDWIDTH: _compute,
    Kind.COMMUNICATION: _communication,
    Kind.CHECKPOINT_IO: _always("checkpoint.asynchronous=true"),
    Kind.EVALUATION: _always("eval.inference_mode=true"),
    Kind.GARBAGE_COLLECTION: _always("gc.control=freeze", "gc.control=manual"),
}


def _prescription(knob: str, finding: Finding) -> Prescription:
    choice = choose([knob])
    chosen = choice.knobs[0]
    return Prescription(
        method=chosen.NAME,
        knob=knob,
        finding=finding.kind,
        equivalence=chosen.EQUIVALENCE,
        predicted_speedup=None,
        basis="a table of what is worth a try for this finding; nothing was predicted",
        risk="",
        how=chosen.snippet(choice.values[chosen.NAME]),
        verify="the trial itself",
        title=chosen.SUMMARY,
    )

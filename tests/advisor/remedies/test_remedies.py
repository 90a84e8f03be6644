"""Every kind has remedies; each names methods of the catalog and knobs in their spelling, by cause."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import trainrx.advisor.remedies as remedies
from trainrx.advisor.no_use import no_use
from trainrx.advisor.prescribe import prescribe
from trainrx.advisor.proposal import Case, Fit, Proposal
from trainrx.advisor.remedies import answers
from trainrx.catalog import Catalog
from trainrx.profiler.agent import knobs
from trainrx.profiler.diagnosis.memory import KEPT
from trainrx.profiler.report import (
    Fact,
    Finding,
    LoaderReport,
    MemoryPart,
    MemoryUse,
    Report,
    StageShare,
    WhatIf,
    Where,
)
from trainrx.profiler.timeline.memory_use import ACTIVATIONS, REST
from trainrx.profiler.vocabulary import Kind, Severity, Stage

GB = 2**30
FILES = sorted(Path(str(remedies.__file__)).parent.glob("*.py"))


def named(keyword: str) -> set[str]:
    """Every literal that a remedy passes under a keyword; of an f-string the part up to the first value."""
    found: set[str] = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == keyword:
                found |= {value for value in map(literal, [node.value]) if value}
            if (
                keyword == "method"
                and isinstance(node, ast.Call)
                and getattr(node.func, "id", "") == "Declined"
            ):
                found |= {value for value in map(literal, node.args[:1]) if value}
    return found


def literal(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        node = node.values[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_has_a_file_of_remedies(kind: Kind) -> None:
    name = f"{remedies.__name__}.{kind.value.replace('-', '_')}"
    assert find_spec(name) is not None
    assert callable(import_module(name).propose)


def test_every_named_method_is_in_the_catalog(bundled: Catalog) -> None:
    assert len(named("method")) > 40
    assert named("method") - set(bundled.methods) == set()


def test_every_knob_that_advice_names_can_be_tried(bundled: Catalog) -> None:
    in_remedies = {knob.partition("=")[0] for knob in named("knob")}
    in_the_catalog = {method.how.knob for method in bundled.methods.values() if method.how.knob is not None}
    assert (in_remedies | in_the_catalog) - set(knobs.names()) == set()


CAUSES = {
    Kind.RECOMPILATION: {
        "cudnn-benchmark-varying-shapes": "cudnn-benchmark-off",
        "recompile-limit": "dynamo-recompile-limit",
        "cold-start": "compile-cache",
        "changing-shapes": "dynamo-compile-dynamic",
        "failing-guards": "dynamo-recompile-limit",
        "graph-break": "no-graph-breaks",
        None: "dynamo-compile-dynamic",
    },
    Kind.MEMORY_CAPACITY: {
        "eval-without-no-grad": "inference-mode-eval",
        "loss-graph-kept": "no-kept-graph",
        "growing-memory": "no-kept-graph",
        "near-limit": "gradient-accumulation",
        "fragmentation": "expandable-segments",
        "shm-limit": "worker-shared-memory",
        "copy-on-write-python-objects": "hf-datasets-arrow",
        "gc-disabled": "python-gc-control",
        "activation-memory": "activation-checkpointing",
    },
    Kind.HOST_SYNC: {
        "blocking-call": "avoid-host-sync",
        "empty-cache-in-loop": "no-empty-cache-in-loop",
        "launch-blocking": "disable-debug-apis",
        "anomaly-detection": "disable-debug-apis",
    },
    Kind.H2D_TRANSFER: {"pageable-memory": "pin-memory", "not-overlapped": "cuda-prefetch-stream"},
    Kind.LAUNCH_OVERHEAD: {
        "short-kernels": "cuda-graphs-manual",
        "many-small-operations": "torch-compile-default",
        "graph-break": "no-graph-breaks",
    },
    Kind.COMMUNICATION: {
        "per-parameter-collectives": "ddp",
        "sync-batchnorm": "local-batchnorm",
        "slow-nccl-transport": "nccl-tuning",
        "loss-allreduce-every-step": "eval-and-log-frequency",
        "sharded-parameters": "fsdp-no-reshard",
    },
    Kind.STRAGGLERS: {
        "gc-pauses": "python-gc-control",
        "uneven-work": "length-bucketing",
        "slow-data-loading": "dataloader-num-workers",
        "checkpoint-on-one-rank": "async-checkpoint",
        "evaluation-on-one-rank": "eval-and-log-frequency",
    },
    Kind.GARBAGE_COLLECTION: {
        "automatic-collection": "python-gc-control",
        "explicit-collect": "python-gc-control",
    },
    Kind.THROTTLING: {"thermal": "gpu-clock-power", "cpu-quota": "worker-thread-limit"},
    Kind.MEMORY_BANDWIDTH: {
        "unfused-kernels": "torch-compile-default",
        "layout-conversions": "channels-last",
    },
    Kind.OPTIMIZER_STEP: {
        "for-loop-optimizer": "fused-optimizer",
        "dense-embedding-gradient": "sparse-embedding-gradients",
    },
    Kind.EVALUATION: {None: "eval-and-log-frequency"},
    Kind.CHECKPOINT_IO: {None: "async-checkpoint"},
    Kind.LOGGING: {None: "eval-and-log-frequency"},
    Kind.HOST_PYTHON: {None: "eval-and-log-frequency"},
}
GPU = {
    "device.kind": "cuda",
    "model.has": ["conv"],
    "optimizer.name": "adamw",
    "optimizer.class": "AdamW",
    "loader.num_workers": 8,
}


@pytest.mark.parametrize(
    ("kind", "cause", "method"),
    [(kind, cause, method) for kind, causes in CAUSES.items() for cause, method in causes.items()],
)
def test_a_cause_has_its_answer(
    kind: Kind,
    cause: str | None,
    method: str,
    make_report: Callable[..., Report],
    make_finding: Callable[..., Finding],
) -> None:
    # GIVEN a finding with a cause WHEN remedies are asked THEN the method that answers it says so
    finding = make_finding(kind, cause=cause)
    said = answers(Case(make_report(finding, setup=GPU), finding)).proposals
    fits = {proposal.method: proposal.fit for proposal in said}
    assert method in fits
    if cause is not None and cause not in ("activation-memory", "near-limit"):
        assert fits[method] is Fit.CAUSE


@pytest.mark.parametrize("kind", [Kind.CHECKPOINT_IO, Kind.EVALUATION])
def test_what_to_write_names_the_line_that_was_found(
    kind: Kind, make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    # GIVEN a finding whose second place is a line of the script
    finding = make_finding(kind)
    placed = finding.model_copy(update={"where": [Where(rank=1), Where(file="train.py", line=41)]})
    # WHEN remedies are asked THEN each says where to write, and none does where no line is known
    for one, named in ((placed, True), (finding.model_copy(update={"where": []}), False)):
        said = answers(Case(make_report(one), one)).proposals
        assert said
        assert all(("at train.py:41" in proposal.how) is named for proposal in said)
        assert all("None" not in proposal.how for proposal in said)


def proposal_of(case: Case, method: str) -> Proposal:
    return next(one for one in answers(case).proposals if one.method == method)


@pytest.mark.parametrize(
    ("name", "size", "on_device", "fit"),
    [
        (ACTIVATIONS, 6 * GB, True, Fit.KIND),
        (ACTIVATIONS, 2 * GB, True, None),
        (REST, 9 * GB, False, Fit.LISTED),  # a buffer, or activations: nobody can tell
    ],
)
def test_activations_are_computed_again_only_where_they_are_a_large_part(
    name: str,
    size: int,
    on_device: bool,
    fit: Fit | None,
    make_report: Callable[..., Report],
    make_finding: Callable[..., Finding],
) -> None:
    # GIVEN ten gigabytes in use, near the limit
    finding = make_finding(Kind.MEMORY_CAPACITY, 0.0, cause="near-limit")
    parts = [MemoryPart(name="parameters", bytes=10 * GB - size), MemoryPart(name=name, bytes=size)]
    use = MemoryUse(on_device=on_device, peak_bytes=10 * GB, parts=parts)
    said = answers(Case(make_report(finding, memory_use=use), finding))
    # WHEN it is answered THEN by computing activations again only where that frees much, and last where nobody knows
    fits = {one.method: one.fit for one in said.proposals}
    assert fits.get("activation-checkpointing") == fit
    declined = {one.method: one.reason for one in said.declined}
    assert (
        "activations and workspace are 2.0 GB of the peak" in declined.get("activation-checkpointing", "")
    ) is (fit is None)
    if fit is Fit.KIND:
        basis = next(one.basis for one in said.proposals if one.method == "activation-checkpointing")
        assert "activations and workspace are 6.0 GB of the peak (60 %)" in basis


def test_a_buffer_that_fills_the_memory_is_not_answered_by_computing_again_first(
    bundled: Catalog, make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(Kind.MEMORY_CAPACITY, 0.0, cause="near-limit")
    report = make_report(finding, setup={"device.kind": "cpu"})
    advised = [one.method for one in prescribe(report, bundled).prescriptions]
    assert "activation-checkpointing" in advised[1:]


def test_data_that_a_script_keeps_is_mapped_from_a_file(
    bundled: Catalog, make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    # GIVEN a process near its limit, most of it in use at all times and no part of the model
    finding = make_finding(Kind.MEMORY_CAPACITY, 0.0, cause="near-limit", severity=Severity.MODERATE)
    finding = finding.model_copy(update={"evidence": [Fact(name=KEPT, value=6 * GB, unit="bytes")]})
    advice = prescribe(make_report(finding, setup={"device.kind": "cpu"}), bundled)
    # WHEN it is answered THEN by mapping the data first, and neither by a smaller batch nor by computing again
    assert advice.prescriptions[0].method == "memory-mapped-storage"
    assert "6.0 GB" in advice.prescriptions[0].basis
    out = {one.method for one in advice.ruled_out}
    assert {"activation-checkpointing", "gradient-accumulation"} <= out


def test_a_small_growth_of_memory_is_told_in_a_unit_that_shows_it(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    growth = Fact(name="growth per step", value=2.3 * 2**20, unit="bytes")
    peak = Fact(name="peak memory", value=3 * 2**30, unit="bytes")
    finding = make_finding(Kind.MEMORY_CAPACITY, cause="growing-memory").model_copy(
        update={"evidence": [peak, growth]}
    )
    basis = proposal_of(Case(make_report(finding), finding), "no-kept-graph").basis
    assert basis.endswith("measured: peak memory 3.0 GB, growth per step 2.3 MB")


def test_compiling_is_declined_for_a_short_step_on_a_cpu(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(Kind.COMPUTE, 0.9)
    report = make_report(finding, setup={"device.kind": "cpu", "cpu.cores": 2, "cpu.threads": 2})
    assert report.step_time is not None
    short = report.model_copy(update={"step_time": report.step_time.model_copy(update={"mean_s": 0.002})})
    assert "torch-compile-default" in {one.method for one in answers(Case(short, finding)).declined}
    assert "torch-compile-default" in {one.method for one in answers(Case(report, finding)).proposals}


@pytest.mark.parametrize("step_s", [0.002, 0.1])
def test_many_small_operations_are_shared_by_more_samples_or_compiled(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding], step_s: float
) -> None:
    # GIVEN a step on a CPU of which nine tenths are spent per operation and in the update, however long it is
    finding = make_finding(Kind.LAUNCH_OVERHEAD, 0.8, cause="many-small-operations")
    finding = finding.model_copy(update={"ms_per_step": 0.8e3 * step_s})
    report = make_report(finding, setup={"device.kind": "cpu", "loader.batch_size": 24})
    shares = {Stage.FORWARD: 0.8, Stage.OPTIMIZER: 0.1, Stage.DATA_WAIT: 0.1}
    stages = [
        StageShare(name=one, seconds_per_step=part * step_s, share=part) for one, part in shares.items()
    ]
    assert report.step_time is not None
    step_time = report.step_time.model_copy(update={"mean_s": step_s})
    case = Case(report.model_copy(update={"step_time": step_time, "stages": stages}), finding)
    # WHEN it is answered THEN the batch to try is named, with what it gains per sample
    larger = proposal_of(case, "large-batch-increase")
    assert "batch_size=96)  # it is 24 now" in larger.how and larger.knob == "batch.size=96"
    assert larger.fit is Fit.CAUSE and "per sample" in larger.basis
    prediction = case.prediction(larger)
    assert prediction is not None
    assert prediction.mid == pytest.approx(1 / (0.1 + 0.9 / 4))
    assert 1.0 < prediction.low < prediction.mid <= prediction.high < prediction.bound == pytest.approx(10)
    # AND compiling is too, for the number of operations tells of it, not the speed of the machine
    assert proposal_of(case, "torch-compile-default").fit is Fit.CAUSE


def test_half_precision_is_declined_on_a_cpu_that_is_not_known_to_have_it(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(Kind.COMPUTE, 0.9)
    case = Case(make_report(finding, setup={"device.kind": "cpu"}), finding)
    assert "amp-bf16" in {one.method for one in answers(case).declined}


def test_threads_follow_the_cores_of_a_rank(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(Kind.CPU_THREADS, 0.5)
    setup = {"device.kind": "cpu", "cpu.cores": 8, "cpu.threads": 1, "world_size": 2}
    stages = {Stage.FORWARD: 0.4, Stage.BACKWARD: 0.4}
    case = Case(make_report(finding, setup=setup, stages=stages), finding)
    assert proposal_of(case, "cpu-inductor-onednn").knob == "threads.intraop=4"


def test_oversubscription_limits_the_workers_threads_first(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(Kind.CPU_THREADS, 0.5, cause="oversubscribed")
    setup = {"device.kind": "cpu", "cpu.cores": 4, "cpu.threads": 4, "loader.num_workers": 4}
    case = Case(make_report(finding, setup=setup), finding)
    assert [one.knob for one in answers(case).proposals] == ["loader.worker_threads=1", "threads.intraop=1"]


def test_threads_of_two_ranks_are_shared_out_over_the_cores(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(Kind.CPU_THREADS, 0.5, cause="oversubscribed")
    setup = {"device.kind": "cpu", "cpu.cores": 4, "cpu.threads": 4, "local_world_size": 2}
    case = Case(make_report(finding, setup=setup), finding)
    assert [one.knob for one in answers(case).proposals] == ["threads.intraop=2"]


CROWD = LoaderReport(
    num_workers=16, batches=40, samples_per_batch=8, sample_wall_s=0.005, sample_cpu_s=0.005, collate_wall_s=0.0,
    collate_cpu_s=0.0, cpu_share=1.0, core_wait_share=0.7, starts=0,
)  # fmt: skip


def test_a_crowd_of_workers_with_one_thread_each_is_made_smaller_not_its_threads(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    # GIVEN 16 workers of one thread on 4 cores that hardly let the training wait for data
    crowd = [Fact(name="threads of loader workers", value=16)]
    finding = make_finding(Kind.CPU_THREADS, 0.4, cause="oversubscribed", evidence=crowd)
    setup = {"device.kind": "cpu", "cpu.cores": 4, "cpu.threads": 4, "loader.num_workers": 16}
    loader = CROWD.model_copy(update={"worker_threads": 1})
    case = Case(make_report(finding, setup=setup, loader=loader), finding)
    # WHEN it is answered THEN by fewer workers, then by fewer threads beside them
    assert [one.knob for one in answers(case).proposals] == ["loader.num_workers=3", "threads.intraop=1"]
    assert no_use("dataloader-num-workers", Kind.CPU_THREADS, case.report) is None


def test_a_crowd_of_workers_is_made_smaller(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    # GIVEN 16 workers that take two cores from the training, which waits for one half of its time
    finding = make_finding(Kind.DATA_LOADING, 0.3, cause="oversubscribed")
    setup = {"device.kind": "cpu", "cpu.cores": 2, "cpu.threads": 2, "loader.num_workers": 16}
    stages = {Stage.DATA_WAIT: 0.3, Stage.FORWARD: 0.7}
    report = make_report(
        finding, setup=setup, stages=stages, loader=CROWD, core_wait_share=0.5, process_cpu_s_per_step=0.05
    )
    case = Case(report, finding)
    # WHEN remedies are asked THEN fewer are the answer to the cause, at worst nothing changes, and no more is promised
    # than the threads' outnumbering the cores explains; they stay as many as the cores, for what the training computes in
    # a crowd is in part waiting
    fewer = proposal_of(case, "dataloader-num-workers")
    assert fewer.knob == "loader.num_workers=2" and fewer.fit is Fit.CAUSE
    found = case.prediction(fewer)
    assert found is not None and 1.0 == found.low < found.mid < found.high <= found.bound


def test_the_bound_counts_what_a_change_acts_on_beyond_its_finding(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    def bound(kind: Kind, method: str, *, setup: Mapping[str, object], **more: object) -> float:
        finding = make_finding(kind, 0.5, **more)
        stages = {Stage.FORWARD: 0.3, Stage.BACKWARD: 0.4, Stage.OPTIMIZER: 0.3}
        case = Case(make_report(finding, setup={"device.kind": "cpu", **setup}, stages=stages), finding)
        found = case.prediction(proposal_of(case, method))
        assert found is not None
        return found.bound

    # Threads that outnumber the cores fourfold make work take four times as long, and a quarter more by switching
    crowded = {"cpu.cores": 2, "cpu.threads": 8}
    assert bound(
        Kind.CPU_THREADS, "cpu-inductor-onednn", setup=crowded, cause="oversubscribed"
    ) == pytest.approx(5.0)
    # A table's gradient is made in the backward, beside the half of the step that its update takes
    assert bound(
        Kind.OPTIMIZER_STEP, "sparse-embedding-gradients", setup={}, cause="dense-embedding-gradient"
    ) == pytest.approx(1 / (1 - 0.5 - 0.4))
    # Anomaly detection leaves of forward and backward what 1000 operations take at least: 5 of 70 ms
    operations = [Fact(name="operations per step", value=1000)]
    assert bound(
        Kind.LAUNCH_OVERHEAD, "disable-debug-apis", setup={"torch.anomaly_mode": True}, cause="anomaly-detection",
        evidence=operations,
    ) == pytest.approx(1 / (1 - 0.65))  # fmt: skip


REPLAYED = WhatIf(
    change="launch cost removed",
    measured_step_s=0.1,
    predicted_step_s=0.07,
    bound_step_s=0.06,
    unexplained_share=0.0,
)


def test_a_replayed_what_if_replaces_the_bounds_alone(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    # GIVEN a trace that was replayed with launches that cost nothing
    finding = make_finding(Kind.LAUNCH_OVERHEAD, 0.4, cause="short-kernels")
    report = make_report(finding, setup=GPU, what_ifs=[REPLAYED])
    case = Case(report, finding)
    # WHEN CUDA graphs are proposed THEN the best case is what the replay predicts
    estimate = case.what_if("launch_cost_removed", likely=0.5)
    assert estimate is not None
    assert (estimate.best_s, estimate.likely_s, estimate.worst_s) == pytest.approx((0.07, 0.085, 0.1))
    graphs = proposal_of(case, "cuda-graphs-manual")
    assert graphs.estimate is not None and graphs.estimate.best_s == pytest.approx(0.07)
    assert "replaying" in graphs.basis
    assert case.what_if("copies_overlapped") is None


@pytest.mark.parametrize(
    ("kind", "fact", "proposed"),
    [
        (Kind.COMPUTE, {"env.torch_distributed_debug": "detail"}, False),
        (Kind.LAUNCH_OVERHEAD, {"env.torch_distributed_debug": "detail"}, False),
        (Kind.COMPUTE, {"env.cuda_launch_blocking": True}, False),
        (Kind.LAUNCH_OVERHEAD, {"env.cuda_launch_blocking": True}, True),
        (Kind.COMPUTE, {"torch.anomaly_mode": True}, True),
    ],
)
def test_a_debugging_aid_answers_only_for_the_time_that_it_takes(
    kind: Kind,
    fact: dict[str, object],
    proposed: bool,
    make_report: Callable[..., Report],
    make_finding: Callable[..., Finding],
) -> None:
    # GIVEN a finding without a known cause in a run with an aid on
    finding = make_finding(kind, 0.4)
    report = make_report(finding, setup=GPU | fact)
    # WHEN it is answered THEN the aid is named only where its time is of this kind
    assert (
        "disable-debug-apis" in [one.method for one in answers(Case(report, finding)).proposals]
    ) is proposed
    assert (no_use("disable-debug-apis", kind, report) is None) is proposed


def test_knobs_that_advice_spells_out_can_be_read() -> None:
    # WHEN a remedy names a knob with its value THEN the knob takes that value
    for word in named("knob"):
        name, _, value = word.partition("=")
        if value and not value.endswith("="):
            knobs.find(name).parse(value)


@pytest.mark.parametrize("kind", [Kind.H2D_TRANSFER, Kind.HOST_SYNC])
def test_copies_that_wait_for_nobody_are_not_told_to(
    kind: Kind, make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(kind, evidence=[Fact(name="non_blocking", value=True, basis="setup")])
    said = {one.method for one in answers(Case(make_report(finding, setup=GPU), finding)).proposals}
    assert "non-blocking-copy" not in said
    finding = make_finding(kind)
    said = {one.method for one in answers(Case(make_report(finding, setup=GPU), finding)).proposals}
    assert "non-blocking-copy" in said


def test_a_compiled_model_is_given_its_mode_by_the_script_alone(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(Kind.LAUNCH_OVERHEAD, cause="short-kernels")
    for compiled, knob in ((False, "compile.reduce_overhead=true"), (True, None)):
        report = make_report(finding, setup={**GPU, "model.compiled": compiled})
        assert proposal_of(Case(report, finding), "torch-compile-reduce-overhead").knob == knob

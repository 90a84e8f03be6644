"""Every kind has remedies; each names methods of the catalog and knobs in their spelling, by cause."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import trainrx.advisor.remedies as remedies
from trainrx.advisor.no_use import no_use
from trainrx.advisor.proposal import Case, Fit, Proposal
from trainrx.advisor.remedies import answers
from trainrx.catalog import Catalog
from trainrx.profiler.agent import knobs
from trainrx.profiler.report import Fact, Finding, Report, WhatIf
from trainrx.profiler.vocabulary import Kind, Stage

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


def proposal_of(case: Case, method: str) -> Proposal:
    return next(one for one in answers(case).proposals if one.method == method)


def test_compiling_is_declined_for_a_short_step_on_a_cpu(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(Kind.COMPUTE, 0.9)
    report = make_report(finding, setup={"device.kind": "cpu", "cpu.cores": 2, "cpu.threads": 2})
    assert report.step_time is not None
    short = report.model_copy(update={"step_time": report.step_time.model_copy(update={"mean_s": 0.002})})
    assert "torch-compile-default" in {one.method for one in answers(Case(short, finding)).declined}
    assert "torch-compile-default" in {one.method for one in answers(Case(report, finding)).proposals}


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

"""Prescriptions: what they promise, in which order they stand, and what is never proposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainrx.advisor.evidence_rows import MAX_ROWS, evidence_rows, likeness
from trainrx.advisor.known_setup import known_setup
from trainrx.advisor.no_use import no_use
from trainrx.advisor.prescribe import prescribe
from trainrx.advisor.proposal import Case
from trainrx.advisor.remedies import answers
from trainrx.catalog import Catalog, Truth, load_catalog
from trainrx.profiler.report import (
    Finding,
    KernelClass,
    LoaderReport,
    Report,
    RunInfo,
    StageShare,
    StepTime,
)
from trainrx.profiler.vocabulary import Confidence, Kind, RunStatus, Severity, Stage

CATALOG = load_catalog()
SHARES = st.floats(min_value=0.0, max_value=1.0)
SETUPS = st.fixed_dictionaries(
    {},
    optional={
        "device.kind": st.sampled_from(["cpu", "cuda", "rocm", "mps"]),
        "device.capability": st.sampled_from(["7.0", "8.0", "9.0"]),
        "torch.version": st.sampled_from(["1.13.1", "2.1.0", "2.6.0"]),
        "world_size": st.integers(1, 16),
        "nodes": st.integers(1, 4),
        "cpu.cores": st.integers(1, 64),
        "cpu.threads": st.integers(1, 64),
        "cpu.numa_nodes": st.integers(1, 4),
        "loader.num_workers": st.integers(0, 32),
        "loader.kind": st.sampled_from(["map", "iterable"]),
        "loader.pin_memory": st.booleans(),
        "loader.persistent_workers": st.booleans(),
        "loader.batch_size": st.integers(1, 512),
        "optimizer.name": st.sampled_from(["adamw", "sgd", "lion"]),
        "optimizer.fused": st.booleans(),
        "optimizer.foreach": st.booleans(),
        "model.compiled": st.booleans(),
        "model.channels_last": st.booleans(),
        "model.has": st.lists(
            st.sampled_from(["attention", "conv", "batchnorm", "large-vocab"]), unique=True
        ),
        "precision": st.sampled_from(["fp32", "tf32", "bf16", "fp16"]),
        "batch.variable_length": st.booleans(),
        "task.domain": st.sampled_from(["vision", "nlp", "speech", "tabular"]),
        "torch.cudnn_benchmark": st.booleans(),
        "torch.anomaly_mode": st.booleans(),
        "ddp.gradient_bytes": st.integers(1, 10**10),
        "ddp.find_unused_parameters": st.booleans(),
        "ddp.bucket_bytes_cap": st.integers(1, 10**8),
    },
)
CAUSES = [
    None, "main-process-loading", "too-few-workers", "cpu-transform", "storage-latency", "collate", "worker-restart",
    "oversubscribed", "pageable-memory", "short-kernels", "graph-break", "blocking-call", "layout-conversions",
    "accumulation-without-no-sync", "small-buckets", "sync-batchnorm", "uneven-work", "gc-pauses", "fragmentation",
    "loss-graph-kept", "cudnn-benchmark-varying-shapes", "dense-embedding-gradient", "launch-blocking",
]  # fmt: skip


@st.composite
def loaders(draw: st.DrawFn) -> LoaderReport:
    wall_s, cpu = draw(st.floats(1e-6, 1.0)), draw(SHARES)
    return LoaderReport(
        num_workers=draw(st.integers(0, 32)),
        batches=40,
        samples_per_batch=draw(st.floats(1, 4096)),
        sample_wall_s=wall_s,
        sample_cpu_s=cpu * wall_s,
        collate_wall_s=draw(st.floats(0, 0.1)),
        collate_cpu_s=0.0,
        cpu_share=cpu,
        core_wait_share=draw(st.none() | SHARES),
        start_s=draw(st.none() | st.floats(0, 30)),
        starts=draw(st.integers(0, 40)),
        bytes_per_sample=draw(st.none() | st.floats(1, 1e9)),
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    step_s = draw(st.floats(1e-4, 100.0))
    weights = draw(st.lists(st.floats(0.0, 1.0), min_size=len(Stage), max_size=len(Stage)))
    total = sum(weights) or 1.0
    shares = {stage: weight / total for stage, weight in zip(Stage, weights)}
    kinds = draw(st.lists(st.sampled_from(Kind), min_size=1, max_size=4, unique=True))
    return Report(
        run=RunInfo(id="r", command=["x"], status=RunStatus.FINISHED),
        verdict="",
        setup=draw(SETUPS),
        step_time=draw(st.none() | st.just(StepTime(p50_s=step_s, p95_s=step_s, mean_s=step_s, n=40))),
        batches_per_step=draw(st.none() | st.floats(0.5, 16)),
        process_cpu_s_per_step=draw(st.none() | st.floats(0, 2 * step_s)),
        stages=[StageShare(name=s, seconds_per_step=v * step_s, share=v) for s, v in shares.items()]
        if draw(st.booleans())
        else [],
        loader=draw(st.none() | loaders()),
        kernel_classes=draw(
            st.sampled_from([[], [KernelClass(name="matmul", seconds=1, count=9, mean_us=5, share=0.6)]])
        ),
        findings=[_drawn_finding(draw, kind, step_s) for kind in kinds],
    )


def _drawn_finding(draw: st.DrawFn, kind: Kind, step_s: float) -> Finding:
    share = draw(SHARES)
    return Finding(
        kind=kind,
        family=kind.family,
        cause=draw(st.sampled_from(CAUSES)),
        share=share,
        ms_per_step=share * step_s * 1e3,
        severity=draw(st.sampled_from(Severity)),
        confidence=Confidence.MEDIUM,
        summary="",
    )


whatever = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NEAR = 1 + 1e-9


@whatever
@given(reports())
def test_no_promise_passes_its_bound_and_ranges_are_ordered(report: Report) -> None:
    for prescription in prescribe(report, CATALOG).prescriptions:
        promised = prescription.predicted_speedup
        if promised is not None:
            assert 0 < promised.low <= promised.mid * NEAR <= promised.high * NEAR**2
            assert promised.high <= promised.bound * NEAR


@whatever
@given(reports())
def test_estimates_of_remedies_are_ordered(report: Report) -> None:
    told = report.model_copy(update={"setup": known_setup(report)})
    for finding in told.findings:
        for proposal in answers(Case(told, finding)).proposals:
            step = proposal.estimate
            assert (
                step is None or step.best_s <= step.likely_s * NEAR + 1e-12 <= step.worst_s * NEAR**2 + 1e-11
            )


@whatever
@given(reports())
def test_nothing_is_proposed_that_cannot_work_or_is_on_already(report: Report) -> None:
    told = report.model_copy(update={"setup": known_setup(report)})
    for prescription in prescribe(report, CATALOG).prescriptions:
        method = CATALOG.methods[prescription.method]
        assert method.needs_met(told.setup).truth is not Truth.FALSE
        assert no_use(method.id, prescription.finding, told) is None


@whatever
@given(reports())
def test_step_savers_stand_behind_and_semantic_changes_unless_their_gain_is_predicted(report: Report) -> None:
    prescriptions = prescribe(report, CATALOG).prescriptions
    saving = ["saves steps" in one.basis for one in prescriptions]
    assert saving == sorted(saving)
    noted = {
        f.kind
        for f in report.findings
        if f.kind in (Kind.COMPUTE, Kind.MEMORY_BANDWIDTH) and f.severity is Severity.NOTE
    }
    for group in (True, False):
        within = [
            one for one, saves in zip(prescriptions, saving) if not saves and (one.finding in noted) is group
        ]
        last_that_keeps = max(
            (number for number, one in enumerate(within) if one.equivalence != "semantic"), default=-1
        )
        before = [one for one in within[:last_that_keeps] if one.equivalence == "semantic"]
        assert all(one.predicted_speedup is not None for one in before)


@whatever
@given(reports())
def test_the_order_is_stable_and_no_change_stands_twice(report: Report) -> None:
    first, second = prescribe(report, CATALOG), prescribe(report, CATALOG)
    assert first == second
    changes = [(one.method, one.knob) for one in first.prescriptions]
    assert len(changes) == len(set(changes))


def test_every_ask_is_a_need_that_the_run_did_not_tell(
    make_report: Callable[..., Report], bundled: Catalog
) -> None:
    told = {"device.kind": "cuda", "torch.version": "2.6.0", "model.has": ["conv"], "precision": "fp32"}
    report = make_report((Kind.COMPUTE, 0.9), setup=told)
    asks = {one.method: one.asks for one in prescribe(report, bundled).prescriptions}
    assert asks["cudnn-benchmark"] == ["Do all batches have the same shape?"]
    assert asks["torch-compile-default"] == []


def test_what_is_on_already_is_ruled_out_with_the_reason(
    make_report: Callable[..., Report], bundled: Catalog
) -> None:
    report = make_report(
        (Kind.COMPUTE, 0.9),
        setup={
            "device.kind": "cuda",
            "torch.cudnn_benchmark": True,
            "model.has": ["conv"],
            "batch.variable_length": False,
            "precision": "bf16",
        },
    )
    reasons = {row.method: row.reason for row in prescribe(report, bundled).ruled_out}
    assert reasons["cudnn-benchmark"] == "cudnn.benchmark is on"
    assert reasons["amp-bf16"] == "needs precision in fp32|tf32, and here it is bf16"


def test_cudnn_search_is_not_proposed_where_shapes_vary(
    make_report: Callable[..., Report], bundled: Catalog
) -> None:
    setup = {"device.kind": "cuda", "model.has": ["conv"], "batch.variable_length": True}
    report = make_report((Kind.COMPUTE, 0.9), setup=setup)
    assert "cudnn-benchmark" not in {one.method for one in prescribe(report, bundled).prescriptions}


def test_half_precision_is_never_proposed_on_a_plain_cpu(
    make_report: Callable[..., Report], bundled: Catalog
) -> None:
    setup = {"device.kind": "cpu", "model.has": ["conv"], "precision": "fp32"}
    advised = prescribe(make_report((Kind.COMPUTE, 0.9), (Kind.MEMORY_BANDWIDTH, 0.3), setup=setup), bundled)
    assert not {"amp-bf16", "amp-fp16"} & {one.method for one in advised.prescriptions}


def test_a_run_without_findings_gets_no_prescription(
    make_report: Callable[..., Report], bundled: Catalog
) -> None:
    assert prescribe(make_report(), bundled).prescriptions == []


def test_the_advice_counts_the_cells_that_it_does_not_show(
    make_report: Callable[..., Report], bundled: Catalog
) -> None:
    advised = prescribe(make_report((Kind.COMPUTE, 0.9), (Kind.DATA_LOADING, 0.3)), bundled)
    assert list(dict.fromkeys(left.finding for left in advised.cells_left)) == [
        Kind.COMPUTE,
        Kind.DATA_LOADING,
    ]


def test_step_savers_say_that_curves_judge_them(make_report: Callable[..., Report], bundled: Catalog) -> None:
    report = make_report((Kind.COMPUTE, 0.9), setup={"device.kind": "cuda", "task.domain": "vision"})
    last = prescribe(report, bundled).prescriptions[-1]
    assert "quality-against-cost curves" in last.basis
    assert last.predicted_speedup is None


def test_the_next_bottleneck_is_the_largest_rest(
    make_report: Callable[..., Report], bundled: Catalog
) -> None:
    report = make_report(
        (Kind.CHECKPOINT_IO, 0.6), stages={Stage.CHECKPOINT: 0.6, Stage.FORWARD: 0.1, Stage.BACKWARD: 0.3}
    )
    first = prescribe(report, bundled).prescriptions[0]
    assert first.next_bottleneck == "backward, 30.0 ms of 46.0 ms"


def test_the_next_bottleneck_agrees_with_the_predicted_speedup(make_report: Callable[..., Report]) -> None:
    # GIVEN a run on a CPU whose steps without the bottleneck are known to be quicker
    stages = {Stage.CHECKPOINT: 0.6, Stage.FORWARD: 0.1, Stage.BACKWARD: 0.3}
    report = make_report((Kind.CHECKPOINT_IO, 0.6), setup={"device.kind": "cpu"}, stages=stages)
    shares = [share.model_copy(update={"rest_undisturbed_s": 0.03}) for share in report.stages]
    report = report.model_copy(update={"stages": shares})
    # WHEN it is prescribed for THEN what is left is the step that is predicted, the relief of the rest included
    first = prescribe(report, CATALOG).prescriptions[0]
    assert first.predicted_speedup is not None and first.next_bottleneck is not None
    left_ms = 100 / first.predicted_speedup.mid
    assert left_ms < 46
    assert first.next_bottleneck.endswith(f"of {left_ms:.1f} ms")


@pytest.mark.parametrize(
    ("kind", "metric"),
    [
        (Kind.CHECKPOINT_IO, "checkpoint time"),
        (Kind.EVALUATION, "evaluation time"),
        (Kind.LOGGING, "logging time"),
    ],
)
def test_a_method_is_verified_by_what_it_is_prescribed_for(
    kind: Kind, metric: str, make_report: Callable[..., Report]
) -> None:
    found = prescribe(make_report((kind, 0.6), setup={"device.kind": "cpu"}), CATALOG).prescriptions
    rarer = next(one for one in found if one.method == "eval-and-log-frequency")
    assert rarer.verify.startswith(metric) and ";" not in rarer.verify


def test_a_bound_above_the_findings_own_says_why(make_report: Callable[..., Report]) -> None:
    # GIVEN the same run, once with a rest that is known to take less when nothing disturbs it
    stages = {Stage.CHECKPOINT: 0.6, Stage.FORWARD: 0.1, Stage.BACKWARD: 0.3}
    report = make_report((Kind.CHECKPOINT_IO, 0.6), setup={"device.kind": "cpu"}, stages=stages)
    shares = [share.model_copy(update={"rest_quick_s": 0.02}) for share in report.stages]
    relieved = report.model_copy(update={"stages": shares})
    # WHEN both are prescribed for THEN the bound that is more than the finding's time is explained, the other is not
    for told, explained in ((relieved, True), (report, False)):
        first = prescribe(told, CATALOG).prescriptions[0]
        assert first.predicted_speedup is not None
        assert (first.predicted_speedup.bound > 2.51) is explained
        assert ("without that, 2.50× is the bound" in first.basis) is explained


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_negatives_of_a_like_setting_are_shown_first(bundled: Catalog, device: str) -> None:
    setup: Mapping[str, object] = {"device.kind": device, "task.domain": "vision"}
    for method in bundled.methods.values():
        rows = evidence_rows(method, setup)
        like = [row for row in method.evidence if row.is_negative and likeness(row, setup) > 0]
        assert len(rows) <= MAX_ROWS
        assert all(row.negative for row in rows[: min(len(like), MAX_ROWS)])
        assert any(row.negative for row in rows) == bool(method.negatives)


@pytest.mark.parametrize(("cause", "proposed"), [("model-compute", False), ("needless-recomputation", True)])
def test_keeping_activations_is_advised_only_where_they_are_computed_twice(
    cause: str,
    proposed: bool,
    bundled: Catalog,
    make_report: Callable[..., Report],
    make_finding: Callable[..., Finding],
) -> None:
    # GIVEN a GPU that is busy WHEN it is prescribed for THEN checkpointing is not taken out of a run that has none
    report = make_report(make_finding(Kind.COMPUTE, 0.5, cause=cause), setup={"device.kind": "cuda"})
    assert (no_use("no-activation-checkpointing", Kind.COMPUTE, report) is None) is proposed
    advised = prescribe(report, bundled)
    assert proposed or "no-activation-checkpointing" in [one.method for one in advised.ruled_out]


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({}, "no sharded parameters were seen in this run"),
        ({"fsdp": True, "fsdp.reshard_after_forward": False}, "reshard_after_forward is off"),
        ({"fsdp": True, "fsdp.reshard_after_forward": True}, None),
    ],
)
def test_parameters_stay_gathered_only_where_they_are_sharded(
    facts: dict[str, object], reason: str | None, make_report: Callable[..., Report]
) -> None:
    report = make_report((Kind.COMMUNICATION, 0.4), setup={"loader.num_workers": 0, **facts})
    assert no_use("fsdp-no-reshard", Kind.COMMUNICATION, report) == reason


def test_what_keeps_the_run_alive_stands_before_what_makes_it_faster(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding], bundled: Catalog
) -> None:
    # GIVEN a run that a shortage of memory will end, and that waits for data now and then
    memory = make_finding(Kind.MEMORY_CAPACITY, 0.0, cause="loss-graph-kept", severity=Severity.MODERATE)
    waits = make_finding(Kind.DATA_LOADING, 0.2, cause="main-process-loading")
    told = prescribe(make_report(memory, waits, setup={"device.kind": "cpu", "cpu.cores": 8}), bundled)
    # THEN what answers the shortage comes first, though no gain in time is predicted for it
    assert told.prescriptions[0].method == "no-kept-graph"
    # AND as a note beside another headline it has no such right
    noted = make_finding(Kind.MEMORY_CAPACITY, 0.0, cause="loss-graph-kept", severity=Severity.NOTE)
    told = prescribe(make_report(waits, noted, setup={"device.kind": "cpu", "cpu.cores": 8}), bundled)
    assert told.prescriptions[0].finding is Kind.DATA_LOADING

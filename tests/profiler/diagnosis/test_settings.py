"""Switches, compilers and evaluation: what a setting costs is found where it costs, and nowhere else."""

from __future__ import annotations

import pytest

from trainrx.profiler.diagnosis import (
    diagnose,
    evaluation,
    host_python,
    host_sync,
    launch_overhead,
    optimizer_step,
    recompilation,
)
from trainrx.profiler.report import StepTime, Where
from trainrx.profiler.timeline.compiled import CompiledModel, GraphBreak
from trainrx.profiler.timeline.interruptions import Interruptions
from trainrx.profiler.vocabulary import Activity, Confidence, Kind, Severity, Stage

MODEL = {Stage.FORWARD: 10.0, Stage.BACKWARD: 20.0}


@pytest.mark.parametrize(
    ("setup", "cause"),
    [({"torch.anomaly_mode": True}, "anomaly-detection"), ({"torch.profiler": True}, "profiler-left-on")],
)
def test_debugging_left_on_is_the_headline_of_many_operations(observe, setup, cause) -> None:
    # GIVEN 4,000 operations in 48 ms and a debugging aid that is on
    seen = observe({Stage.FORWARD: 16.0, Stage.BACKWARD: 32.0}, setup=setup, operations_per_step=4000)
    # WHEN it is diagnosed THEN the aid is told before the operations are
    found = diagnose(seen)
    assert (found[0].kind, found[0].cause) == (Kind.LAUNCH_OVERHEAD, cause)


@pytest.mark.parametrize(
    ("setup", "operations"),
    [
        ({"torch.anomaly_mode": True}, 20),  # too few operations for its cost to show
        ({"torch.anomaly_mode": True}, None),  # nobody counted them
        ({"torch.anomaly_mode": False, "torch.profiler": False}, 400),
        ({"torch.anomaly_mode": True, "device.kind": "cuda"}, 4000),  # the host's clock tells nothing there
    ],
)
def test_debugging_that_costs_nothing_here_is_no_finding(observe, setup, operations) -> None:
    assert launch_overhead.find(observe(MODEL, setup=setup, operations_per_step=operations)) is None


BREAKS = tuple(
    GraphBreak(Where(file="train.py", line=line, function="forward"), "a print") for line in (7, 9)
)


def test_a_broken_graph_is_placed_at_its_first_break(observe) -> None:
    compiled = CompiledModel(breaks=BREAKS, pieces_per_backward=200.0)
    found = launch_overhead.find(observe(MODEL, compiled=compiled, backwards_per_step=1.0))
    assert found is not None and (found.cause, found.severity) == ("graph-break", Severity.HIGH)
    assert [where.line for where in found.where] == [7, 9]
    assert found.ms_per_step == pytest.approx(199 * 0.12)


@pytest.mark.parametrize(
    "compiled",
    [
        CompiledModel(),
        CompiledModel(breaks=BREAKS, pieces_per_backward=3.0),  # cheap in a step of 30 ms
        CompiledModel(breaks=(), pieces_per_backward=200.0),  # many models, none of them broken
        CompiledModel(breaks=BREAKS, pieces_per_backward=None),
    ],
)
def test_few_pieces_are_no_finding(observe, compiled: CompiledModel) -> None:
    assert launch_overhead.find(observe(MODEL, compiled=compiled, backwards_per_step=1.0)) is None


def test_a_compiler_that_gave_up_is_told_with_doubt(observe) -> None:
    found = recompilation.find(observe(MODEL, compiled=CompiledModel(limit="recompile_limit")))
    assert found is not None and found.cause == "recompile-limit"
    assert found.confidence is Confidence.LOW and found.severity is Severity.MODERATE


def test_compilations_that_go_on_come_before_the_limit(observe) -> None:
    going_on = Interruptions({Stage.FORWARD: 0.008}, 0.25)
    found = recompilation.find(
        observe(MODEL, compiled=CompiledModel(limit="recompile_limit"), compilation=going_on)
    )
    assert found is not None and found.cause == "failing-guards"


SEARCHING = {
    "device.kind": "cuda",
    "torch.cudnn_benchmark": True,
    "batch.variable_length": True,
    "model.has": ["conv"],
}


def searching(observe, **setup):
    seen = observe(MODEL, setup={**SEARCHING, **setup})
    time = StepTime(p50_s=0.018, p95_s=0.1, mean_s=0.030, n=40)
    return type(seen)(**{**vars(seen), "step_time": time})


def test_a_search_for_each_shape_is_what_slow_steps_take_above_the_median(observe) -> None:
    found = recompilation.find(searching(observe))
    assert found is not None and found.cause == "cudnn-benchmark-varying-shapes"
    assert found.ms_per_step == pytest.approx(12)


@pytest.mark.parametrize(
    "setup",
    [
        {"torch.cudnn_benchmark": False},
        {"batch.variable_length": False},
        {"model.has": ["attention"]},
        {"device.kind": "cpu"},
    ],
)
def test_slow_steps_are_no_search_where_nothing_is_searched(observe, setup) -> None:
    assert recompilation.find(searching(observe, **setup)) is None


def test_launches_that_block_are_told_on_a_gpu_only(observe) -> None:
    switch = {"env.cuda_launch_blocking": True}
    found = host_sync.find(observe(MODEL, setup={**switch, "device.kind": "cuda"}))
    assert found is not None and found.cause == "launch-blocking" and found.confidence is Confidence.LOW
    assert host_sync.find(observe(MODEL, setup=switch)) is None
    assert host_sync.find(observe(MODEL, setup={"device.kind": "cuda"})) is None


@pytest.mark.parametrize(
    ("share", "cause"),
    [(1.0, "eval-without-no-grad"), (0.0, "evaluation-too-often"), (None, "evaluation-too-often")],
)
def test_evaluation_that_keeps_gradients_says_so(observe, share, cause) -> None:
    found = evaluation.find(observe({**MODEL, Stage.EVALUATION: 20.0}, evaluation_gradient_share=share))
    assert found is not None and found.cause == cause
    assert ("gradients" in found.summary) == (cause == "eval-without-no-grad")


def test_metrics_of_a_library_are_host_time_with_a_name(observe, make_line) -> None:
    # GIVEN 10 ms between the stages, 6 of them in a library's metrics, on lines that do more
    lines = (
        make_line(4, line=9), make_line(3.5, activity=Activity.MEASURING, line=7), make_line(1, line=7),
        make_line(1.5, activity=Activity.MEASURING, line=8),
    )  # fmt: skip
    found = host_python.find(observe({**MODEL, Stage.HOST: 10.0}, lines=lines))
    # THEN all of it is other Python, most of it metrics, and each line is named once
    assert found is not None and found.cause == "metric-on-cpu"
    assert found.ms_per_step == pytest.approx(10)
    assert [where.line for where in found.where] == [7, 9, 8]


EMBEDDED = {
    "optimizer.name": "adamw",
    "optimizer.tensors": 4,
    "optimizer.parameters": 1_000_000,
    "model.dense_embedding_parameters": 900_000,
    "model.dense_embedding_rows": 50_000,
    "batch.index_values": 512,
}


@pytest.mark.parametrize(
    ("more", "cause"),
    [
        ({}, "dense-embedding-gradient"),
        ({"batch.index_values": 40_000}, None),  # a batch uses most of the rows
        ({"batch.index_values": 0}, None),  # no input looks anything up
        ({"model.dense_embedding_parameters": 100_000}, None),  # the rest of the model is larger
        ({"model.dense_embedding_rows": 0}, None),  # its gradient is sparse
    ],
)
def test_rows_that_no_batch_uses_are_blamed_where_they_fill_the_model(observe, more, cause) -> None:
    found = optimizer_step.find(observe({**MODEL, Stage.OPTIMIZER: 40.0}, setup={**EMBEDDED, **more}))
    assert found is not None and found.cause == cause

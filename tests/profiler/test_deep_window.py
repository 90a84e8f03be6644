"""What a trace adds to the findings of a recorded run."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from trainrx.profiler.deep_window import with_device
from trainrx.profiler.diagnosis.device.observation import DeviceObservation
from trainrx.profiler.diagnosis.finding import ALONE
from trainrx.profiler.report import Fact, Finding
from trainrx.profiler.vocabulary import Confidence, IdleCause, Kind, Severity

IN_FLOATS = DeviceObservation(
    window_s=1.0, step_s=0.1, device_active=True, host_active=True, compute_share=0.9,
    communication_share=0.0, idle_share=0.1, idle_causes={IdleCause.HOST: 0.1}, data_wait_share=0.0,
    kernels=1000, mean_kernel_us=50.0, kernel_shares={"matmul": 1.0}, precision_shares={"fp32": 1.0},
    matrix_unit_share=0.0,
)  # fmt: skip


def clocked(cause: str | None, kind: Kind = Kind.COMPUTE, share: float = 0.6) -> Finding:
    return Finding(
        kind=kind, family=kind.family, cause=cause, share=share, ms_per_step=60.0, severity=Severity.NOTE,
        confidence=Confidence.HIGH, evidence=[Fact(name="share of step", value=share)], summary="by the clock",
    )  # fmt: skip


def joined(*findings: Finding, is_clocked: bool) -> dict[Kind, Finding]:
    summary: Any = SimpleNamespace(observation=IN_FLOATS)
    return {found.kind: found for found in with_device(findings, summary, 0.1, is_clocked=is_clocked)}


@pytest.mark.parametrize(
    ("cause", "then"),
    [
        ("model-compute", "full-precision"),
        (None, "full-precision"),
        ("needless-recomputation", "needless-recomputation"),
    ],
)
def test_what_kernels_tell_joins_a_finding_of_the_devices_clock(cause: str | None, then: str) -> None:
    # GIVEN computing by the device's clock, and a trace of kernels in 32-bit floats
    found = joined(clocked(cause), is_clocked=True)[Kind.COMPUTE]
    # THEN the time is the clock's, cause and evidence come from the kernels too
    assert (found.cause, found.share, found.summary) == (then, 0.6, "by the clock")
    names = [fact.name for fact in found.evidence]
    assert names[0] == "share of step" and "matrix work on tensor cores, by kernel name" in names


def test_without_the_devices_clock_the_traces_finding_stands() -> None:
    found = joined(clocked("model-compute"), is_clocked=False)[Kind.COMPUTE]
    assert (found.cause, found.share) == ("full-precision", 0.9)


def test_host_findings_are_held_to_idle_time_only_without_the_devices_clock() -> None:
    loading = clocked("too-few-workers", Kind.DATA_LOADING)
    assert joined(loading, is_clocked=True)[Kind.DATA_LOADING].share == 0.6
    assert joined(loading, is_clocked=False)[Kind.DATA_LOADING].share == 0.1


def test_a_finding_that_is_held_says_so() -> None:
    # GIVEN loading that takes 60 % of the host's time, on a GPU that idles for 10 %
    loading = clocked("too-few-workers", Kind.DATA_LOADING)
    evidence = [*loading.evidence, Fact(name=ALONE, value=2.5, unit="×", basis="derived")]
    # WHEN it is held to that
    found = joined(loading.model_copy(update={"evidence": evidence}), is_clocked=False)[Kind.DATA_LOADING]
    # THEN sentence and numbers promise no more
    assert found.summary.startswith("by the clock; the GPU had nothing to do for only 10 % of the time")
    told = {fact.name: (fact.value, fact.basis) for fact in found.evidence}
    assert told["share of step"] == (0.1, "derived")
    assert told[ALONE] == (pytest.approx(1 / 0.9), "derived")


def test_computing_stands_behind_waits_that_are_more_than_notes() -> None:
    # GIVEN a trace that computes for 90 % of the time, and a moderate wait beside it
    wait = clocked("slow-wire", Kind.COMMUNICATION, share=0.3).model_copy(
        update={"severity": Severity.MODERATE}
    )
    summary: Any = SimpleNamespace(observation=replace(IN_FLOATS, compute_share=0.97))
    # THEN the wait is the headline, as in a trace alone
    kinds = [found.kind for found in with_device([wait], summary, 0.1)]
    assert kinds[:2] == [Kind.COMMUNICATION, Kind.COMPUTE]


@pytest.mark.parametrize("is_clocked", [True, False])
def test_a_launch_overhead_that_the_host_sees_gives_way_to_the_traces(is_clocked: bool) -> None:
    found = joined(clocked("graph-break", Kind.LAUNCH_OVERHEAD), is_clocked=is_clocked)
    assert found[Kind.LAUNCH_OVERHEAD].cause != "graph-break"

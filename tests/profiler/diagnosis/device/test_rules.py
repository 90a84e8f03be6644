"""Rules on device traces: each fires on its own observation, none on a healthy one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.diagnosis.device.observation import DeviceObservation, RankSkew
from trainrx.profiler.diagnosis.device.verdict import RULES, find_all, headline, verdict
from trainrx.profiler.diagnosis.thresholds import DEVICE_LEVELS
from trainrx.profiler.timeline.kernels import HotKernel
from trainrx.profiler.vocabulary import IdleCause, Kind, Severity

HEALTHY = DeviceObservation(
    window_s=1.0,
    step_s=0.1,
    device_active=True,
    host_active=True,
    compute_share=0.78,
    communication_share=0.04,
    idle_share=0.14,
    idle_causes={IdleCause.DATA: 0.02, IdleCause.LAUNCH: 0.06, IdleCause.HOST: 0.03, IdleCause.SYNC: 0.03},
    data_wait_share=0.02,
    kernels=1000,
    mean_kernel_us=50.0,
    kernel_shares={"matmul": 0.9, "elementwise": 0.1},
)


def waiting(cause: IdleCause, share: float) -> DeviceObservation:
    return replace(
        HEALTHY,
        compute_share=1 - share,
        communication_share=0,
        idle_share=share,
        idle_causes={cause: share},
    )


def test_a_healthy_run_gets_nothing_dominates() -> None:
    findings = find_all(HEALTHY)
    assert headline(findings) is None
    assert verdict(HEALTHY, findings).startswith("Nothing dominates: the device computes 78 % of the time")


@pytest.mark.parametrize(
    ("seen", "kind", "cause"),
    [
        (replace(waiting(IdleCause.DATA, 0.4), loader="single-process"), Kind.DATA_LOADING, "main-process-loading"),
        (replace(waiting(IdleCause.DATA, 0.4), loader="multi-process"), Kind.DATA_LOADING, "too-few-workers"),
        (replace(waiting(IdleCause.LAUNCH, 0.7), mean_kernel_us=4.0), Kind.LAUNCH_OVERHEAD, "short-kernels"),
        (waiting(IdleCause.HOST, 0.7), Kind.LAUNCH_OVERHEAD, "slow-host"),
        (waiting(IdleCause.SYNC, 0.4), Kind.HOST_SYNC, "blocking-call"),
        (replace(HEALTHY, compute_share=0.6, h2d_exposed_share=0.3, h2d_pageable_share=1.0), Kind.H2D_TRANSFER, "pageable-memory"),
        (replace(HEALTHY, compute_share=0.6, h2d_exposed_share=0.3, h2d_pageable_share=0.0), Kind.H2D_TRANSFER, "not-overlapped"),
        (replace(HEALTHY, communication_share=0.3, communication_busy_share=0.3), Kind.COMMUNICATION, "not-overlapped"),
        (replace(HEALTHY, communication_share=0.3, communication_busy_share=0.6), Kind.COMMUNICATION, "partly-hidden"),
        (replace(HEALTHY, compute_share=0.96, precision_shares={"fp32": 0.9}), Kind.COMPUTE, "full-precision"),
        (replace(HEALTHY, compute_share=0.75, kernel_shares={"elementwise": 0.95}), Kind.MEMORY_BANDWIDTH, "unfused-kernels"),
        (replace(HEALTHY, compute_share=0.75, kernel_shares={"elementwise": 0.85, "convolution": 0.15}, layout_share=0.1), Kind.MEMORY_BANDWIDTH, "layout-conversions"),
        (replace(HEALTHY, optimizer_device_share=0.4), Kind.OPTIMIZER_STEP, None),
    ],
)  # fmt: skip
def test_each_kind_is_found(seen: DeviceObservation, kind: Kind, cause: str | None) -> None:
    first = headline(find_all(seen))
    assert first is not None
    assert (first.kind, first.cause) == (kind, cause)
    assert first.family is kind.family
    assert first.evidence
    assert first.ms_per_step == pytest.approx(first.share * 100)


HOTTEST = {
    "matmul": HotKernel("sgemm_128x64", 0.5),
    "elementwise": HotKernel("vectorized_add", 0.2),
    "reduction": HotKernel("reduce_sum", 0.1),
    "optimizer": HotKernel("multi_tensor_adam", 0.1),
    "communication": HotKernel("ncclDevKernel_AllReduce", 0.6),
}


@pytest.mark.parametrize(
    ("facts", "kernel"),
    [
        ({"compute_share": 0.96, "kernel_shares": dict.fromkeys(HOTTEST, 0.2)}, "sgemm_128x64"),
        ({"compute_share": 0.75, "kernel_shares": {"elementwise": 0.85, "reduction": 0.1}}, "vectorized_add"),
        ({"optimizer_device_share": 0.4}, "multi_tensor_adam"),
        ({"communication_share": 0.3, "communication_busy_share": 0.3}, "ncclDevKernel_AllReduce"),
    ],
)
def test_the_hottest_kernel_is_named_where_kernels_are_the_finding(
    facts: dict[str, Any], kernel: str
) -> None:
    first = headline(find_all(replace(HEALTHY, **facts, hottest_kernels=HOTTEST)))
    assert first is not None
    assert [where.kernel for where in first.where] == [kernel]
    assert any(fact.name == "hottest kernel, of kernel time" for fact in first.evidence)


def test_the_late_rank_takes_its_part_of_communication() -> None:
    skew = RankSkew(
        matched=50, late_rank=3, times_last=40, waiting_share=0.2, wire_share=0.1, skew_mean_s=0.002
    )
    seen = replace(HEALTHY, communication_share=0.3, communication_busy_share=0.3, skew=skew)
    findings = find_all(seen)
    assert findings[0].kind is Kind.STRAGGLERS
    assert findings[0].where[0].rank == 3
    assert next(one.share for one in findings if one.kind is Kind.COMMUNICATION) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("exposed", "busy", "waited", "late", "rest"),
    [
        (0.0, 0.35, 0.2, 0.0, 0.0),  # all hidden by computing
        (0.2, 0.5, 0.3, 0.12, 0.08),  # more waiting than is exposed: in proportion
        (0.3, 0.3, 0.2, 0.2, 0.1),  # nothing hidden
        (0.1, 0.0, 0.3, 0.1, 0.0),  # not told how much there is: no more than is exposed
    ],
)
def test_only_waiting_that_nothing_hides_counts(
    exposed: float, busy: float, waited: float, late: float, rest: float
) -> None:
    # GIVEN ranks that wait for rank 3 while other kernels run, or do not
    skew = RankSkew(
        matched=50, late_rank=3, times_last=40, waiting_share=waited, wire_share=0.1, skew_mean_s=0.002
    )
    seen = replace(HEALTHY, communication_share=exposed, communication_busy_share=busy, skew=skew)
    # WHEN it is diagnosed THEN the two kinds share out what is exposed
    shares = {one.kind: one.share for one in find_all(seen)}
    assert seen.late_share == pytest.approx(late)
    assert shares.get(Kind.STRAGGLERS, 0.0) == pytest.approx(late)
    assert seen.communication_share - seen.late_share == pytest.approx(rest)


def test_a_late_rank_behind_a_larger_wait_is_named_in_the_verdict_too() -> None:
    skew = RankSkew(
        matched=50, late_rank=3, times_last=40, waiting_share=0.2, wire_share=0.1, skew_mean_s=0.002
    )
    seen = replace(waiting(IdleCause.LAUNCH, 0.6), communication_share=0.26, skew=skew)
    assert "Launch overhead" in verdict(seen, find_all(seen))
    assert "rank 3" in verdict(seen, find_all(seen))


def test_full_memory_is_told_but_never_a_headline() -> None:
    seen = replace(HEALTHY, peak_reserved_bytes=97, device_memory_bytes=100)
    found = find_all(seen)
    assert [one.kind for one in found if one.kind is Kind.MEMORY_CAPACITY] == [Kind.MEMORY_CAPACITY]
    assert headline(found) is None


def test_a_file_that_cannot_tell_says_so() -> None:
    blind = DeviceObservation(window_s=1.0, step_s=None, device_active=False, host_active=False)
    assert find_all(blind) == []
    assert verdict(blind, []).startswith(
        "Not enough evidence: the file holds neither device work nor operators"
    )
    host_only = replace(blind, host_active=True, data_wait_share=0.0)
    assert verdict(host_only, find_all(host_only)).startswith(
        "Not enough evidence: no device work was recorded"
    )


def test_a_host_only_trace_can_still_tell_data_loading() -> None:
    seen = DeviceObservation(
        window_s=1.0,
        step_s=None,
        device_active=False,
        host_active=True,
        data_wait_share=0.4,
        loader="single-process",
    )
    assert verdict(seen, find_all(seen)) == (
        "Data loading: for 40 % of the time the training thread waits in the single-process loader."
    )


SHARES = st.floats(0, 1)


@given(st.lists(SHARES, min_size=8, max_size=8), st.booleans(), st.sampled_from([None, "single-process"]))
def test_any_observation_gives_findings_in_order(
    parts: list[float], linked: bool, loader: str | None
) -> None:
    total = sum(parts) or 1.0
    share = [part / total for part in parts]
    seen = replace(
        HEALTHY,
        compute_share=share[0],
        communication_share=share[1],
        h2d_exposed_share=share[2],
        idle_share=sum(share[3:]),
        idle_causes=dict(zip(IdleCause, share[3:], strict=True)),
        communication_busy_share=share[1],
        launch_delay_median_us=5.0 if linked else None,
        loader=loader,
    )
    findings = find_all(seen)
    assert all(0 <= one.share <= 1.000001 for one in findings)
    assert [one.severity is Severity.NOTE for one in findings] == sorted(
        one.severity is Severity.NOTE for one in findings
    )
    assert verdict(seen, findings)


def test_every_rule_has_levels_with_a_source() -> None:
    assert len(RULES) == len(DEVICE_LEVELS)
    for levels in DEVICE_LEVELS.values():
        assert 0 < levels.report <= levels.moderate <= levels.high
        assert levels.source

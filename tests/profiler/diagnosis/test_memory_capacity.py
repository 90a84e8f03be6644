"""Growing memory is told from a cache that fills, and a full machine from a free one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainrx.profiler.diagnosis import diagnose, memory_capacity
from trainrx.profiler.timeline.process_memory import ProcessMemory
from trainrx.profiler.vocabulary import Kind, Severity, Stage

MODEL = {Stage.FORWARD: 10.0, Stage.BACKWARD: 20.0}
MEGA = 2**20
STEADY = ProcessMemory(
    peak_bytes=400 * MEGA, growth_bytes_per_step=0.0, rising_share=0.1, limit_bytes=8000 * MEGA, steps=40
)
GROWING = replace(STEADY, growth_bytes_per_step=2.0 * MEGA, rising_share=0.9)


def test_growth_is_told_with_the_step_at_which_memory_ends(observe) -> None:
    found = memory_capacity.find(observe(MODEL, memory=GROWING))
    assert found is not None and found.cause == "growing-memory" and found.severity is Severity.HIGH
    assert "3800 steps" in found.summary
    assert (found.share, found.ms_per_step) == (0.0, 0.0)


def test_what_costs_time_comes_first(observe) -> None:
    findings = diagnose(observe({**MODEL, Stage.DATA_WAIT: 30.0}, memory=GROWING))
    assert [finding.kind for finding in findings][:2] == [Kind.DATA_LOADING, Kind.MEMORY_CAPACITY]


@pytest.mark.parametrize(
    "memory",
    [
        None,
        STEADY,
        replace(GROWING, rising_share=0.3),  # a jump and a plateau
        replace(GROWING, growth_bytes_per_step=1000.0),  # too little to matter
        replace(GROWING, peak_bytes=100_000 * MEGA, limit_bytes=None),  # little against what is used
    ],
)
def test_steady_memory_is_no_finding(observe, memory: ProcessMemory | None) -> None:
    assert memory_capacity.find(observe(MODEL, memory=memory)) is None


@pytest.mark.parametrize(("peak", "severity"), [(0.93, Severity.MODERATE), (0.98, Severity.HIGH)])
def test_a_nearly_full_machine(observe, peak: float, severity: Severity) -> None:
    found = memory_capacity.find(observe(MODEL, memory=replace(STEADY, peak_bytes=int(peak * 8000 * MEGA))))
    assert found is not None and (found.cause, found.severity) == ("near-limit", severity)


def test_an_unknown_limit_gives_no_forecast(observe) -> None:
    found = memory_capacity.find(observe(MODEL, memory=replace(GROWING, limit_bytes=None)))
    assert found is not None and found.severity is Severity.MODERATE and "limit" not in found.summary

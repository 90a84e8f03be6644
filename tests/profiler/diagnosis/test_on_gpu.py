"""Rules that rest on what crosses between host and device."""

from __future__ import annotations

import pytest

from trainrx.profiler.diagnosis import h2d_transfer, host_sync
from trainrx.profiler.report import Crossing, Finding
from trainrx.profiler.vocabulary import Call, Confidence, Kind, Severity, Stage

GPU = {"device.kind": "cuda"}
MODEL = {Stage.FORWARD: 10.0, Stage.BACKWARD: 20.0, Stage.HOST: 10.0}


def call(kind: Call, milliseconds: float | None, line: int = 30, **more: object) -> Crossing:
    seconds = None if milliseconds is None else milliseconds / 1e3
    return Crossing(
        call=kind,
        file="/u/train.py",
        line=line,
        function="main",
        seconds_per_step=seconds,
        samples=20,
        **more,
    )  # type: ignore[arg-type]


ITEM = call(Call.ITEM, 25.0, calls_per_step=1)


def test_what_waiting_exposes_is_no_more_than_the_gpu_waits(observe) -> None:
    found = host_sync.find(observe(MODEL, setup=GPU, crossings=(ITEM,), device_wait_s=0.010))
    assert found is not None
    assert (found.cause, found.ms_per_step, found.severity) == ("item-every-step", 10.0, Severity.MODERATE)
    assert found.where[0].line == 30
    assert "25.0 ms of every step for the GPU" in found.summary and "train.py:30" in found.summary


def test_nor_more_than_the_calls_take(observe) -> None:
    found = host_sync.find(
        observe(MODEL, setup=GPU, crossings=(call(Call.SYNCHRONIZE, 4.0),), device_wait_s=0.010)
    )
    assert found is not None and (found.cause, found.ms_per_step) == ("synchronize-call", 4.0)


@pytest.mark.parametrize(
    ("crossings", "wait"),
    [
        ((ITEM,), 0.0005),  # the device has always enough in hand
        ((ITEM,), None),  # its clock was not read
        ((), 0.010),
        ((call(Call.TO_DEVICE, 25.0),), 0.010),
        ((call(Call.ITEM, None, calls_per_step=3),), 0.010),
    ],
)
def test_no_finding_where_nothing_is_exposed_or_known(observe, crossings, wait) -> None:
    assert host_sync.find(observe(MODEL, setup=GPU, crossings=crossings, device_wait_s=wait)) is None


def test_a_traces_finding_gets_the_line() -> None:
    found = Finding(
        kind=Kind.HOST_SYNC, family=Kind.HOST_SYNC.family, cause="blocking-call", share=0.3, ms_per_step=3.0,
        severity=Severity.HIGH, confidence=Confidence.HIGH, summary="Host sync",
    )  # fmt: skip
    placed = host_sync.placed(found, [ITEM])
    assert (placed.cause, placed.where[0].line, placed.share) == ("item-every-step", 30, 0.3)
    assert host_sync.placed(found, []) is found


@pytest.mark.parametrize(
    ("copies", "setup", "cause"),
    [
        (
            (call(Call.TO_DEVICE, 5.0, bytes_per_step=10**7, pinned=False, non_blocking=True),),
            {},
            "pageable-memory",
        ),
        ((call(Call.TO_DEVICE, 5.0, bytes_per_step=10**7, pinned=True),), {}, "not-overlapped"),
        ((), {"loader.pin_memory": False}, "pageable-memory"),
        ((), {"loader.pin_memory": True}, "not-overlapped"),
        ((), {}, "not-overlapped"),
    ],
)
def test_copies_are_told_by_how_they_are_made(observe, copies, setup, cause: str) -> None:
    found = h2d_transfer.find(observe({**MODEL, Stage.H2D: 10.0}, setup={**GPU, **setup}, crossings=copies))
    assert found is not None and (found.kind, found.cause) == (Kind.H2D_TRANSFER, cause)
    assert found.ms_per_step == pytest.approx(10)
    facts = {fact.name: fact.value for fact in found.evidence}
    if copies:
        assert facts["copied per step"] == 10**7 and facts["copied over exposed time"] == 1.0
    # AND only what was counted is told as a number
    assert ("bytes from pageable memory" in facts) == bool(copies)


@pytest.mark.parametrize(
    ("steps", "then"),
    [(None, Confidence.HIGH), (40, Confidence.HIGH), (6, Confidence.MEDIUM), (2, Confidence.LOW)],
)
def test_a_finding_is_as_sure_as_the_steps_that_the_gpu_was_timed_in(observe, steps, then) -> None:
    found = h2d_transfer.find(observe({**MODEL, Stage.H2D: 10.0}, setup=GPU, device_steps=steps))
    assert found is not None and found.confidence is then


def test_a_run_without_copies_has_no_finding(observe) -> None:
    assert h2d_transfer.find(observe(MODEL)) is None

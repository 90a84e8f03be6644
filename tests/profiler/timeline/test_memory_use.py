"""Uses of memory sum to the peak, and a batch that is predicted to fit does fit under the same assumptions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.agent import format as layout
from trainrx.profiler.timeline.memory_use import (
    ACTIVATIONS,
    REST,
    SAFE_SHARE,
    DeviceMemory,
    device_memory,
    held_bytes,
    largest_batch,
    memory_curve,
    memory_use,
)
from trainrx.profiler.timeline.process_memory import ProcessMemory, process_memory
from trainrx.profiler.timeline.steps import find_steps

MS = 1_000_000
MEGA = 2**20
HELD = {"parameters": 100 * MEGA, "gradients": 100 * MEGA, "optimizer_state": 200 * MEGA}


def recorded(
    make_recording: Any,
    *,
    peak: Any = lambda n: 1000,
    retries: Any = lambda n: 0,
    out_of_memory: Any = lambda n: 0,
    readings_from: int = 0,
    **facts: Any,
) -> Any:
    spans = [(layout.STEP, 10 * n * MS, 10 * (n + 1) * MS, 1) for n in range(40)]
    readings = [
        {
            "t": 10 * n * MS + 1,
            "resident_bytes": 3000 * MEGA,
            "device_allocated_bytes": 600 * MEGA,
            "device_allocated_peak_bytes": int(peak(n) * MEGA),
            "device_reserved_peak_bytes": int(peak(n) * 1.25 * MEGA),
            "device_inactive_split_bytes": 50 * MEGA,
            "device_retries": retries(n),
            "device_out_of_memory": out_of_memory(n),
        }
        for n in range(readings_from, 41)
    ]
    told = {
        "memory": readings,
        "device": [{"memory_bytes": 10_000 * MEGA}],
        "holdings": [{"optimizer": 1, "device": "cuda", **HELD}],
        **facts,
    }
    recording = make_recording(spans, facts=told)
    return recording, find_steps(recording, warmup=5)


def test_the_uses_of_a_gpus_memory_sum_to_its_peak(make_recording: Any) -> None:
    recording, steps = recorded(make_recording, retries=lambda n: 3 * (n >= 2) + (n >= 20))
    device = device_memory(recording, steps, used_bytes=1500 * MEGA)
    assert device is not None
    assert (device.retries, device.outside_bytes) == (1, 250 * MEGA)  # three came before the timed steps
    assert device.limit_share == pytest.approx(0.15)
    use = memory_use(recording, process_memory(recording, steps), device, {"loader.batch_size": 32})
    assert use is not None and use.on_device
    sizes = {part.name: (part.bytes // MEGA, part.basis) for part in use.parts}
    assert sizes == {
        "parameters": (100, "measured"), "gradients": (100, "measured"), "optimizer state": (200, "measured"),
        ACTIVATIONS: (600, "derived"),
    }  # fmt: skip
    assert use.largest_batch == int(32 * ((0.92 * 10_000 - 250) / 1.25 - 400) / 600)


def test_what_failed_before_the_timed_steps_is_none_of_theirs(make_recording: Any) -> None:
    # GIVEN a script that tried how large a batch may be, then trained, and ran out of memory after its last step
    tried = {"retries": lambda n: 5 + (n >= 20), "out_of_memory": lambda n: 2 + (n >= 40)}
    for first in (0, 10):  # readings may begin only within the timed steps
        recording, steps = recorded(make_recording, readings_from=first, **tried)
        device = device_memory(recording, steps, used_bytes=None)
        assert device is not None and (device.retries, device.out_of_memory) == (1, 1)


def test_frozen_parameters_count_too_but_not_where_a_rank_may_hold_a_part(make_recording: Any) -> None:
    model = [{"device": "cuda", "parameter_bytes": 700 * MEGA}]
    recording, _ = recorded(make_recording, model=model)
    assert held_bytes(recording, on_device=True)["parameters"] == 700 * MEGA
    recording, _ = recorded(make_recording, model=model, process=[{"world_size": 4}])
    assert held_bytes(recording, on_device=True)["parameters"] == 100 * MEGA


def test_a_rising_peak_is_growth_with_a_forecast(make_recording: Any) -> None:
    recording, steps = recorded(make_recording, peak=lambda n: 1000 + 50 * n)
    device = device_memory(recording, steps, used_bytes=None)
    assert device is not None and device.growth.growth_bytes_per_step == pytest.approx(50 * MEGA, rel=0.01)
    assert device.growth.rising_share == 1 and device.growth.steps_left == pytest.approx(
        (10_000 - 3000) / 50, rel=0.05
    )
    curve = memory_curve(recording, steps)
    assert curve is not None and curve.peak_allocated_bytes == 3000 * MEGA and len(curve.time_s) == 41


def test_of_a_process_what_remains_is_everything_else(make_recording: Any) -> None:
    holdings = [
        {"optimizer": n, "device": "cpu", "parameters": 10, "gradients": 10, "optimizer_state": 20}
        for n in (1, 2)
    ]
    recording, steps = recorded(make_recording, holdings=holdings)
    use = memory_use(recording, process_memory(recording, steps), None, {})
    assert use is not None and not use.on_device and use.largest_batch is None
    assert {part.name: part.bytes for part in use.parts}[REST] == 3000 * MEGA - 80


def test_without_readings_there_is_nothing(make_recording: Any) -> None:
    recording, steps = recorded(make_recording, memory=[{"t": "x"}, {}])
    assert device_memory(recording, steps, used_bytes=None) is None
    assert memory_curve(recording, steps) is None
    assert memory_use(recording, None, None, {}) is None


sizes = st.integers(1, 10**12)


@given(
    fixed=sizes,
    activations=sizes,
    reserved=st.floats(1, 3),
    limit=sizes,
    outside=sizes,
    batch=st.integers(1, 4096),
)
def test_a_predicted_batch_fits_and_one_more_does_not(
    fixed: int, activations: int, reserved: float, limit: int, outside: int, batch: int
) -> None:
    peak = fixed + activations
    device = DeviceMemory(
        growth=ProcessMemory(peak, None, 0.0, limit, 0.0),
        reserved_peak_bytes=int(peak * reserved),
        inactive_split_bytes=0,
        retries=0,
        out_of_memory=0,
        outside_bytes=outside,
    )
    largest, reason = largest_batch(device, {"parameters": fixed}, batch)
    assert largest is not None and reason is None
    ratio = max(device.reserved_peak_bytes / peak, 1)

    def taken(size: int) -> float:
        return (fixed + activations * size / batch) * ratio + outside

    assert largest == 0 or taken(largest) <= SAFE_SHARE * limit * (1 + 1e-9)
    assert taken(largest + 1) >= SAFE_SHARE * limit * (1 - 1e-9)


@pytest.mark.parametrize("batch", [None, 0, True, "32"])
def test_an_unknown_batch_size_predicts_nothing(make_recording: Any, batch: object) -> None:
    recording, steps = recorded(make_recording)
    device = device_memory(recording, steps, used_bytes=None)
    assert device is not None
    assert largest_batch(device, HELD, batch) == (None, "the size of a batch is not known")

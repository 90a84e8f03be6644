"""Copies of shared pages are told from memory that a worker takes anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.recording import WorkerRecording
from trainrx.profiler.timeline.worker_memory import WorkerMemory, worker_memory

MEGA = 2**20


def memory_of(
    make_recording,
    private: Callable[[int], float],
    resident: Callable[[int], float],
    *,
    workers: int = 2,
    n: int = 9,
) -> WorkerMemory | None:
    nothing = np.empty((0, 10), np.int64)
    made = tuple(
        WorkerRecording(
            1, number, nothing, nothing[:, :2], {}, (), (), (),
            memory=tuple(
                {
                    "t": at * 1000,
                    "pid": 7 + number,
                    "private_bytes": int(private(at) * MEGA),
                    "anonymous_bytes": int((resident(at) - 150) * MEGA),
                    "resident_bytes": int(resident(at) * MEGA),
                }
                for at in range(n)
            ),
        )
        for number in range(workers)
    )  # fmt: skip
    return worker_memory(replace(make_recording([]), workers=made), 1)


def test_private_bytes_that_grow_while_resident_ones_stay_are_copies(make_recording) -> None:
    found = memory_of(make_recording, lambda at: 50 + 40 * at, lambda at: 600)
    assert found is not None and found.workers == 2
    assert found.copied_bytes == 2 * 320 * MEGA and found.late_bytes == 2 * 160 * MEGA
    assert found.shared_bytes == 2 * (600 - 150 - 370) * MEGA


@given(growth=st.integers(0, 100))
def test_memory_that_a_worker_takes_anew_is_no_copy(make_recording, growth: int) -> None:
    found = memory_of(make_recording, lambda at: 50 + growth * at, lambda at: 600 + growth * at)
    assert found is not None and found.copied_bytes == 0


def test_what_is_copied_at_the_start_is_not_late(make_recording) -> None:
    found = memory_of(make_recording, lambda at: 50 + 100 * min(at, 2), lambda at: 600)
    assert found is not None and found.copied_bytes == 2 * 200 * MEGA and found.late_bytes == 0


def test_too_few_readings_and_other_loaders_tell_nothing(make_recording) -> None:
    assert memory_of(make_recording, lambda at: 50, lambda at: 600, n=2) is None
    assert worker_memory(make_recording([]), 1) is None

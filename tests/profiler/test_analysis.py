"""Which processes of a run may be to blame for each other's end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.analysis import _losses
from trainrx.profiler.store import Manifest
from trainrx.profiler.vocabulary import RunStatus

S = 1_000_000_000
FAILED = Manifest.model_construct(status=RunStatus.FAILED, note=None)


@pytest.mark.parametrize(
    ("process", "facts", "lost"),
    [
        ({"world_size": 1}, {}, []),  # each trains for itself
        ({}, {}, []),
        ({"world_size": 2}, {}, [1]),
        ({"world_size": 1}, {"parallel": [{"number": 1}]}, [1]),  # joined after it began to record
        ({"world_size": 1}, {"sharded": [{"number": 1}]}, [1]),
    ],
)
def test_only_processes_of_a_job_take_each_other_along(
    make_recording: Any, process: dict[str, Any], facts: dict[str, Any], lost: list[int]
) -> None:
    # GIVEN two processes of one run, of which one was killed before the other failed
    recording = make_recording([(layout.STEP, 0, S, 1)], facts={"process": [process], **facts})
    failed = replace(
        recording,
        facts={**recording.facts, "uncaught": [{"t": 9 * S, "error": "RuntimeError", "frames": []}]},
    )
    killed = replace(recording, rank=1, gone={"t": 5 * S, "signal": 9})
    # WHEN the run is judged THEN it is blamed only where the other waited for it
    assert _losses(FAILED, [failed, killed]).lost == lost

"""What ranks exchange, by kind of collective."""

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.timeline.exchanges import collective_uses
from trainrx.profiler.timeline.steps import find_steps

MS = 1_000_000
GATHER, SCATTER = (layout.COLLECTIVE_KINDS.index(kind) for kind in ("all_gather", "reduce_scatter"))


def a_step(start: int):
    yield layout.STEP, start, start + 100 * MS, 1
    for at in (10, 30):
        yield (
            layout.COMMUNICATION,
            start + at * MS,
            start + (at + 1) * MS,
            GATHER + 1000 * layout.COLLECTIVE_UNIT,
        )
        yield layout.COMMUNICATION_WAIT, start + (at + 5) * MS, start + (at + 9) * MS, GATHER
    yield layout.COMMUNICATION, start + 60 * MS, start + 66 * MS, SCATTER + 500 * layout.COLLECTIVE_UNIT
    yield layout.BACKWARD, start + 70 * MS, start + 90 * MS, 0
    yield layout.GRADIENTS_READY, start + 87 * MS, start + 87 * MS, 1


def test_calls_bytes_and_waits_are_summed_by_kind(make_recording) -> None:
    # GIVEN steps with two asynchronous gathers, a scatter and a backward that averages gradients
    recording = make_recording(
        [span for step in range(8) for span in a_step(step * 100 * MS)],
        facts={"parallel": [{"gradient_bytes": 4096}]},
    )
    # WHEN laid out THEN each kind has its calls, its bytes and all the time that it kept the thread
    rows = collective_uses(recording, find_steps(recording, warmup=2))
    assert [(row.operation, row.calls_per_step, row.bytes_per_step) for row in rows] == [
        ("all_gather", 2, 2000), ("reduce_scatter", 1, 500), ("all_reduce of gradients", 1, 4096),
    ]  # fmt: skip
    assert [row.wait_s_per_step for row in rows] == pytest.approx([0.01, 0.006, 0.003])


def test_waits_for_what_was_issued_below_python_have_a_row_of_their_own(make_recording) -> None:
    recording = make_recording([(layout.STEP, 0, 100, 1), (layout.COMMUNICATION_WAIT, 20, 60, 0)])
    (row,) = collective_uses(recording, find_steps(recording, warmup=0))
    assert (row.operation, row.calls_per_step, row.bytes_per_step) == (
        "waits for functional collectives",
        1,
        None,
    )


def test_a_run_without_ranks_or_steps_exchanges_nothing(make_recording) -> None:
    for spans in ([], [(layout.STEP, 0, 100, 1)]):
        recording = make_recording(spans)
        assert collective_uses(recording, find_steps(recording, warmup=0)) == []

"""Which rank is named where ranks die or hang, and with which words."""

from dataclasses import replace
from typing import Any

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.recording import Frame, RankRecording
from trainrx.profiler.report import ClockBasis
from trainrx.profiler.timeline.clocks import SAME, RankClock
from trainrx.profiler.timeline.endings import ending_note, ending_of, loss_sentence, lost_ranks, rank_ends

S = 1_000_000_000
SCRIPT = (Frame("/home/train.py", 20, "main"),)
COLLECTIVE = (Frame("/env/site-packages/torch/distributed/distributed_c10d.py", 9, "all_reduce"), *SCRIPT)
ELSEWHERE = (Frame("/home/data.py", 7, "load"),)
PROCESS = {"agent": "/env/site-packages/trainrx/profiler/agent"}
WRAPPED = (Frame(f"{PROCESS['agent']}/hooks/collectives.py", 90, "wait"), *SCRIPT)
PAST_AGENT = (Frame(f"{PROCESS['agent']}/hooks/optimizer.py", 40, "step"), *COLLECTIVE)
STACKS = {1: SCRIPT, 2: COLLECTIVE, 3: ELSEWHERE, 4: WRAPPED, 5: PAST_AGENT}


@pytest.fixture
def rank(make_recording):
    """A rank that trained until ``moves_s`` and was seen at one stack until ``last_s``."""

    def make(
        number: int, *, stack: int = 1, moves_s: float = 1.0, last_s: float = 2.0, gone: dict[str, Any] | None = None,
        **facts: dict[str, Any],
    ) -> RankRecording:  # fmt: skip
        recording = make_recording(
            [(layout.STEP, 0, int(moves_s * S), 1)],
            samples=[(S // 10, 99), (int(moves_s * S) + 1, stack), (int(last_s * S), stack)],
            stacks=STACKS,
            facts={"process": [PROCESS], **{name: [fact] for name, fact in facts.items()}},
        )
        return replace(recording, rank=number, gone=gone)

    return make


def told(
    *ranks: RankRecording, failed: bool = True, is_over: bool = True, clocks: list[RankClock] | None = None
):
    """The ranks that are named, and the sentence on them."""
    ends = rank_ends(ranks, clocks or [SAME] * len(ranks), is_over=is_over)
    lost = [end.rank for end in lost_ranks(ends, failed=failed)]
    return lost, loss_sentence(lost, {end.rank: ending_of(end, 0.0) for end in ends})


def error(at_s: float, kind: str = "RuntimeError", frames: Any = None) -> dict[str, Any]:
    return {
        "t": int(at_s * S),
        "error": kind,
        "frames": frames or [["/home/train.py", 30, "main", "loss.backward()"]],
    }


def test_the_rank_that_a_parent_saw_fail_first_is_named_however_late_its_end_was_noted(rank) -> None:
    # GIVEN a parent that ends the other rank within a millisecond, so that the moments of both tell nothing
    first = rank(1, last_s=2.01, gone={"t": int(2.03 * S), "signal": 9, "first": True})
    lost, sentence = told(rank(0, last_s=2.0, gone={"t": int(2.02 * S), "signal": None}), first)
    assert lost == [1] and "Rank 1 was killed by SIGKILL" in sentence


def test_a_rank_that_is_killed_is_named_with_signal_moment_and_line(rank) -> None:
    # GIVEN a rank that was killed, noticed late, and one that failed in a collective in between
    killed = rank(1, stack=3, last_s=11.9, gone={"t": int(12.3 * S), "signal": 9})
    failed = rank(0, last_s=12.1, uncaught=error(12.2), end={"t": 13 * S, "reason": "exit"})
    assert told(failed, killed) == (
        [1], "Rank 1 was killed by SIGKILL 12.3 s into the recording at /home/data.py:7 in load; rank 0 failed after it.",
    )  # fmt: skip


def test_a_rank_that_raises_is_named_not_those_that_lose_it(rank) -> None:
    ends = [
        rank(n, uncaught=error(5.0 + (n != 2), "ValueError" if n == 2 else "RuntimeError")) for n in range(4)
    ]
    lost, sentence = told(*ends)
    assert lost == [2]
    assert sentence.startswith("Rank 2 failed with ValueError 5.0 s into the recording at /home/train.py:30")
    assert sentence.endswith("; 3 other ranks failed after it.")


def test_ranks_that_a_launcher_terminates_come_after_the_one_that_died(rank) -> None:
    terminated = rank(0, last_s=4.0, gone={"t": 6 * S, "signal": 15})
    killed = rank(1, last_s=5.0, gone={"t": 6 * S, "signal": 9})
    assert told(terminated, killed)[0] == [1]


@pytest.mark.parametrize("gone", [None, {"t": 100 * S, "signal": 15}], ids=["unseen", "terminated"])
def test_a_rank_that_hangs_is_named_with_its_line_and_who_waits(rank, gone) -> None:
    # GIVEN ranks that stand in a collective, and one that stands elsewhere
    waiting = [rank(n, stack=2, moves_s=30.5, last_s=99, gone=gone) for n in (0, 1)]
    hanging = rank(2, stack=3, moves_s=30, last_s=99, gone=gone)
    assert told(*waiting, hanging, failed=False) == (
        [2],
        "Rank 2 hangs since 30.0 s into the recording at /home/data.py:7 in load; "
        "2 other ranks waited for it in a collective from 30.5 s on.",
    )


@pytest.mark.parametrize("stack", [4, 5], ids=["in the agent's wrapper", "behind another hook"])
def test_the_agents_own_frames_do_not_hide_a_collective(rank, stack: int) -> None:
    # GIVEN a rank that waits in a collective, where the agent stands around it
    waiting, hanging = rank(0, stack=stack, moves_s=31, last_s=99), rank(1, stack=3, moves_s=30, last_s=99)
    lost, sentence = told(waiting, hanging, failed=False)
    assert lost == [1] and "rank 0 waited for it in a collective from 31.0 s on" in sentence


def test_a_rank_whose_recorder_switched_itself_off_is_not_taken_for_dead(rank) -> None:
    # GIVEN a rank whose recorder failed early, and one that failed, or waited, much later
    silent = replace(rank(0, moves_s=2, last_s=99), fault="ValueError: x")
    assert told(silent, rank(1, uncaught=error(60.0)))[0] == [1]
    assert told(silent, rank(1, stack=2, moves_s=30, last_s=99))[0] == []
    # a launcher that saw it killed is right all the same, at the time that it saw
    killed = replace(silent, gone={"t": 70 * S, "signal": 9})
    assert told(killed, rank(1, uncaught=error(60.0)))[0] == [1]
    assert told(killed, rank(1, uncaught=error(80.0)))[0] == [0]


def test_a_rank_that_waits_for_gradients_waits_in_a_collective(rank) -> None:
    # GIVEN a rank in a backward that never ended, though its own gradients were ready
    waiting = rank(0, moves_s=2, last_s=99)
    spans = [*waiting.spans.tolist(), [layout.GRADIENTS_READY, 3 * S, 3 * S + 5, 1]]
    waiting = replace(waiting, spans=type(waiting.spans)((len(spans), 4), dtype="i8"))
    waiting.spans[:] = spans
    lost, sentence = told(waiting, rank(1, stack=3, moves_s=2.5, last_s=99), failed=False, is_over=False)
    assert lost == [1] and "rank 0 waited for it in a collective from 3.0 s on" in sentence


def test_a_rank_that_ends_before_the_others_is_named(rank) -> None:
    early = rank(0, end={"t": 4 * S, "reason": "exit"})
    assert told(early, rank(1, uncaught=error(5.0)))[1] == (
        "Rank 0 ended by itself 4.0 s into the recording, before the others; rank 1 failed after it."
    )


def test_an_interrupted_hang_is_a_hang(rank) -> None:
    hanging = rank(0, stack=3, moves_s=10, last_s=60, uncaught=error(60, "KeyboardInterrupt"))
    assert told(hanging, rank(1, stack=2, moves_s=11, last_s=60), failed=False)[1].startswith(
        "Rank 0 hangs since 10.0 s"
    )


def test_moments_of_ranks_are_compared_on_one_clock(rank) -> None:
    # GIVEN two ranks that failed, the one that was first on a clock that is 100 s ahead
    ahead = RankClock(offset_ns=100 * S, uncertainty_ns=1e3, basis=ClockBasis.COLLECTIVES)
    first, second = rank(1, last_s=104, uncaught=error(104.0, "OSError")), rank(0, uncaught=error(5.0))
    assert told(second, first)[0] == [0]
    lost, sentence = told(second, first, clocks=[SAME, ahead])
    assert lost == [1] and "OSError 4.0 s into" in sentence


GOOD = {"t": 9 * S, "reason": "stopped"}


@pytest.mark.parametrize(
    ("make", "failed"),
    [
        pytest.param(lambda rank: [rank(0, end=GOOD), rank(1, end=GOOD)], False, id="stopped"),
        pytest.param(lambda rank: [rank(n, end={"t": n * S, "reason": "exit"}) for n in (0, 1)], False, id="ended"),
        pytest.param(lambda rank: [rank(n, end={"t": n * S, "reason": "exit"}) for n in (0, 1)], True, id="exit code"),
        pytest.param(lambda rank: [rank(n, uncaught=error(5.0 + n)) for n in (0, 1)], True, id="a fault of the script"),
        pytest.param(lambda rank: [rank(0, gone={"t": S, "signal": 9})], True, id="a single rank"),
        pytest.param(lambda rank: [rank(n, stack=2, last_s=99) for n in (0, 1)], True, id="all wait"),
        pytest.param(lambda rank: [rank(0), rank(1, stack=3)], False, id="both go on"),
    ],
)  # fmt: skip
def test_nobody_is_blamed_for_what_no_single_rank_did(rank, make, failed: bool) -> None:
    assert told(*make(rank), failed=failed, is_over=failed) == ([], "")


def test_notes_say_what_is_known_of_an_end(rank) -> None:
    ranks = [
        rank(0, end=GOOD), rank(1, gone={"t": 3 * S, "signal": 9}), rank(2, gone={"t": 3 * S, "signal": 77}),
        rank(3, moves_s=1, last_s=99), rank(4),
    ]  # fmt: skip
    notes = [ending_note(ending_of(end, 0.0)) for end in rank_ends(ranks, [SAME] * 5, is_over=True)]
    assert notes[0] is None
    assert [str(note).partition(": ")[2] for note in notes[1:]] == [
        "it was killed by SIGKILL 3.0 s into the recording",
        "it was killed by signal 77 3.0 s into the recording",
        "it stood still from 1.0 s into the recording on",
        "it is going on, or the process was killed",
    ]


def test_an_empty_recording_has_an_end_too(make_recording) -> None:
    (end,) = rank_ends([make_recording([])], [SAME], is_over=False)
    assert (end.at_ns, end.frame, end.waiting_since_ns) == (0, None, None)

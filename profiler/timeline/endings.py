"""How each rank's recording ended, and which rank took the others with it: the first that died, or the one that hangs.

A rank that dies or hangs leaves the others waiting in a collective, failing, or killed by their launcher. What comes
first in time is the cause; moments of ranks are compared on one clock (`.clocks`).
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..agent import format as layout
from ..exit_code import signal_name
from ..facts import text, whole
from ..recording import Frame, RankRecording, frames_of
from ..report import RankEnding, Where
from ..vocabulary import Ending
from .clocks import RankClock
from .frames import innermost_user_frame

#: A thread that was seen at one place for so long at the end stands there; a healthy step takes less.
STANDING_S = 5.0
_TORCH_COLLECTIVES = "/torch/distributed/"
#: Where the agent stands around torch's collectives, and in C while they wait.
_WRAPPED_COLLECTIVES = ("/hooks/collectives.py", "/hooks/functional_collectives.py")
#: A rank that hangs is ended in the end by whoever waits for it.
_ASKED_TO_END = frozenset({None, signal.SIGTERM, signal.SIGINT})
_ALIVE = frozenset({Ending.STANDING, Ending.RUNNING})
_ORDERLY = frozenset({Ending.STOPPED, *_ALIVE})


@dataclass(frozen=True)
class RankEnd:
    """How one rank ended; moments in ns on the clock of the first rank.

    Attributes:
        how: what ended it.
        at_ns: when it ended; of a rank that stands or runs, since when it stands, or its last sign of life.
        not_before_ns: the earliest moment that it can have ended at: the launcher sees an end a little late.
        frame: the line of the script that it was last seen in.
        waiting_since_ns: since when it waited in a collective, if it did to the end.
        signal: what killed it, where known.
        error: class of the exception that nobody caught.
        first: its parent saw it fail before the others.
    """

    rank: int
    how: Ending
    at_ns: float
    not_before_ns: float
    frame: Frame | None = None
    waiting_since_ns: float | None = None
    signal: int | None = None
    error: str | None = None
    first: bool = False


def rank_ends(
    recordings: Sequence[RankRecording], clocks: Sequence[RankClock], *, is_over: bool
) -> list[RankEnd]:
    """The end of each rank; ``is_over``: the command has ended, so that no rank runs any more."""
    return [_end(recording, clock, is_over) for recording, clock in zip(recordings, clocks, strict=True)]


def lost_ranks(ends: Sequence[RankEnd], *, failed: bool) -> list[RankEnd]:
    """Who took the others along: the rank that died first, else those that stand while the others wait for them.

    Args:
        ends: of all ranks.
        failed: the run failed, or was stopped because no step came any more.

    Returns:
        None of them where ranks ended in good order, or all alike: then it was no single rank's doing.
    """
    if len(ends) < 2:
        return []
    waiting = [end for end in ends if end.how in _ALIVE and end.waiting_since_ns is not None]
    dead = [end for end in ends if end.how not in _ORDERLY]
    if dead and (waiting or failed) and not _all_alike(ends):
        # a launcher that sees one rank die terminates the others, which wait for it meanwhile
        first = min(
            dead,
            key=lambda end: (
                not end.first,
                end.signal == signal.SIGTERM,
                end.waiting_since_ns is not None,
                end.not_before_ns,
            ),
        )
        # one that ends by itself is to blame only if the others still waited for it
        if first.how is not Ending.EXIT or len(dead) < len(ends) or len({end.how for end in dead}) > 1:
            return [first]
    standing = [end for end in ends if end.how is Ending.STANDING and end.waiting_since_ns is None]
    return standing if waiting and len(standing) + len(waiting) == len(ends) else []


def _all_alike(ends: Sequence[RankEnd]) -> bool:
    """Whether every rank failed with the same exception at the same line: a fault of the script."""
    places = {(end.error, end.frame and (end.frame.file, end.frame.line)) for end in ends}
    return len(places) == 1 and ends[0].how is Ending.ERROR


def _end(recording: RankRecording, clock: RankClock, is_over: bool) -> RankEnd:
    since_ns, last_ns, frame, in_collective = _last_seen(recording)
    waiting = _open_gradient_wait(recording, last_ns)
    if waiting is None and in_collective:
        waiting = since_ns
    if recording.fault is not None:  # what it did after its recorder's last sign of life is not known
        waiting, last_ns = None, whole(recording.gone or {}, "t") or last_ns
    how, at_ns, number, error = _how(recording, since_ns, last_ns, is_over)
    if how is Ending.ERROR:
        found = frames_of(recording.facts["uncaught"][-1].get("frames"))
        frame = innermost_user_frame(found, recording.process) or frame
    return RankEnd(
        rank=recording.rank,
        how=how,
        at_ns=clock.to_reference(at_ns),
        not_before_ns=clock.to_reference(last_ns if how in (Ending.KILLED, Ending.SILENT) else at_ns),
        frame=frame,
        waiting_since_ns=None if waiting is None else clock.to_reference(waiting),
        signal=number,
        error=error,
        first=bool((recording.gone or {}).get("first")),
    )


def _how(
    recording: RankRecording, since_ns: int, last_ns: int, is_over: bool
) -> tuple[Ending, int, int | None, str | None]:
    """What ended it, when, by which signal, with which exception."""
    uncaught, gone = recording.facts.get("uncaught", []), recording.gone or {}
    stands = recording.fault is None and last_ns - since_ns >= STANDING_S * 1e9
    if uncaught and stands and uncaught[-1].get("error") == KeyboardInterrupt.__name__:
        return Ending.STANDING, since_ns, None, None
    if uncaught:
        return Ending.ERROR, whole(uncaught[-1], "t") or last_ns, None, text(uncaught[-1], "error")
    if recording.end_reason is not None:
        how = Ending.STOPPED if recording.end_reason == Ending.STOPPED else Ending.EXIT
        return how, whole(recording.facts["end"][-1], "t") or last_ns, None, None
    number = whole(gone, "signal")
    if stands and number in _ASKED_TO_END:
        return Ending.STANDING, since_ns, number, None
    if number is not None:
        return Ending.KILLED, whole(gone, "t") or last_ns, number, None
    # of a rank whose recorder switched itself off nobody knows whether it went on
    how = Ending.SILENT if recording.fault is None and (is_over or gone) else Ending.RUNNING
    return how, whole(gone, "t") or last_ns, None, None


def _last_seen(recording: RankRecording) -> tuple[int, int, Frame | None, bool]:
    """Since when the thread trained no more, the last sign of life, the line it was at, and if in a collective.

    A rank that hangs may go round in a loop: the line is the one that it was seen at most.
    """
    samples, spans = recording.samples, recording.spans
    since = int(spans[:, 2].max()) if len(spans) else 0
    last = max(since, int(samples[:, 0].max())) if len(samples) else since
    trailing = samples[samples[:, 0] >= since]
    seen = (trailing if len(trailing) else samples[-1:])[:, 1]
    if not len(seen):
        return since, last, None, False
    numbers, counts = np.unique(seen, return_counts=True)
    frames = recording.stacks.get(int(numbers[counts.argmax()]), ())
    place, in_collective = innermost_user_frame(frames, recording.process), _waits(frames, recording.process)
    return since or int(samples[0, 0]), last, place, in_collective


def _waits(frames: Sequence[Frame], process: Mapping[str, object]) -> bool:
    """Whether a stack stands in a collective: in torch's own code, or in the agent's wrapper around it."""
    agent = str(process.get("agent") or "\0")
    for frame in frames:
        file = frame.file.replace("\\", "/")
        if not frame.file.startswith(agent):
            return _TORCH_COLLECTIVES in file
        if file.endswith(_WRAPPED_COLLECTIVES):
            return True
    return False


def _open_gradient_wait(recording: RankRecording, last_ns: int) -> int | None:
    """When gradients became ready in a backward that never ended: since then it waited for the other ranks."""
    ready = recording.of_code(layout.GRADIENTS_READY)
    ready = ready[ready[:, 3] == 1]
    if not len(ready):
        return None
    moment = int(ready[-1, 2])
    return moment if recording.spans[:, 2].max() == moment and last_ns > moment else None


def ending_of(end: RankEnd, origin_ns: float) -> RankEnding:
    """What the report says of a rank's end."""
    place = end.frame
    return RankEnding(
        how=end.how,
        at_s=max(end.at_ns - origin_ns, 0.0) / 1e9,
        signal=None if end.signal is None else signal_name(end.signal),
        error=end.error,
        where=None
        if place is None
        else Where(file=place.file, line=place.line, function=place.function, rank=end.rank),
        waiting_since_s=None
        if end.waiting_since_ns is None
        else max(end.waiting_since_ns - origin_ns, 0.0) / 1e9,
    )


def ending_note(ending: RankEnding) -> str | None:
    """What to say of a rank that did not end in good order."""
    match ending.how:
        case Ending.STOPPED | Ending.EXIT | Ending.ERROR:
            return None
        case Ending.KILLED:
            fate = f"it was killed by {ending.signal} {ending.at_s:.1f} s into the recording"
        case Ending.STANDING:
            fate = f"it stood still from {ending.at_s:.1f} s into the recording on"
        case Ending.SILENT | Ending.RUNNING:
            fate = "it is going on, or the process was killed"
    return f"its recording ends without a last word: {fate}"


def loss_sentence(lost: Sequence[int], endings: Mapping[int, RankEnding]) -> str:
    """Which ranks were lost, when and where, and what became of the others; empty where none was."""
    known = [rank for rank in lost if rank in endings]
    if not known:
        return ""
    others = {rank: ending for rank, ending in endings.items() if rank not in known}
    return f"{' and '.join(_lost(rank, endings[rank]) for rank in known)}{_consequence(others)}."


def _lost(rank: int, ending: RankEnding) -> str:
    place = "" if ending.where is None else f" at {ending.where}".rsplit(" rank ", 1)[0]
    moment = f"{ending.at_s:.1f} s into the recording"
    match ending.how:
        case Ending.KILLED:
            return f"Rank {rank} was killed by {ending.signal} {moment}{place}"
        case Ending.ERROR:
            return f"Rank {rank} failed with {ending.error} {moment}{place}"
        case Ending.EXIT:
            return f"Rank {rank} ended by itself {moment}, before the others"
        case Ending.STANDING:
            return f"Rank {rank} hangs since {moment}{place}"
        case _:
            return f"Rank {rank} ended without a last word {moment}{place}"


def _consequence(others: Mapping[int, RankEnding]) -> str:
    waits = {
        rank: ending.waiting_since_s for rank, ending in others.items() if ending.waiting_since_s is not None
    }
    if waits:
        first = min(waits, key=lambda rank: waits[rank] or 0.0)
        who = f"rank {first} waited" if len(waits) == 1 else f"{len(waits)} other ranks waited"
        return f"; {who} for it in a collective from {waits[first]:.1f} s on"
    failed = [rank for rank, ending in others.items() if ending.how is Ending.ERROR]
    if failed:
        who = f"rank {failed[0]}" if len(failed) == 1 else f"{len(failed)} other ranks"
        return f"; {who} failed after it"
    return ""

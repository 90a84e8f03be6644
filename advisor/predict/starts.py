"""When device work could start for all that it follows, and how much later it did: the edges into its start.

Delays are the least that the trace shows. What a start is later than they allow is kept only up to the size
of ordinary jitter, with the dependency that came last; the rest is left out of the graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...profiler.ingest.columns import ABSENT, Trace
from .device_work import DeviceWork, LateWaits, Typical
from .graph import I64, Cause, Edges, Mask, edges

LONG_CALL_NS = 50_000
"""Work launched by a call longer than this starts once the call is done; a shorter one overlaps its own
launch."""
STREAM, LAUNCH, WAIT, ROOM = range(4)
"""What a start can hang on: work before it on its stream, its launch, work awaited, room on the device."""
JITTER_NS = np.array([10_000, 20_000, 20_000, 0], dtype=np.int64)
"""Delays up to these are kept, by what the start hangs on. In the recorded traces 99 % of work that was ready
starts within the first behind its stream, and 99 % of launches into an idle stream within the second."""
LONG_AGO = np.iinfo(np.int64).min // 2
ANY_DELAY = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Launches:
    """Where on the host each piece of work with a known launch hangs. Shapes (linked,): place, thread,
    instant.

    ``returned`` is true where that instant is the end of the call, which had returned before the work
    started.
    """

    place: npt.NDArray[np.intp]
    thread: I64
    time_ns: I64
    returned: Mask


def launches_of(trace: Trace, work: DeviceWork) -> Launches:
    """The launches of all linked work."""
    place = np.flatnonzero(work.linked)
    call = work.call[place]
    begin, end = trace.host.start_ns[call], trace.host.end_ns[call]
    returned = (end - begin > LONG_CALL_NS) & (work.start_ns[place] >= end)
    thread = trace.host.thread[call].astype(np.int64)
    return Launches(place, thread, np.where(returned, end, begin), returned)


class Starts:
    """The starts of all work of a window.

    ``staged`` marks copies whose call blocks while memory is moved to a pinned buffer: all their delay is the
    copy's. ``awaited`` and ``waiting`` are pairs of work of which the second waits for the first.
    """

    def __init__(
        self,
        work: DeviceWork,
        launches: Launches,
        least: Typical,
        *,
        staged: Mask,
        awaited: I64,
        waiting: I64,
        room: LateWaits | None = None,
    ) -> None:
        self.work, self.launches, self.least, self.staged = work, launches, least, staged
        self.awaited, self.waiting, self.room = awaited, waiting, room
        self.follows = work.previous != ABSENT
        self.gap_ns = np.where(self.follows, work.start_ns - work.end_ns[work.previous], 0)
        latency = work.start_ns[launches.place] - launches.time_ns
        self.latency_ns = np.minimum(latency, np.where(launches.returned, 0, least.latency_ns))
        options = self._options()
        self.binding = options.argmax(axis=0)
        self.explained_ns = options.max(axis=0)
        self.delay_ns = work.start_ns - self.explained_ns
        self.jitter_ns = np.where(staged, ANY_DELAY, JITTER_NS[self.binding])
        self.kept_ns = np.where(self.explained_ns == LONG_AGO, 0, np.minimum(self.delay_ns, self.jitter_ns))

    def _options(self) -> I64:
        work = self.work
        options = np.full((4, len(work)), LONG_AGO, dtype=np.int64)
        behind = work.start_ns - np.maximum(self.gap_ns - self.least.dispatch_ns, 0)
        options[STREAM] = np.where(self.follows, behind, LONG_AGO)
        options[LAUNCH][self.launches.place] = self.launches.time_ns + self.latency_ns
        np.maximum.at(options[WAIT], self.waiting, self._wait_ns())
        if self.room is not None:
            within = self.room.waiting[self.room.within]
            options[ROOM][within] = work.start_ns[within]
        return options

    def with_late_waits(self, found: LateWaits) -> Starts:
        """The same with waits that no call tells of."""
        awaited = np.concatenate([self.awaited, found.awaited[~found.within]])
        waiting = np.concatenate([self.waiting, found.waiting[~found.within]])
        return Starts(
            self.work,
            self.launches,
            self.least,
            staged=self.staged,
            awaited=awaited,
            waiting=waiting,
            room=found,
        )

    def _wait_ns(self) -> I64:
        end, start = self.work.end_ns[self.awaited], self.work.start_ns[self.waiting]
        return end + np.minimum(start - end, self.least.dispatch_ns)

    def _kept(self, places: npt.NDArray[np.intp] | I64, option: int, cause: Cause) -> tuple[I64, I64]:
        """A part of an edge: the kept delay, for the edges into ``places`` that it belongs to."""
        ns = np.where(self.binding[places] == option, self.kept_ns[places], 0)
        return np.where(self.staged[places], self.work.cause[places], int(cause)), ns

    def stream_edges(self, work_start: I64) -> list[Edges]:
        """Work behind work of its stream; where both overlap, behind its begin."""
        work = self.work
        behind = np.flatnonzero(self.follows & (self.gap_ns >= 0))
        within = np.flatnonzero(self.follows & (self.gap_ns < 0))
        before = work.previous[within]
        lead = work.start_ns[within] - work.start_ns[before]
        gap = np.minimum(self.gap_ns[behind], self.least.dispatch_ns)
        kept = self._kept(behind, STREAM, Cause.DISPATCH)
        return [
            edges(work_start[work.previous[behind]] + 1, work_start[behind], (Cause.DISPATCH, gap), kept),
            edges(work_start[before], work_start[within], (work.cause[before], lead)),
        ]

    def launch_edges(self, work_start: I64, launch_nodes: I64) -> Edges:
        """Work behind its launching call."""
        place = self.launches.place
        kept = self._kept(place, LAUNCH, Cause.LATENCY)
        return edges(launch_nodes, work_start[place], (Cause.LATENCY, self.latency_ns), kept)

    def wait_edges(self, work_start: I64) -> list[Edges]:
        """Work behind work of another stream."""
        work, waits_ns = self.work, self._wait_ns()
        cause, kept = self._kept(self.waiting, WAIT, Cause.DISPATCH)
        last = np.where(waits_ns == self.explained_ns[self.waiting], kept, 0)
        gap = waits_ns - work.end_ns[self.awaited]
        found = [
            edges(
                work_start[self.awaited] + 1, work_start[self.waiting], (Cause.DISPATCH, gap), (cause, last)
            )
        ]
        if self.room is not None:
            one, other = self.room.awaited[self.room.within], self.room.waiting[self.room.within]
            lead = work.start_ns[other] - work.start_ns[one]
            found.append(edges(work_start[one], work_start[other], (work.cause[one], lead)))
        return found

    def unlinked_edges(self, work_start: I64, window_start_ns: int) -> Edges:
        """Work without a known launch keeps its delay, which may be that of the launch."""
        alone = np.flatnonzero(~self.work.linked & ~self.follows)
        behind = np.flatnonzero(~self.work.linked & self.follows & (self.delay_ns > self.kept_ns))
        source = np.concatenate([np.zeros(len(alone), np.int64), work_start[self.work.previous[behind]] + 1])
        gap = np.concatenate(
            [self.work.start_ns[alone] - window_start_ns, np.maximum(self.gap_ns[behind], 0)]
        )
        return edges(source, work_start[np.concatenate([alone, behind])], (Cause.UNKNOWN, gap))

    def notes(self) -> tuple[str, ...]:
        """How much work has no known launch, and how much started late for no known reason."""
        unlinked = int((~self.work.linked).sum())
        late = int((self.work.linked & (self.delay_ns > self.kept_ns)).sum())
        told = [
            (unlinked, "pieces of device work have no known launch and keep their delays"),
            (late, "pieces of device work started later than the graph explains"),
        ]
        return tuple(f"{count} {what}" for count, what in told if count)

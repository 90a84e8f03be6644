"""Host calls that block until the device has caught up, and what each of them waited for.

A blocking call costs little by itself; what makes it long is the work that it waits for. A call that cannot
be shown to have waited keeps its measured length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...profiler.ingest.column_values import distinct
from ...profiler.ingest.columns import ABSENT, DeviceKind, HostKind, Trace
from ...profiler.timeline.idle import sync_calls
from .device_work import DeviceWork, Streams
from .graph import I64, WaitReason
from .window import Window

OWN_COST_NS = 5_000
"""What a call that blocks costs at most by itself: synchronise calls that find an idle device return within
it."""
WAKE_LIMIT_NS = 50_000
"""A call that returns later than this behind the end of some work did not wait for that work (or the thread
was not woken for other reasons, which the replay does not explain)."""
LONG_LAUNCH_NS = 100_000
"""A launch of 5 to 10 microseconds that takes longer than this was held up."""
FULL_QUEUE = 512
"""Work on its way when a long launch was begun, above which the queue was full; CUDA holds about 1,000
launches."""

_WHOLE_DEVICE = re.compile(r"(cuda|hip)DeviceSynchronize|cuCtxSynchronize")
_EVENT = re.compile(r"(cuda|hip|cu)EventSynchronize")
_FREE = re.compile(r"(cuda|hip)(Free|Malloc|HostAlloc|FreeHost|HostFree|HostMalloc)$|cuMem(Free|Alloc)")


@dataclass(frozen=True)
class BlockingCalls:
    """Calls that may wait, in order of start, none inside another on its thread; shapes (calls,),
    nanoseconds.

    ``own_ns`` is what the call costs by itself. ``wait_call`` and ``wait_work`` (waits,) say which call waits
    for which `DeviceWork`; ``wait_begin`` whether for its start rather than its end. ``reason`` is a
    `WaitReason`.
    """

    row: I64
    thread: I64
    start_ns: I64
    end_ns: I64
    own_ns: I64
    reason: I64
    wait_call: I64
    wait_work: I64
    wait_begin: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.row)


@dataclass(frozen=True)
class _Wait:
    work: int
    begin: bool = False


def blocking_calls(trace: Trace, window: Window, work: DeviceWork, streams: Streams) -> BlockingCalls:
    """The blocking calls that began in the window and ended in it."""
    rows = _candidates(trace, window)
    finder = _Finder(trace, work, streams)
    reasons: list[int] = []
    own: list[int] = []
    kept: list[int] = []
    waits: list[tuple[int, _Wait]] = []
    for row in rows.tolist():
        found = finder.waits(row)
        if found is None:
            continue
        reason, awaited = found
        waits += [(len(kept), wait) for wait in awaited]
        own.append(finder.own_cost(row, awaited))
        kept.append(row)
        reasons.append(int(reason))
    row = np.array(kept, dtype=np.int64)
    return BlockingCalls(
        row=row,
        thread=trace.host.thread[row].astype(np.int64),
        start_ns=trace.host.start_ns[row],
        end_ns=trace.host.end_ns[row],
        own_ns=np.array(own, dtype=np.int64),
        reason=np.array(reasons, dtype=np.int64),
        wait_call=np.array([call for call, _ in waits], dtype=np.int64),
        wait_work=np.array([wait.work for _, wait in waits], dtype=np.int64),
        wait_begin=np.array([wait.begin for _, wait in waits], dtype=np.bool_),
    )


def _candidates(trace: Trace, window: Window) -> npt.NDArray[np.intp]:
    calls = trace.host_rows(HostKind.RUNTIME, HostKind.DRIVER)
    inside = (trace.host.start_ns[calls] >= window.start_ns) & (trace.host.end_ns[calls] <= window.end_ns)
    calls = calls[inside]
    return calls[_outermost(trace, calls)]


def _outermost(trace: Trace, calls: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Whether a call lies in no earlier one of its thread (a driver call inside a runtime call does)."""
    outer = np.ones(len(calls), dtype=np.bool_)
    for thread in distinct(trace.host.thread[calls]):
        own = np.flatnonzero(trace.host.thread[calls] == thread)
        reach = np.maximum.accumulate(trace.host.end_ns[calls[own]])
        outer[own[1:]] = trace.host.start_ns[calls[own[1:]]] >= reach[:-1]
    return outer


class _Finder:
    """Finds what one call waited for."""

    def __init__(self, trace: Trace, work: DeviceWork, streams: Streams) -> None:
        self._trace, self._work, self._streams = trace, work, streams
        self._syncs = set(sync_calls(trace).tolist())
        self._names = {
            kind: frozenset(i for i, name in enumerate(trace.names) if pattern.match(name))
            for kind, pattern in (("device", _WHOLE_DEVICE), ("event", _EVENT), ("free", _FREE))
        }
        linked = np.flatnonzero(work.linked)
        self._by_call = {int(call): int(place) for place, call in zip(linked, work.call[linked], strict=True)}
        self._stream_of_sync = self._recorded_streams()
        self._launched = self._launches_by_thread(linked)
        self._issued = np.sort(work.launch_ns)
        self._begun = np.sort(work.start_ns)
        self._ends = np.sort(work.end_ns)
        self._by_end = np.argsort(work.end_ns, kind="stable")

    def _recorded_streams(self) -> dict[int, int]:
        trace, work = self._trace, self._work
        numbers = {
            int(trace.device.stream[row]): int(s) for row, s in zip(work.row, work.stream, strict=True)
        }
        rows = trace.device_rows(DeviceKind.SYNC)
        found = {int(trace.device.correlation[r]): numbers.get(int(trace.device.stream[r])) for r in rows}
        return {correlation: stream for correlation, stream in found.items() if stream is not None}

    def _launches_by_thread(self, linked: npt.NDArray[np.intp]) -> dict[int, tuple[I64, I64]]:
        if not len(linked):
            return {}
        threads = self._trace.host.thread[self._work.call[linked]]
        by_thread: dict[int, tuple[I64, I64]] = {}
        for thread in distinct(threads):
            own = linked[threads == thread]
            own = own[np.argsort(self._work.launch_ns[own], kind="stable")]
            by_thread[int(thread)] = (self._work.launch_ns[own], own.astype(np.int64))
        return by_thread

    def waits(self, row: int) -> tuple[WaitReason, list[_Wait]] | None:
        """Why a call blocks and for what; None if it does not block."""
        host = self._trace.host
        name = int(host.name[row])
        start, end = int(host.start_ns[row]), int(host.end_ns[row])
        launched = self._by_call.get(row)
        if launched is not None:
            return self._launching(launched, start, end)
        if name in self._names["free"]:
            return self._if_explained(self._all(start, end), start, end)
        if row not in self._syncs:
            return None
        if name in self._names["device"]:
            return WaitReason.SYNC, self._all(start, end)
        if name in self._names["event"]:
            found = self._if_explained([*self._nearest(start, end)], start, end)
            return found or (WaitReason.SYNC, [])
        return WaitReason.SYNC, self._of_stream(row, start, end)

    def own_cost(self, row: int, awaited: list[_Wait]) -> int:
        """What the call costs by itself: all of it unless something that it waits for was still going on."""
        length = int(self._trace.host.end_ns[row] - self._trace.host.start_ns[row])
        waited = any(self._moment(wait) > self._trace.host.start_ns[row] for wait in awaited)
        return min(length, OWN_COST_NS) if waited else length

    def _moment(self, wait: _Wait) -> int:
        times = self._work.start_ns if wait.begin else self._work.end_ns
        return int(times[wait.work])

    def _launching(self, place: int, start: int, end: int) -> tuple[WaitReason, list[_Wait]] | None:
        work = self._work
        if self._is_copy(place) and work.end_ns[place] <= end:
            return self._copy_reason(place), [_Wait(place)]
        if end - start < LONG_LAUNCH_NS:
            return None
        if self._is_copy(place) and work.start_ns[place] < end:
            return self._copy_reason(place), [_Wait(place, begin=True)]
        if self._pending(start) < FULL_QUEUE:
            return None
        found = self._if_explained([*self._nearest(start, end)], start, end)
        return None if found is None else (WaitReason.QUEUE, found[1])

    def _is_copy(self, place: int) -> bool:
        return int(self._trace.device.kind[self._work.row[place]]) == DeviceKind.MEMCPY

    def _copy_reason(self, place: int) -> WaitReason:
        name = self._trace.names[self._trace.device.name[self._work.row[place]]].lower()
        return WaitReason.UPLOAD if "htod" in name or "hosttodevice" in name else WaitReason.SYNC

    def _pending(self, at_ns: int) -> int:
        issued = np.searchsorted(self._issued, at_ns)
        return int(issued - np.searchsorted(self._begun, at_ns, side="right"))

    def _all(self, start: int, end: int) -> list[_Wait]:
        last = [
            self._streams.last(stream, launched_before_ns=start, done_by_ns=end)
            for stream in range(self._streams.count)
        ]
        return [_Wait(place) for place in last if place is not None]

    def _nearest(self, start: int, end: int) -> list[_Wait]:
        """The work launched before the call whose end comes last before the call's end."""
        at = int(np.searchsorted(self._ends, end, side="right")) - 1
        while at >= 0 and self._ends[at] > start:
            place = int(self._by_end[at])
            if self._work.launch_ns[place] < start:
                return [_Wait(place)]
            at -= 1
        return []

    def _of_stream(self, row: int, start: int, end: int) -> list[_Wait]:
        stream = self._stream_of_sync.get(int(self._trace.host.correlation[row]))
        if stream is None:
            stream = self._last_used(int(self._trace.host.thread[row]), start)
        if stream is not None:
            last = self._streams.last(stream, launched_before_ns=start, done_by_ns=end)
            waits = [] if last is None else [_Wait(last)]
            if self._explains(waits, start, end):
                return waits
        waits = self._nearest(start, end)
        return waits if self._explains(waits, start, end) else []

    def _last_used(self, thread: int, before_ns: int) -> int | None:
        launched = self._launched.get(thread)
        if launched is None:
            return None
        at = int(np.searchsorted(launched[0], before_ns)) - 1
        return int(self._work.stream[launched[1][at]]) if at >= 0 else None

    def _explains(self, waits: list[_Wait], start: int, end: int) -> bool:
        latest = max((self._moment(wait) for wait in waits), default=ABSENT)
        return bool(waits) and end - max(latest, start) <= WAKE_LIMIT_NS

    def _if_explained(
        self, waits: list[_Wait], start: int, end: int
    ) -> tuple[WaitReason, list[_Wait]] | None:
        going_on = [wait for wait in waits if self._moment(wait) > start]
        return (WaitReason.SYNC, waits) if going_on and self._explains(waits, start, end) else None

"""The device work of a window: kernels, copies and memsets with the host calls that launched them.

Finds what a piece of work follows: the work before it on its stream, its launching call, and work of other
streams that it waits for. Builds no graph.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...profiler.ingest.column_values import distinct, quantile
from ...profiler.ingest.columns import ABSENT, DeviceKind, HostKind, Trace
from ...profiler.timeline.kernels import device_kinds
from .graph import I64, Cause, Mask
from .window import Window

_WAIT_EVENT = re.compile(r"(cuda|hip|cu)StreamWaitEvent")
NEAR_NS = 20_000
"""Work that starts within this behind the end of work on another stream, and late for all else, waited for
it."""
AHEAD = 64
"""How many ends behind a late start are looked at."""
LAST_SHARE = 10
"""A kernel in its last tenth leaves room on the device."""
FALLBACK_LATENCY_NS = 5_000
FALLBACK_DISPATCH_NS = 1_000
"""Used where a trace has no launch into an idle device, or no work that was ready; both are at the low end of
what the recorded traces show (5 to 9 and 1 to 2 microseconds)."""
MOST_LATENCY_NS = 30_000
MOST_DISPATCH_NS = 5_000
"""What takes longer waited for something else: the slowest devices seen take 18 and 3.5 microseconds."""


@dataclass(frozen=True)
class DeviceWork:
    """Device work in order of start. All shapes (rows,), times in nanoseconds on the trace's clock.

    ``row`` is the row of the trace's device table; ``stream`` numbers the (device, stream) pairs from 0;
    ``previous`` is the place here of the work before it on its stream. ``call`` is the host row that launched
    it. Both are `ABSENT` where there is none. ``launch_ns`` is when its launch was begun; where the trace
    does not link it, when the last linked work before it on its stream was launched, and before the window
    where there is none.
    """

    row: I64
    start_ns: I64
    end_ns: I64
    stream: I64
    device: I64
    cause: I64
    previous: I64
    call: I64
    launch_ns: I64

    def __len__(self) -> int:
        return len(self.row)

    @property
    def linked(self) -> Mask:
        """Whether the launching call is known."""
        return self.call != ABSENT


def device_work(trace: Trace, window: Window) -> DeviceWork:
    """The work that was launched in the window or was still going on when it began."""
    row = trace.device_rows(DeviceKind.KERNEL, DeviceKind.MEMCPY, DeviceKind.MEMSET)
    call = _launching_calls(trace)
    stream = _streams(trace, row)
    launch = _launch_times(trace, row, call[row], stream, window)
    kept = (trace.device.end_ns[row] > window.start_ns) & (launch < window.end_ns)
    row, launch, stream = row[kept], launch[kept], stream[kept]
    start = np.maximum(trace.device.start_ns[row], window.start_ns)
    return DeviceWork(
        row=row,
        start_ns=start,
        end_ns=trace.device.end_ns[row],
        stream=stream,
        device=trace.device.device[row].astype(np.int64),
        cause=int(Cause.DEVICE_WORK) + np.maximum(device_kinds(trace)[row], 0),
        previous=_previous(stream),
        call=np.where(launch >= window.start_ns, call[row], ABSENT),
        launch_ns=launch,
    )


def _launch_times(trace: Trace, row: npt.NDArray[np.intp], call: I64, stream: I64, window: Window) -> I64:
    linked = call != ABSENT
    if not linked.any():
        return trace.device.start_ns[row]
    launch = np.where(linked, trace.host.start_ns[call], window.start_ns - 1)
    for one in distinct(stream):
        own = np.flatnonzero(stream == one)
        launch[own] = np.where(linked[own], launch[own], np.maximum.accumulate(launch[own]))
    return launch


def _launching_calls(trace: Trace) -> I64:
    rows = trace.host_rows(HostKind.RUNTIME, HostKind.DRIVER)
    rows = rows[trace.host.correlation[rows] >= 0]
    if not len(rows):
        return np.full(len(trace.device), ABSENT, dtype=np.int64)
    order = np.argsort(trace.host.correlation[rows], kind="stable")
    keys, rows = trace.host.correlation[rows][order], rows[order]
    at = np.minimum(np.searchsorted(keys, trace.device.correlation), len(keys) - 1)
    linked = (keys[at] == trace.device.correlation) & (trace.device.correlation >= 0)
    linked &= trace.host.start_ns[rows[at]] <= trace.device.start_ns
    return np.where(linked, rows[at], ABSENT)


def _streams(trace: Trace, row: npt.NDArray[np.intp]) -> I64:
    if not len(row):
        return np.zeros(0, dtype=np.int64)
    pairs = np.stack([trace.device.device[row].astype(np.int64), trace.device.stream[row]], axis=1)
    return np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _previous(stream: I64) -> I64:
    order = np.argsort(stream, kind="stable")
    previous = np.full(len(stream), ABSENT, dtype=np.int64)
    same = stream[order][1:] == stream[order][:-1]
    previous[order[1:][same]] = order[:-1][same]
    return previous


@dataclass(frozen=True)
class Typical:
    """What the device needs at least, read off the trace itself, in nanoseconds.

    ``latency_ns``: from the begin of a launching call to the start of its work on an idle stream, low end.
    ``dispatch_ns``: between two pieces of work of a stream when the second was ready, median.
    """

    latency_ns: int
    dispatch_ns: int


def typical(work: DeviceWork) -> Typical:
    """Launch latency and dispatch gap of a trace."""
    follows = work.previous != ABSENT
    free_ns = np.where(follows, work.end_ns[work.previous], 0) if len(work) else work.end_ns
    latency = (work.start_ns - work.launch_ns)[work.linked & (free_ns <= work.launch_ns)]
    latency_ns = _low_end(latency, 5, FALLBACK_LATENCY_NS, MOST_LATENCY_NS)
    ready = follows & work.linked & (work.launch_ns + latency_ns < free_ns) & (work.start_ns >= free_ns)
    gap = (work.start_ns - free_ns)[ready]
    return Typical(latency_ns, _low_end(gap, 50, FALLBACK_DISPATCH_NS, MOST_DISPATCH_NS))


def _low_end(delays: I64, percentile: float, fallback_ns: int, most_ns: int) -> int:
    delays = delays[delays <= most_ns]
    return int(quantile(delays, percentile / 100)) if len(delays) else fallback_ns


class Streams:
    """Work by stream, for asking what of a stream was launched before, and done by, some moment."""

    def __init__(self, work: DeviceWork) -> None:
        self._work = work
        self.count = int(work.stream.max()) + 1 if len(work) else 0
        self._rows = [np.flatnonzero(work.stream == stream) for stream in range(self.count)]
        self._launch = [np.maximum.accumulate(work.launch_ns[rows]) for rows in self._rows]
        self._done = [np.maximum.accumulate(work.end_ns[rows]) for rows in self._rows]

    def last(self, stream: int, *, launched_before_ns: int, done_by_ns: int) -> int | None:
        """The last work of a stream that was launched before one time and had ended by another."""
        launched = int(np.searchsorted(self._launch[stream], launched_before_ns, side="left"))
        done = int(np.searchsorted(self._done[stream], done_by_ns, side="right"))
        place = min(launched, done) - 1
        return int(self._rows[stream][place]) if place >= 0 else None

    def device(self, stream: int) -> int:
        """The device that a stream belongs to."""
        return int(self._work.device[self._rows[stream][0]])


def stream_waits(trace: Trace, window: Window, work: DeviceWork, streams: Streams) -> tuple[I64, I64]:
    """Pairs of work, awaited and waiting, on different streams of a device. Shapes (pairs,) and (pairs,).

    From ``cuda_sync`` rows where the trace has them, else from the calls: the first work that a thread
    launches behind a wait for an event waits for what the other streams had been given by then. The call
    names neither event nor streams, so what had not ended when the waiting work began is known not to have
    been awaited.
    """
    if streams.count < 2:
        none = np.zeros(0, dtype=np.int64)
        return none, none
    pairs = _recorded_waits(trace, work, streams) or _called_waits(trace, window, work, streams)
    found = np.array(sorted(set(pairs)), dtype=np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _recorded_waits(trace: Trace, work: DeviceWork, streams: Streams) -> list[tuple[int, int]]:
    rows = np.flatnonzero((trace.device.kind == DeviceKind.SYNC) & (trace.device.waits_on_stream >= 0))
    calls = {int(trace.host.correlation[row]): row for row in trace.host_rows(HostKind.RUNTIME)}
    by_stream = {int(trace.device.stream[work.row[i]]): int(work.stream[i]) for i in range(len(work))}
    pairs: list[tuple[int, int]] = []
    for row in rows:
        waiting = by_stream.get(int(trace.device.stream[row]))
        awaited = by_stream.get(int(trace.device.waits_on_stream[row]))
        call = calls.get(int(trace.device.correlation[row]))
        recorded = calls.get(int(trace.device.waits_on_correlation[row]))
        if waiting is None or awaited is None or call is None or recorded is None:
            continue
        behind = np.flatnonzero((work.stream == waiting) & (work.launch_ns >= trace.host.start_ns[call]))
        if len(behind):
            before_ns = int(trace.host.start_ns[recorded])
            pairs += _pair(work, streams, awaited, int(behind[0]), before_ns)
    return pairs


def _called_waits(trace: Trace, window: Window, work: DeviceWork, streams: Streams) -> list[tuple[int, int]]:
    matches = np.array([_WAIT_EVENT.match(name) is not None for name in trace.names], dtype=np.bool_)
    calls = trace.host_rows(HostKind.RUNTIME, HostKind.DRIVER)
    calls = calls[trace.names_where(matches, trace.host.name[calls])]
    calls = calls[trace.host.start_ns[calls] >= window.start_ns]
    pairs: list[tuple[int, int]] = []
    for thread in distinct(trace.host.thread[calls]):
        own = calls[trace.host.thread[calls] == thread]
        launched = np.flatnonzero(work.linked & (trace.host.thread[work.call] == thread))
        launched = launched[np.argsort(work.launch_ns[launched], kind="stable")]
        at = np.searchsorted(work.launch_ns[launched], trace.host.start_ns[own])
        for call, place in zip(own[at < len(launched)], at[at < len(launched)], strict=True):
            waiting, before_ns = int(launched[place]), int(trace.host.start_ns[call])
            for stream in range(streams.count):
                pairs += _pair(work, streams, stream, waiting, before_ns)
    return pairs


def _pair(
    work: DeviceWork, streams: Streams, awaited: int, waiting: int, before_ns: int
) -> list[tuple[int, int]]:
    if awaited == work.stream[waiting] or streams.device(awaited) != work.device[waiting]:
        return []
    start_ns = int(work.start_ns[waiting])
    last = streams.last(awaited, launched_before_ns=before_ns, done_by_ns=start_ns)
    return [] if last is None or last == waiting else [(last, waiting)]


@dataclass(frozen=True)
class LateWaits:
    """Work that waited for other work without a call that says so. Shapes (pairs,): places in `DeviceWork`.

    ``within`` is true where the waiting work started before the end of the awaited: it got the room that the
    last blocks of a long kernel left.
    """

    awaited: I64
    waiting: I64
    within: Mask


def late_waits(work: DeviceWork, late: npt.NDArray[np.intp], explained_ns: I64) -> LateWaits:
    """For ``late`` work, which started later than ``explained_ns`` for all that is known, what it waited for.

    Events recorded and awaited inside a CUDA graph or before the trace began leave no call; that a start
    follows within `NEAR_NS` on an end on another stream is what is left of them. Else a kernel of another
    stream that ran all the while and was in its last tenth had left no room before.
    """
    by_end = np.argsort(work.end_ns, kind="stable")
    ends = work.end_ns[by_end]
    pairs: list[tuple[int, int, bool]] = []
    for waiting in late.tolist():
        start_ns = int(work.start_ns[waiting])
        at = int(np.searchsorted(ends, start_ns, side="right"))
        near = int(np.searchsorted(ends, start_ns - NEAR_NS))
        before = [int(one) for one in by_end[near:at][::-1] if _elsewhere(work, int(one), waiting)]
        if before:
            pairs.append((before[0], waiting, False))
            continue
        behind = by_end[at : at + AHEAD]
        room = [one for one in behind.tolist() if _made_room(work, one, waiting, int(explained_ns[waiting]))]
        pairs += [(room[0], waiting, True)] if room else []
    found = np.array(pairs, dtype=np.int64).reshape(-1, 3)
    return LateWaits(found[:, 0], found[:, 1], found[:, 2].astype(np.bool_))


def _elsewhere(work: DeviceWork, one: int, waiting: int) -> bool:
    return (
        work.stream[one] != work.stream[waiting]
        and work.device[one] == work.device[waiting]
        and bool(work.start_ns[one] < work.start_ns[waiting])
    )


def _made_room(work: DeviceWork, one: int, waiting: int, explained_ns: int) -> bool:
    length = work.end_ns[one] - work.start_ns[one]
    return (
        _elsewhere(work, one, waiting)
        and bool(work.start_ns[one] <= explained_ns)
        and bool((work.end_ns[one] - work.start_ns[waiting]) * LAST_SHARE <= length)
    )

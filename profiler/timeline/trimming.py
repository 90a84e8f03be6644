"""Cuts a trace down to a span of time, so that a viewer opens it at once. Pure: trace in, trace out."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..errors import UsageError
from ..ingest.columns import DeviceSpans, Flows, HostSpans, MemoryEvents, Trace
from .idle import launch_of_device_rows
from .trace_steps import TraceSteps

TableT = TypeVar("TableT", HostSpans, DeviceSpans, Flows, MemoryEvents)


def span_of_steps(steps: TraceSteps, first: int, last: int, *, source: str) -> tuple[int, int]:
    """Start and end in nanoseconds of the steps numbered ``first`` to ``last``, both included.

    Raises:
        UsageError: the trace has none of them.
    """
    if not len(steps):
        raise UsageError(f"{source} marks no steps: export it whole, without --steps")
    chosen = (steps.number >= first) & (steps.number <= last)
    if not chosen.any():
        raise UsageError(
            f"{source} has steps {int(steps.number.min())} to {int(steps.number.max())}, "
            f"none of {first} to {last}"
        )
    return int(steps.start_ns[chosen].min()), int(steps.end_ns[chosen].max())


def trim(trace: Trace, start_ns: int, end_ns: int) -> Trace:
    """The rows of a trace that overlap a span, and the device rows that calls within it launched.

    Times stay as they are, so that ``origin_ns`` still holds.
    """
    host = _overlaps(trace.host, start_ns, end_ns)
    launched = launch_of_device_rows(trace)
    device = _overlaps(trace.device, start_ns, end_ns) | ((launched >= start_ns) & (launched < end_ns))
    flows = (trace.flows.time_ns >= start_ns) & (trace.flows.time_ns < end_ns)
    memory = (trace.memory.time_ns >= start_ns) & (trace.memory.time_ns < end_ns)
    place_host, place_device = _places(host), _places(device)
    return replace(
        trace,
        host=_kept(trace.host, host),
        device=_kept(trace.device, device),
        flows=_kept(trace.flows, flows),
        memory=_kept(trace.memory, memory),
        collectives=tuple(
            replace(one, row=int(place_device[one.row])) for one in trace.collectives if device[one.row]
        ),
        shapes={int(place_host[row]): text for row, text in trace.shapes.items() if host[row]},
    )


def _overlaps(spans: HostSpans | DeviceSpans, start_ns: int, end_ns: int) -> npt.NDArray[np.bool_]:
    return (spans.start_ns < end_ns) & (np.maximum(spans.end_ns, spans.start_ns + 1) > start_ns)


def _places(kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    return np.cumsum(kept) - 1


def _kept(table: TableT, rows: npt.NDArray[np.bool_]) -> TableT:
    columns = {field.name: getattr(table, field.name)[rows] for field in dataclasses.fields(table)}
    return dataclasses.replace(table, **columns)

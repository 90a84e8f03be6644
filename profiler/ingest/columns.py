"""The columns that every trace reader fills and every analysis reads: the contract between ingest and
timeline.

A `Trace` is one process (rank) of a run. All times are int64 nanoseconds since the trace's own start
(`TraceInfo.origin_ns` is that start on the clock of the file, so that ranks of one host can be laid side by
side). Every table is sorted by start, and among equal starts the longer row comes first, so a parent
precedes its child. Columns hold plain numbers; where a row lacks a value the column holds `ABSENT`, which
no valid id or size equals. Nothing here parses and nothing here judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from .column_values import rows_of

ABSENT = -1
"""What an id or size column holds where the file gives none (numpy integers have no None)."""

KINETO = "kineto"
NSIGHT = "nsight"
"""Formats of timelines, as `TraceInfo.format` names them."""

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
U8 = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]


class HostKind(IntEnum):
    """What a row of `HostSpans` is."""

    OP = 0
    """a framework operator, such as aten::mm or an autograd node"""
    ANNOTATION = 1
    """a named range: ProfilerStep#, enumerate(DataLoader)#, Optimizer.step#, record_function, NVTX"""
    RUNTIME = 2
    """a call of the CUDA or HIP runtime, such as cudaLaunchKernel"""
    DRIVER = 3
    """a call of the driver, such as cuLaunchKernel"""
    PYTHON = 4
    """a Python frame, named ``file(line): function``"""
    OVERHEAD = 5
    """the profiler's own work"""


class DeviceKind(IntEnum):
    """What a row of `DeviceSpans` is."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    SYNC = 3
    """a synchronisation as the device saw it (``cuda_sync``): occupies no engine"""
    ANNOTATION = 4
    """a host range projected on a stream: occupies no engine"""


class FlowKind(IntEnum):
    """What an arrow links."""

    LAUNCH = 0
    """a launching call to the device work it started"""
    FORWARD_BACKWARD = 1
    """a forward operator to its backward node"""


@dataclass(frozen=True)
class HostSpans:
    """Closed-open intervals on host threads; every column has shape (rows,).

    ``correlation`` links a RUNTIME or DRIVER row to the `DeviceSpans` rows with the same value (one
    CUDA-graph launch has many). ``external`` is the operator's id. ``sequence`` joins forward operators and
    backward nodes.
    """

    start_ns: I64
    end_ns: I64
    name: I32
    kind: U8
    thread: I32
    correlation: I64
    external: I64
    sequence: I64

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclass(frozen=True)
class DeviceSpans:
    """Closed-open intervals on device streams; every column has shape (rows,).

    ``bytes`` is the size of a copy or memset. ``graph`` is the id of the CUDA graph that a kernel was
    replayed from. ``waits_on_stream`` and ``waits_on_correlation`` belong to SYNC rows of stream-wait-event
    kind.
    """

    start_ns: I64
    end_ns: I64
    name: I32
    kind: U8
    device: I32
    stream: I64
    correlation: I64
    external: I64
    bytes: I64
    graph: I64
    waits_on_stream: I64
    waits_on_correlation: I64

    def __len__(self) -> int:
        return len(self.start_ns)


@dataclass(frozen=True)
class Flows:
    """Ends of arrows, in order of time; ``begins`` is true at the tail. Rows with one ``id`` and kind
    belong together.
    """

    time_ns: I64
    kind: U8
    begins: Mask
    id: I64
    thread: I32

    def __len__(self) -> int:
        return len(self.time_ns)


@dataclass(frozen=True)
class MemoryEvents:
    """Allocator events in order of time: change in bytes and totals afterwards, per device (-1 is the
    host).
    """

    time_ns: I64
    bytes: I64
    allocated: I64
    reserved: I64
    device: I32

    def __len__(self) -> int:
        return len(self.time_ns)


@dataclass(frozen=True)
class Thread:
    """A host thread, as the file names it."""

    pid: int | str
    tid: int | str
    label: str = ""


@dataclass(frozen=True)
class DeviceModel:
    """A device of the host, as the file describes it; None where it does not say."""

    id: int
    name: str
    total_memory_bytes: int | None = None
    multiprocessors: int | None = None
    compute_capability: tuple[int, int] | None = None


@dataclass(frozen=True)
class Collective:
    """What the file says about one communication kernel: row of `DeviceSpans`, operation, group, sizes in
    elements.
    """

    row: int
    operation: str | None = None
    group: str | None = None
    group_size: int | None = None
    in_elements: int | None = None
    out_elements: int | None = None
    dtype: str | None = None


@dataclass(frozen=True)
class TraceInfo:
    """Where a trace comes from. ``rank`` and the like are None where the file does not say."""

    source: str
    format: str
    origin_ns: int = 0
    rank: int | None = None
    world_size: int | None = None
    backend: str | None = None
    collective_library: str | None = None
    vendor: str | None = None
    devices: tuple[DeviceModel, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trace:
    """One process of a run in columns. ``names[i]`` is the text of name id i; ``threads[i]`` of thread id i.

    ``duration_ns`` is from the start to the end of the last event. ``shapes`` holds the input dimensions
    and types of the operators that multiply matrices, as JSON text, by row of ``host``; it is empty where
    none were recorded.
    """

    info: TraceInfo
    names: tuple[str, ...]
    threads: tuple[Thread, ...]
    host: HostSpans
    device: DeviceSpans
    flows: Flows
    memory: MemoryEvents
    duration_ns: int
    collectives: tuple[Collective, ...] = ()
    shapes: Mapping[int, str] = field(default_factory=dict[int, str])

    def host_rows(self, *kinds: HostKind) -> npt.NDArray[np.intp]:
        """Row numbers of the host spans of these kinds, in order of start."""
        return rows_of(self.host.kind, kinds)

    def device_rows(self, *kinds: DeviceKind) -> npt.NDArray[np.intp]:
        """Row numbers of the device spans of these kinds, in order of start."""
        return rows_of(self.device.kind, kinds)

    def names_where(self, matches: Mask, ids: I32) -> Mask:
        """For each name id in ``ids`` whether ``matches`` (shape: number of names) holds for it."""
        return matches[ids] if len(self.names) else np.zeros(len(ids), dtype=np.bool_)

"""The fields of a Chrome-trace event that are read, over all ages of the PyTorch profiler, and their kinds.

Fields not named here are skipped by the decoder without being built, integers beyond 64 bits among them.
"""

from __future__ import annotations

import math

import msgspec

from .columns import ABSENT, DeviceKind, FlowKind, HostKind

Number = int | float | None
Label = int | str | float | None
EMPTY = msgspec.Raw()


class EventArgs(msgspec.Struct, gc=False):
    """The arguments of an event that are read; ids and sizes that it does not give are `ABSENT`."""

    external: Number = msgspec.field(name="External id", default=ABSENT)
    correlation: Number = ABSENT
    sequence: Number = msgspec.field(name="Sequence number", default=ABSENT)
    device: Label = None
    stream: Label = None
    bytes: Number = ABSENT
    graph: Number = msgspec.field(name="graph id", default=ABSENT)
    external_old: Number = msgspec.field(name="external id", default=ABSENT)
    waits_on_stream: Number = msgspec.field(name="wait_on_stream", default=ABSENT)
    waits_on_correlation: Number = msgspec.field(name="wait_on_cuda_event_record_corr_id", default=ABSENT)
    allocated: Number = msgspec.field(name="Total Allocated", default=ABSENT)
    reserved: Number = msgspec.field(name="Total Reserved", default=ABSENT)
    memory_bytes: Number = msgspec.field(name="Bytes", default=0)
    device_type: Number = msgspec.field(name="Device Type", default=0)
    device_id: Number = msgspec.field(name="Device Id", default=ABSENT)
    shapes: msgspec.Raw = msgspec.field(name="Input Dims", default=EMPTY)
    types: msgspec.Raw = msgspec.field(name="Input type", default=EMPTY)
    collective: str | None = msgspec.field(name="Collective name", default=None)
    group: str | int | None = msgspec.field(name="Process Group Name", default=None)
    group_size: Number = msgspec.field(name="Group size", default=None)
    in_elements: Number = msgspec.field(name="In msg nelems", default=None)
    out_elements: Number = msgspec.field(name="Out msg nelems", default=None)
    dtype: str | None = None
    name: str | int | None = None


class EventWithoutArgs(msgspec.Struct, gc=False):
    """What is kept of an event whose arguments have an unknown form.

    ``ts`` and ``dur`` are microseconds in every age of the format; ``ts`` is NaN where there is none. Fields
    stand in the order in which they are written, which the decoder tries first.
    """

    ph: str = "X"
    cat: str | None = None
    name: str = ""
    pid: Label = None
    tid: Label = None
    ts: float | None = math.nan
    dur: float | None = 0.0
    id: Label = None

    def event(self) -> Event:
        """The same as an `Event` without arguments."""
        return Event(self.ph, self.cat, self.name, self.pid, self.tid, self.ts, self.dur, self.id)


class Event(EventWithoutArgs, gc=False):
    """One event."""

    args: EventArgs | None = None


HOST_KINDS = {
    "cpu_op": HostKind.OP,
    "operator": HostKind.OP,
    "user_annotation": HostKind.ANNOTATION,
    "runtime": HostKind.RUNTIME,
    "cuda_runtime": HostKind.RUNTIME,
    "hip_runtime": HostKind.RUNTIME,
    "xpu_runtime": HostKind.RUNTIME,
    "privateuse1_runtime": HostKind.RUNTIME,
    "cuda_driver": HostKind.DRIVER,
    "privateuse1_driver": HostKind.DRIVER,
    "xpu_driver": HostKind.DRIVER,
    "python_function": HostKind.PYTHON,
    "overhead": HostKind.OVERHEAD,
}
DEVICE_KINDS = {
    "kernel": DeviceKind.KERNEL,
    "concurrent_kernel": DeviceKind.KERNEL,
    "gpu_memcpy": DeviceKind.MEMCPY,
    "memcpy": DeviceKind.MEMCPY,
    "gpu_memset": DeviceKind.MEMSET,
    "memset": DeviceKind.MEMSET,
    "cuda_sync": DeviceKind.SYNC,
    "gpu_user_annotation": DeviceKind.ANNOTATION,
}
FLOW_KINDS = {
    "ac2g": FlowKind.LAUNCH,
    "async": FlowKind.LAUNCH,
    "async_cpu_to_gpu": FlowKind.LAUNCH,
    "async_gpu": FlowKind.LAUNCH,
    "cpu_to_cuda": FlowKind.LAUNCH,
    "fwdbwd": FlowKind.FORWARD_BACKWARD,
    "forward_backward": FlowKind.FORWARD_BACKWARD,
}
ANNOTATION_PREFIXES = (
    "ProfilerStep#",
    "enumerate(DataLoader)#",
    "Optimizer.",
    "DistributedDataParallel.",
    "## ",
    "nccl:",
    "gloo:",
)

SHAPED_OPS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::matmul", "aten::linear")
CONVOLUTION_OPS = (
    "aten::convolution",
    "aten::cudnn_convolution",
    "aten::_convolution",
    "aten::miopen_convolution",
)


HOST_CATEGORIES = {written: kind for name, kind in HOST_KINDS.items() for written in (name, name.title())}
DEVICE_CATEGORIES = {written: kind for name, kind in DEVICE_KINDS.items() for written in (name, name.title())}
"""Categories as files write them: early ones began with a capital."""


def kind_without_category(event: Event) -> HostKind | DeviceKind:
    """The autograd profiler of 2019 to 2021 wrote no category; the process name told host from device."""
    return DeviceKind.KERNEL if event.pid == "CUDA functions" else HostKind.OP


def is_annotation(name: str) -> bool:
    """Whether a name is a range set by code, which early profilers filed under operators."""
    return name.startswith(ANNOTATION_PREFIXES)

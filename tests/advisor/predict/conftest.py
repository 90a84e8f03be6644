"""A small machine that runs programs and records them as traces, so that the right answer is known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from trainrx.profiler.ingest import building
from trainrx.profiler.ingest.columns import (
    ABSENT,
    DeviceKind,
    HostKind,
    Thread,
    Trace,
    TraceInfo,
)

US = 1000
CALL_NS, LATENCY_NS, DISPATCH_NS, SYNC_NS, WAKE_NS = 4 * US, 6 * US, 1 * US, 3 * US, 1 * US
NAMES = {
    "matmul": "ampere_sgemm_128x64_nn",
    "elementwise": "vectorized_elementwise_kernel",
    "communication": "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
    "copy": "Memcpy HtoD (Pageable -> Device)",
}


@dataclass(frozen=True)
class Do:
    """One instruction: ``host``, ``load``, ``op``, ``sync``, ``wait`` (its stream waits for stream ``of``),
    ``step``, ``backward`` (the other thread takes over) or ``resume`` (it hands back).
    """

    what: str
    host_us: int = 0
    device_us: int = 0
    kind: str = "matmul"
    stream: int = 7
    of: int = 7
    blocks: bool = False


@dataclass
class Machine:
    """Runs a program; ``clock`` is the host's time in nanoseconds."""

    clock: int = 0
    thread: int = 0
    host: list[tuple[int, int, str, HostKind, int, int]] = field(default_factory=list)
    device: list[tuple[int, int, str, DeviceKind, int, int]] = field(default_factory=list)
    free: dict[int, int] = field(default_factory=dict)
    held: dict[int, int] = field(default_factory=dict)
    step_start: int = 0
    steps: int = 0

    def run(self, program: list[Do]) -> Machine:
        for one in program:
            getattr(self, f"_{one.what}")(one)
        self._step(Do("step"))
        return self

    def _add(self, start: int, end: int, name: str, kind: HostKind, correlation: int = ABSENT) -> None:
        self.host.append((start, end, name, kind, self.thread, correlation))

    def _host(self, one: Do) -> None:
        self.clock += one.host_us * US

    def _load(self, one: Do) -> None:
        start, self.clock = self.clock, self.clock + one.host_us * US
        self._add(start, self.clock, "enumerate(DataLoader)#_Iter.__next__", HostKind.ANNOTATION)

    def _op(self, one: Do) -> None:
        start, number = self.clock, len(self.device) + 1
        launch = start + one.host_us * US
        ready = max(self.free.get(one.stream, -DISPATCH_NS) + DISPATCH_NS, self.held.pop(one.stream, 0))
        begin = max(launch + LATENCY_NS, ready)
        end = begin + one.device_us * US
        self.free[one.stream] = end
        kind = DeviceKind.MEMCPY if one.kind == "copy" else DeviceKind.KERNEL
        self.device.append((begin, end, NAMES[one.kind], kind, one.stream, number))
        back = max(launch + CALL_NS, end + WAKE_NS) if one.blocks else launch + CALL_NS
        name = "cudaMemcpyAsync" if one.kind == "copy" else "cudaLaunchKernel"
        self.clock = back + US
        self._add(start, self.clock, f"aten::{one.kind}", HostKind.OP)
        self._add(launch, back, name, HostKind.RUNTIME, number)

    def _sync(self, one: Do) -> None:
        start = self.clock
        self.clock = max(start + SYNC_NS, max(self.free.values(), default=0) + WAKE_NS)
        self._add(start, self.clock, "cudaDeviceSynchronize", HostKind.RUNTIME)

    def _wait(self, one: Do) -> None:
        start, self.clock = self.clock, self.clock + US
        self.held[one.stream] = self.free.get(one.of, 0) + DISPATCH_NS
        self._add(start, self.clock, "cudaStreamWaitEvent", HostKind.RUNTIME)

    def _backward(self, one: Do) -> None:
        self.clock += one.host_us * US
        self.thread = 1

    def _resume(self, one: Do) -> None:
        self.clock += one.host_us * US
        self.thread = 0

    def _step(self, one: Do) -> None:
        self.host.append(
            (self.step_start, self.clock, f"ProfilerStep#{self.steps}", HostKind.ANNOTATION, 0, ABSENT)
        )
        self.step_start, self.steps = self.clock, self.steps + 1

    @property
    def done_ns(self) -> int:
        """When host and device have finished."""
        return max(self.clock, *self.free.values(), 0) if self.free else self.clock

    def trace(self) -> Trace:
        names = building.Interner()
        host_rows = [(s, e, names.id(n), int(k), t, c) for s, e, n, k, t, c in self.host]
        device_rows = [(s, e, names.id(n), int(k), st, c) for s, e, n, k, st, c in self.device]
        host, _ = building.host_spans(_columns(host_rows, "thread", "correlation", "external", "sequence"))
        columns = _columns(device_rows, "stream", "correlation", "external", "bytes", "graph")
        absent = np.full(len(device_rows), ABSENT)
        more = {"device": absent * 0, "waits_on_stream": absent, "waits_on_correlation": absent}
        device, _ = building.device_spans(columns | more)
        none = np.zeros(0)
        return Trace(
            info=TraceInfo("simulated", "simulated"),
            names=names.texts(),
            threads=(Thread(1, 1), Thread(1, 2)),
            host=host,
            device=device,
            flows=building.flows(dict.fromkeys(("time_ns", "kind", "begins", "id", "thread"), none)),
            memory=building.memory_events(
                dict.fromkeys(("time_ns", "bytes", "allocated", "reserved", "device"), none)
            ),
            duration_ns=self.done_ns,
        )


def _columns(rows: list[tuple[int, ...]], *rest: str) -> dict[str, np.ndarray]:
    table = np.array(rows, dtype=np.int64).reshape(-1, 6)
    absent = np.full(len(table), ABSENT, dtype=np.int64)
    given = ("start_ns", "end_ns", "name", "kind", *rest[:2])
    return {name: table[:, i] for i, name in enumerate(given)} | dict.fromkeys(rest[2:], absent)


class Simulation:
    """Runs programs; ``changed`` gives the truth about a what-if."""

    Do = Do

    @staticmethod
    def run(program: list[Do]) -> Machine:
        return Machine().run(program)

    @staticmethod
    def scaled(program: list[Do], kind: str, factor: float) -> list[Do]:
        return [
            replace(one, device_us=round(one.device_us * factor))
            if one.what == "op" and one.kind == kind
            else one
            for one in program
        ]

    @staticmethod
    def without(program: list[Do], what: str) -> list[Do]:
        return [one for one in program if one.what != what]


@pytest.fixture(scope="session")
def simulation() -> type[Simulation]:
    """The simulated machine."""
    return Simulation

"""Times stages on a GPU: events are put into the stream where a stage begins and ends, and read once they have passed.

The host runs ahead of a GPU, so its own clock tells when work was handed over, not when it was done. Nothing here ever
waits for the device: an event is asked whether it has passed, at the end of a step, and asked again later if not. That
happens on the training thread alone, for a query from another thread breaks a graph capture; while a graph is captured
no event is recorded or asked. A process that has not started CUDA itself, as a forked one, records none. Whatever goes
wrong is noted, ends this timing, and leaves the rest of the recording alone.
"""

from __future__ import annotations

import collections
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recorder import Recorder

now = time.perf_counter_ns
#: Never more events than these, whatever a device is behind.
MAX_EVENTS = 512
#: So many steps in a row are timed, then some are left out, so that the cost keeps within `BUDGET` of the time.
BURST = 6
BUDGET = 0.003
MAX_PAUSES = 50
#: Cost and time of the first steps tell nothing: events are made and kernels loaded.
FIRST_STEPS = 2

_PARENTS: list[Any] = []

Record = tuple[int, int, int, int, int]


class DeviceClock:
    """Puts down the moments of stages on the device of the training thread.

    Attributes:
        is_on: the stages of this step are to be timed.
        may_start: torch can compute on a GPU, and timing there was not given up.
        cost_ns: what all of it has cost the training thread so far.
        records: what was read, as in `format`'s ``device.bin``, emptied by the background thread.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.is_on = False
        self.may_start = True
        self.cost_ns = 0
        self.records: collections.deque[Record] = collections.deque()
        self._recorder = recorder
        self._cuda: Any = None
        self._free: list[Any] = []
        self._made = 0
        self._pending: collections.deque[tuple[int, int, int, Any, Any]] = collections.deque()
        self._last: Any = None
        self._device_ns = 0
        self._left = 0
        self._cost_ns = 0
        self._burst_start_ns = 0

    def begin(self) -> Any:
        """Mark the moment in the current stream; the event, or None where none may be recorded now."""
        start = now()
        try:
            if self._cuda.is_current_stream_capturing():
                return None
            event = self._free.pop() if self._free else self._make()
            if event is not None:
                event.record()
            return event
        except Exception as error:
            self._give_up(error)
            return None
        finally:
            self._cost_ns += now() - start

    def end(self, code: int, start_ns: int, end_ns: int, begun: Any) -> None:
        """A stage that was begun with the event ``begun`` is over: ``start_ns`` and ``end_ns`` are the host's."""
        ended = self.begin()
        if ended is not None:
            self._pending.append((code, start_ns, end_ns, begun, ended))
        elif self.may_start:
            self._free.append(begun)

    def moment(self, code: int, at_ns: int) -> None:
        """Something of no length on the device has happened at ``at_ns`` of the host, as the end of a fetch."""
        event = self.begin()
        if event is not None:
            self._pending.append((code, at_ns, at_ns, event, None))

    def at_step(self, *, counts: bool) -> None:
        """A step is over: read what has passed, and decide about the next; ``counts`` false leaves that out."""
        if not self.may_start or (self._cuda is None and not self._starts()):
            return
        start = now()
        try:
            self._read()
        except Exception as error:
            self._give_up(error)
            return
        self._cost_ns += now() - start
        self._left -= 1
        if self._left <= 0:
            self._turn(start)
        self.is_on = counts and self._burst_start_ns > 0

    def close(self) -> None:
        """Recording ends: read what has passed by now, wait for nothing."""
        self.is_on = False
        if self._cuda is None or not self.may_start:
            return
        try:
            self._read()
        except Exception as error:
            self._give_up(error)

    def leave_to_parent(self) -> None:
        """In a forked child: never touch the parent's events again, not even to free them, for that would call CUDA."""
        _PARENTS.append((self._free, self._pending, self._last))

    def _starts(self) -> bool:
        """Whether this process computes on a GPU by now."""
        torch = sys.modules.get("torch")
        if torch is None:
            return False
        cuda: Any = torch.cuda
        if not cuda.is_initialized():
            self.may_start = bool(torch.version.cuda or torch.version.hip)
            return False
        self._cuda = cuda
        self._left = FIRST_STEPS
        self._recorder.device_memory.starts(cuda)
        return True

    def _turn(self, moment_ns: int) -> None:
        """From timing to pausing, as long as the cost asks for, or back."""
        if self._burst_start_ns:
            length_ns = max(moment_ns - self._burst_start_ns, 1)
            pauses = min(int(self._cost_ns / (BUDGET * length_ns)), MAX_PAUSES)
            self._left = BURST * (pauses or 1)
            self._burst_start_ns = 0 if pauses else moment_ns
        else:
            self._left, self._burst_start_ns = BURST, moment_ns
        self.cost_ns += self._cost_ns
        self._cost_ns = 0

    def _make(self) -> Any:
        if self._made >= MAX_EVENTS:
            return None
        self._made += 1
        return self._cuda.Event(enable_timing=True)

    def _read(self) -> None:
        if not self._pending or self._cuda.is_current_stream_capturing():
            return
        while self._pending:
            code, start_ns, end_ns, begun, ended = self._pending[0]
            if not (begun.query() and (ended is None or ended.query())):
                return
            self._pending.popleft()
            first = self._passed(begun)
            self.records.append(
                (code, start_ns, end_ns, first, first if ended is None else self._passed(ended))
            )

    def _passed(self, event: Any) -> int:
        """When an event passed, in nanoseconds since the first one; from event to event, for differences are floats."""
        if self._last is not None:
            self._device_ns += round(self._last.elapsed_time(event) * 1e6)
            self._free.append(self._last)
        self._last = event
        return self._device_ns

    def _give_up(self, error: BaseException) -> None:
        self.is_on = self.may_start = False
        self._pending.clear()
        self._free.clear()
        self._last = None
        try:
            self._recorder.note(f"stages were not timed on the device: {error!r}")
        except Exception as fault:
            self._recorder.fail(fault)


#: Functions that hooks call where TorchDynamo may look on; it is told to leave them alone.
CODES = tuple(
    method.__code__
    for method in (DeviceClock.begin, DeviceClock.end, DeviceClock.moment, DeviceClock.at_step)
)

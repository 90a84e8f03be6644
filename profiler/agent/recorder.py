"""The heart of the agent: takes spans from the hooks, finds steps, decides when to stop.

It lives in the user's training process. Its hot path is one integer comparison to admit a call and one append per
span; everything else happens on the agent's own thread (`.background`). A fault inside it switches it off
for good and leaves the training alone.
"""

from __future__ import annotations

import collections
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from . import environment, first_failure, process
from .background import Background
from .batch_facts import BatchFacts
from .calibrate import span_cost_s
from .device_clock import DeviceClock
from .device_memory import DeviceMemory
from .flops import FlopCount
from .format import PROCESS_CPU, STEP, STEP_TRACED
from .graph_size import GraphSize
from .holdings import Holdings
from .kept_graphs import KeptGraphs
from .loading import Loading
from .losses import Losses
from .model_facts import ModelFacts
from .rank_folder import RankFolder
from .sampler import describe_error
from .sign_in import sign_in
from .tracebacks import unseen
from .window import TraceWindow

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from .options import Options

Span = tuple[int, int, int, int]
now = time.perf_counter_ns
_NOBODY = -1
#: Steps that are timed before the deep window where the run goes on to its end.
DEFAULT_TIMED_STEPS = 40


class StopTraining(SystemExit):
    """Ends the script once enough steps were recorded: a `SystemExit` with code 0, so that clean-up code runs."""


class Recorder:
    """Records the training thread of this process.

    Attributes:
        thread: ident of the training thread; None until the first hook was reached, -1 when switched off.
        native_thread: its id in the operating system.
        inside: a forward or backward span is open, so inner module calls are not spans of their own.
        in_collective: a collective's span is open, so what it calls in its turn is none of its own.
        spans: queue of ``(code, start_ns, end_ns, argument)``, emptied by the background thread.
        parallel: the models under data parallelism.
        wrappers: code of the functions that the hooks put around torch's, for TorchDynamo to skip.
        skip_code: how it is told of one, once it is there.
        folder: where this rank writes, once claimed.
        clock: times stages on a GPU.
        fetches: batches fetched in the step so far.
        fetching: number of the loader that the training thread asked last.
        failed: the agent switched itself off after a fault of its own.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.thread: int | None = None
        self.native_thread = 0
        self.inside = False
        self.in_collective = False
        self.spans: collections.deque[Span] = collections.deque()
        self.folder: RankFolder | None = None
        self.loading = Loading(self)
        self.clock = DeviceClock(self)
        self.device_memory = DeviceMemory(self)
        self.holdings = Holdings(self)
        timed = options.warmup + (options.steps or DEFAULT_TIMED_STEPS)
        self.window = TraceWindow(first=timed, steps=options.traced_steps)
        self.flops = FlopCount(options.flops_after(timed))
        self.wrappers: list[CodeType] = []
        self.skip_code: Callable[[CodeType], None] | None = None
        self.parallel: list[weakref.ref[Any]] = []
        self.model_facts = ModelFacts(self)
        self.batch_facts = BatchFacts(self)
        self.graph_size = GraphSize(self)
        self.kept_graphs = KeptGraphs()
        self.steps = 0
        self.traced = False
        self.stop_at = None if options.steps is None else timed + options.deep_steps
        self._numbers: dict[tuple[str, int], tuple[weakref.ref[Any], int]] = {}
        self._background: Background | None = None
        self._descriptions: dict[str, int] = {}
        self._told: set[str] = set()
        self._step_start: int | None = None
        self.fetches = 0
        self.fetching = 0
        self._updated: set[int] = set()
        self._last_update_ns = 0
        self._losses = Losses()
        self.failed = False

    # -- admission -------------------------------------------------------------------------------------------

    def admits(self) -> bool:
        """Whether the calling thread is the one to record: the slow path, when ``thread`` is not this thread."""
        if self.thread is not None:
            if self.failed:
                self.window.abandon()
                self.flops.abandon()
            return False
        try:
            return self._claim()
        except Exception as error:
            self.fail(error)
            return False

    def _claim(self) -> bool:
        if process.loader_worker_id() is not None:
            self.thread = _NOBODY
            return False
        self.folder = RankFolder.claim(self.options.run_dir)
        self.thread, self.native_thread = threading.get_ident(), threading.get_native_id()
        self.folder.fact("process", **process.describe())
        self.folder.fact("environment", **environment.describe())
        self.folder.fact("span_cost", seconds=span_cost_s())
        self._background = Background(self, self.folder)
        self._background.start()
        return True

    def rebind(self) -> bool:
        """Record the calling thread instead, if the one recorded so far never updated anything."""
        if self.folder is None or self.thread == _NOBODY or self.steps or self._updated:
            return False
        self.thread, self.native_thread = threading.get_ident(), threading.get_native_id()
        return True

    def forget_parent(self) -> None:
        """After a fork: the child starts anew and claims a folder of its own if it trains."""
        self.flops.abandon()
        if self.thread == _NOBODY:
            return
        self.clock.leave_to_parent()
        self.rearm(self.options)

    def rearm(self, options: Options) -> None:
        """Begin anew with the hooks that are in place: nothing of what was recorded before is known any more."""
        self.spans.clear()
        spans, wrappers, skip_code = self.spans, self.wrappers, self.skip_code
        self.__init__(options)
        self.spans, self.wrappers, self.skip_code = spans, wrappers, skip_code

    def fail(self, error: BaseException) -> None:
        """Switch the agent off after a fault of its own."""
        self.thread = _NOBODY
        self.failed = True
        try:
            if self.folder is not None:
                self.folder.fault(error)
            else:
                sign_in(self.options.run_dir, torch=True, fault=error)
        except Exception:
            return

    def switch_off(self) -> None:
        """Record nothing more in this process."""
        self.thread = _NOBODY

    @property
    def is_on(self) -> bool:
        """Whether anything is still recorded."""
        return self.thread != _NOBODY

    # -- what the hooks tell -----------------------------------------------------------------------------------

    def number(self, thing: object, fact: str, describe: Callable[[Any], dict[str, Any]]) -> int:
        """A small number for a loader, optimizer or model; its first sight is written down as a fact.

        A thing made anew with the same description (a loader built in each epoch) keeps its number. A model may be told
        of more than once, under several facts.
        """
        known = self._numbers.get((fact, id(thing)))
        if known is not None and known[0]() is thing:
            return known[1]
        try:
            description = describe(thing)
        except Exception as error:
            description = {"type": type(thing).__name__, "undescribed": repr(error)}
        key = f"{fact} {description}"
        number = self._descriptions.setdefault(key, len(self._descriptions) + 1)
        self._numbers[fact, id(thing)] = (weakref.ref(thing), number)
        if number == len(self._descriptions) and self.folder is not None and key not in self._told:
            self._told.add(key)
            self.folder.fact(fact, number=number, **description)
        return number

    def skip_in_dynamo(self, wrapper: Any) -> None:
        """Remember a wrapper's code for TorchDynamo to leave alone."""
        unseen(wrapper)
        self.wrappers.append(wrapper.__code__)
        if self.skip_code is not None:
            self.skip_code(wrapper.__code__)

    def parallel_model(self, model: Any, describe: Callable[[Any], dict[str, Any]]) -> None:
        """A model was put under data parallelism."""
        self.parallel.append(weakref.ref(model))
        self.distributed_model(model, "parallel", describe)

    def distributed_model(self, model: Any, fact: str, describe: Callable[[Any], dict[str, Any]]) -> None:
        """A model was spread over ranks: its settings are told under ``fact``."""
        try:
            if self.thread == threading.get_ident() or self.admits():
                self.number(model, fact, describe)
        except Exception as error:
            self.fail(error)

    def gradients_are_synchronised(self) -> bool:
        """Whether a backward that starts now averages gradients over the ranks (false within ``no_sync``)."""
        models = [model for reference in self.parallel if (model := reference()) is not None]
        return any(getattr(model, "require_backward_grad_sync", True) for model in models)

    def saw_call(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """One of the first forward calls in training: look at model and inputs."""
        try:
            self.model_facts.saw(model, args, kwargs)
        except Exception as error:
            self.fail(error)

    def saw_batch(self, batch: Any, loader: int) -> None:
        """One of the first batches: look at its size."""
        try:
            self.batch_facts.saw(batch, loader)
        except Exception as error:
            self.fail(error)

    def script_failed(self, error: BaseException) -> None:
        """The script ends with an exception that nobody caught."""
        try:
            if self.folder is None:
                if self.options.record:
                    first_failure.tell(self.options.run_dir, error)
            elif self.thread == threading.get_ident():
                self.folder.fact("uncaught", **describe_error(error))
        except Exception as fault:
            self.fail(fault)

    def note(self, text: str) -> None:
        """Tell the report's reader something."""
        if self.folder is not None:
            self.folder.fact("note", text=text)

    def loading_begins(self, start_ns: int) -> None:
        """An iterator over batches is made or a batch asked for: the step before, if it updated anything, is over."""
        if self._step_start is None:
            self._step_start = start_ns
        elif self._updated:
            self._cut(start_ns)

    def update_begins(self, optimizer: int, start_ns: int) -> None:
        """An optimizer steps: if it did so already since the last cut, a step ended at the last update."""
        if self._step_start is None:
            self._step_start = start_ns
        elif optimizer in self._updated:
            self._cut(self._last_update_ns)

    def update_ends(self, optimizer: int, end_ns: int) -> None:
        """An optimizer has stepped."""
        self._updated.add(optimizer)
        self._last_update_ns = end_ns

    def work_begins(self, start_ns: int) -> None:
        """A forward or backward begins: the first step begins with it if nothing was fetched before."""
        if self._step_start is None:
            self._step_start = start_ns

    def _cut(self, at_ns: int) -> None:
        start = self._step_start
        assert start is not None
        self.spans.append((STEP_TRACED if self.traced else STEP, start, at_ns, self.fetches))
        self.spans.append((PROCESS_CPU, at_ns, at_ns, time.process_time_ns()))
        self._step_start, self.fetches = at_ns, 0
        self._updated.clear()
        self.steps += 1
        try:
            if self.steps >= self.window.first:
                self._look_deeper()
            if self.clock.may_start:
                self.clock.at_step(counts=not self.traced)
        except Exception as error:
            self.fail(error)
        if self.stop_at is not None and self.steps >= self.stop_at and self.is_on:
            self._stop()

    def _look_deeper(self) -> None:
        windowed = self.window.at_step(self, self.steps)
        if self.flops.at_step(self, self.steps) or windowed:
            self._step_start = now()

    def _stop(self) -> None:
        try:
            self.finish("stopped")
            self.switch_off()
        except Exception as error:
            self.fail(error)
        if self.options.end_script:
            raise StopTraining(0)

    def note_loss(self, tensors: Any) -> None:
        """Keep a copy of what a backward starts from; a fault switches the agent off."""
        try:
            self._losses.add(self.steps, tensors)
        except Exception as error:
            self.fail(error)

    def finish(self, reason: str) -> None:
        """Write down that recording ended in good order."""
        self.flops.abandon()
        self.clock.close()
        self.window.close(self)
        if self.folder is not None:
            if self.options.losses:
                self.folder.fact("losses", values=self._losses.values())
            if self._background is not None:
                self._background.tell_cost()
            self.loading.last_words()
            self.folder.fact("end", reason=reason, steps=self.steps)
            self.folder.write_spans(self.spans)
            self.folder.write_device(self.clock.records)


def drain_quietly(recorder: Recorder) -> None:
    """Last words at exit: whatever is queued goes to disk, a fault is swallowed."""
    try:
        if recorder.is_on and recorder.folder is not None:
            recorder.finish("exit")
            recorder.switch_off()
    except Exception as error:
        recorder.fail(error)

"""Counts the floating-point operations of one step, after the deep window, with torch's own formulas, and what crosses
between host and device in it.

A dispatch mode looks at each operator on its way and passes it on unchanged, so results stay as they are. It stays away
where it would change what runs: compiled models (a mode makes them run uncompiled) and modes of the script's own.
Whatever goes wrong is noted and the training goes on.
"""

from __future__ import annotations

import sys
from threading import get_ident
from typing import TYPE_CHECKING, Any

from .crossings import Crossings

if TYPE_CHECKING:
    from .recorder import Recorder

MAX_OPERATORS = 32


class FlopCount:
    """Counts in the step after ``first`` steps are over; ``first`` None counts nothing."""

    def __init__(self, first: int | None) -> None:
        self._first = first
        self._mode: Any = None
        self._thread = 0

    def at_step(self, recorder: Recorder, done: int) -> bool:
        """Called after each step with the number of steps that are over; tells whether counting began or ended."""
        if self._first is None or done < self._first:
            return False
        try:
            if self._mode is not None:
                return self._end(recorder, done)
            return done == self._first and self._begin(recorder)
        except Exception as error:
            _tell(recorder, reason=f"counting operations failed: {error!r}")
            self.abandon()
            self._first = None
            return False

    def _begin(self, recorder: Recorder) -> bool:
        reason = _why_not()
        if reason is not None:
            _tell(recorder, reason=reason)
            return False
        self._mode, self._thread = _make_mode(), get_ident()
        self._mode.__enter__()
        recorder.traced = True
        return True

    def _end(self, recorder: Recorder, done: int) -> bool:
        """Stop counting; a mode that the script has entered since and not left has to go first."""
        mode = self._mode
        mode.is_counting = False
        if not self._leave():
            return False
        recorder.traced = False
        if mode.fault is not None:
            _tell(recorder, reason=f"counting operations failed: {mode.fault!r}")
        else:
            largest = sorted(mode.by_operator.items(), key=lambda item: -item[1])[:MAX_OPERATORS]
            _tell(recorder, flops=sum(mode.by_operator.values()), by_operator=dict(largest), step=done)
            if mode.crossings_fault is None:
                _tell_crossings(recorder, mode.crossings)
            else:
                recorder.note(f"copies between host and device were not counted: {mode.crossings_fault!r}")
        return True

    def _leave(self) -> bool:
        """Take the mode off this thread's stack, if it lies on top."""
        mode, top = self._mode, sys.modules["torch.utils._python_dispatch"]._get_current_dispatch_mode()
        if mode is None or top is not mode or self._thread != get_ident():
            return False
        self._mode = None
        mode.__exit__(None, None, None)
        return True

    def abandon(self) -> None:
        """After a fault, or in a child: count no more, and leave the mode if this thread entered it."""
        mode = self._mode
        if mode is None:
            return
        mode.is_counting = False
        try:
            self._leave()
        except Exception:
            return


def _tell(recorder: Recorder, **values: Any) -> None:
    if recorder.folder is not None:
        recorder.folder.fact("flops", **values)


def _tell_crossings(recorder: Recorder, crossings: Crossings) -> None:
    calls = crossings.calls()
    if recorder.folder is not None and calls:
        recorder.folder.fact("crossings", calls=calls)


def _why_not() -> str | None:
    """Why operations are not to be counted here; None if nothing speaks against it."""
    torch = sys.modules["torch"]
    dynamo = sys.modules.get("torch._dynamo.utils")
    if dynamo is not None and dynamo.counters.get("frames"):
        return "the script uses torch.compile, which counting operations would switch off for a step"
    if torch._C._len_torch_dispatch_stack():
        return "a dispatch mode of the script's own is active"
    return None


def _make_mode() -> Any:
    """A dispatch mode that adds up operations by operator."""
    from torch.utils._python_dispatch import TorchDispatchMode

    formulas = _formulas()

    class Counter(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.is_counting = True
            self.fault: Exception | None = None
            self.by_operator: dict[str, int] = {}
            self.crossings = Crossings()
            self.crossings_fault: Exception | None = None

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            out = func(*args, **kwargs)
            if self.is_counting:
                try:
                    self._count(func, args, kwargs, out)
                except Exception as error:
                    self.is_counting, self.fault = False, error
            if self.is_counting and self.crossings_fault is None:
                try:
                    self.crossings.saw(func, args, kwargs, out)
                except Exception as error:
                    self.crossings_fault = error
            return out

        def _count(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
            operator = getattr(func, "_overloadpacket", func)
            formula = formulas.get(operator)
            if formula is not None:
                name = str(operator)
                count = int(formula(*args, **kwargs, out_val=out))
                self.by_operator[name] = self.by_operator.get(name, 0) + count

    return Counter()


def _formulas() -> dict[Any, Any]:
    """The formulas of torch, and those of attention on a CPU, which torch has left out of its table."""
    import torch
    from torch.utils import flop_counter

    formulas: dict[Any, Any] = dict(flop_counter.flop_registry)

    def forward(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
        return flop_counter.sdpa_flop_count(query.shape, key.shape, value.shape)

    def backward(grad: Any, query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
        return flop_counter.sdpa_backward_flop_count(grad.shape, query.shape, key.shape, value.shape)

    for suffix, formula in (("", forward), ("_backward", backward)):
        operator = getattr(torch.ops.aten, f"_scaled_dot_product_flash_attention_for_cpu{suffix}", None)
        if operator is not None:
            formulas.setdefault(operator, formula)
    return formulas

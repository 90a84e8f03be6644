"""Times the transforms of a data set: the members of its ``Compose``-like pipelines, or single transform objects.

It wraps the classes' calls, never the user's objects, so that nothing which is pickled or compared changes. Plain
functions cannot be told apart that way; the sampled stacks name them.
"""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass
from functools import wraps
from time import perf_counter_ns as now
from time import thread_time_ns
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .rank_folder import WorkerFolder

MAX_DEPTH = 4
MAX_TRANSFORMS = 64


@dataclass
class _Total:
    """What the calls of one transform have taken; ``is_running`` in one, for a call in it to count no second time."""

    transform: Any
    name: str
    place: tuple[str | None, int | None]
    calls: int = 0
    wall_ns: int = 0
    cpu_ns: int = 0
    is_running: bool = False


_totals: dict[int, _Total] = {}
_wrapped: set[type] = set()


def watch(dataset: Any) -> None:
    """Start timing the transforms found in a data set, but for those that only hand on to others of them."""
    found = list(_find(dataset, MAX_DEPTH))
    for transform in _without_wrappers(found):
        if len(_totals) >= MAX_TRANSFORMS:
            return
        kind = type(transform)
        if id(transform) not in _totals and _wrap(kind):
            _totals[id(transform)] = _Total(transform, kind.__qualname__, _place(kind))


def tell(folder: WorkerFolder) -> None:
    """Write down the totals so far."""
    for number, total in enumerate(list(_totals.values())):
        if total.calls:
            file, line = total.place
            folder.fact(
                "transform", pid=os.getpid(), number=number, name=total.name, file=file, line=line,
                calls=total.calls, wall_ns=total.wall_ns, cpu_ns=total.cpu_ns,
            )  # fmt: skip


def _find(thing: Any, depth: int) -> Iterator[Any]:
    if depth == 0:
        return
    for inner in _inner_datasets(thing):
        yield from _find(inner, depth - 1)
    yield from _held(thing, depth)


def _without_wrappers(found: list[Any]) -> Iterator[Any]:
    """Leave out what holds transforms that are all found beside it, as torchvision's ``StandardTransform`` does.

    Timed as well, it would count their seconds again and come out as the slowest.
    """
    known = {id(transform) for transform in found}
    for transform in found:
        held = {id(inner) for inner in _held(transform, MAX_DEPTH)}
        if not held or not held <= known - {id(transform)}:
            yield transform


def _held(thing: Any, depth: int) -> Iterator[Any]:
    """What lies in the attributes of a data set or of a transform that are called after transforms."""
    for name, value in list(getattr(thing, "__dict__", {}).items()):
        if "transform" in name.lower() or "augment" in name.lower():
            yield from _members(value, depth - 1)


def _inner_datasets(thing: Any) -> Iterator[Any]:
    inner = getattr(thing, "dataset", None)
    if inner is not None:
        yield inner
    several = getattr(thing, "datasets", None)
    if isinstance(several, (list, tuple)):
        yield from several


def _members(transform: Any, depth: int) -> Iterator[Any]:
    """The members of a pipeline, or the transform itself where it has none."""
    members = getattr(transform, "transforms", None)
    if isinstance(members, (list, tuple)) and depth > 0:
        for member in members:
            yield from _members(member, depth - 1)
    elif isinstance(transform, (list, tuple)):
        for member in transform:
            yield member
    elif callable(transform) and not isinstance(transform, type):
        yield transform


def _wrap(kind: type) -> bool:
    """Time the calls of a class's instances; False where its call is not one of Python code."""
    if kind in _wrapped:
        return True
    name = _method(kind)
    original = getattr(kind, name)
    if not hasattr(original, "__code__") or kind.__module__.startswith("torch.nn"):
        return False

    @wraps(original)
    def timed(self: Any, *args: Any, **kwargs: Any) -> Any:
        total = _totals.get(id(self))
        if total is None or total.is_running:
            return original(self, *args, **kwargs)
        total.is_running = True
        start, cpu = now(), thread_time_ns()
        try:
            return original(self, *args, **kwargs)
        finally:
            total.is_running = False
            total.calls += 1
            total.wall_ns += now() - start
            total.cpu_ns += thread_time_ns() - cpu

    setattr(kind, name, timed)
    _wrapped.add(kind)
    return True


def _method(kind: type) -> str:
    """What a call of the instance runs: a module's ``forward``, else ``__call__``."""
    return "forward" if hasattr(kind, "forward") and hasattr(kind, "named_parameters") else "__call__"


def _place(kind: type) -> tuple[str | None, int | None]:
    code = getattr(inspect.unwrap(getattr(kind, _method(kind))), "__code__", None)
    return (None, None) if code is None else (code.co_filename, code.co_firstlineno)

"""Counts once what training keeps in memory for good: parameters, gradients and optimizer state, exactly, by device.

It looks at an optimizer right after its second update, when gradients are still there and its state is complete. What
the peak of the memory has beyond these are activations and workspace.
"""

from __future__ import annotations

import collections
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .recorder import Recorder

#: The update after which an optimizer is looked at.
LOOK_AT = 2
WATCHED_UPDATES = 32
MAX_PARTS = 100_000


class Holdings:
    """Looks at each optimizer once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._updates: collections.Counter[int] = collections.Counter()
        self.is_watching = True

    def saw(self, optimizer: Any, number: int) -> None:
        """The optimizer with this number has made an update."""
        self._updates[number] += 1
        self.is_watching = sum(self._updates.values()) < WATCHED_UPDATES
        if self._updates[number] != LOOK_AT or self._recorder.folder is None:
            return
        try:
            for device, sizes in held_bytes(optimizer).items():
                self._recorder.folder.fact("holdings", optimizer=number, device=device, **sizes)
        except Exception as error:
            self._recorder.note(f"what the optimizer holds in memory was not counted: {error!r}")


def held_bytes(optimizer: Any) -> dict[str, dict[str, int]]:
    """Bytes of ``parameters``, ``gradients``, ``optimizer_state`` by type of device; of a sharded tensor the shard."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    gradients = [parameter.grad for parameter in parameters]
    found: dict[str, dict[str, int]] = {}
    for name, tensors in (
        ("parameters", parameters),
        ("gradients", gradients),
        ("optimizer_state", _tensors_in(optimizer.state.values())),
    ):
        for tensor in _each_once(tensors):
            sizes = found.setdefault(
                tensor.device.type, {"parameters": 0, "gradients": 0, "optimizer_state": 0}
            )
            sizes[name] += int(tensor.numel() * tensor.element_size())
    return found


def _each_once(tensors: Iterable[Any]) -> Iterator[Any]:
    seen: set[int] = set()
    for tensor in tensors:
        if tensor is not None and id(tensor) not in seen:
            seen.add(id(tensor))
            yield getattr(tensor, "_local_tensor", tensor)


def _tensors_in(state: Iterable[Any]) -> list[Any]:
    """The tensors of nested dicts, lists and tuples."""
    tensor = sys.modules["torch"].Tensor
    found: list[Any] = []
    waiting = collections.deque(state)
    for _ in range(MAX_PARTS):
        if not waiting:
            break
        part = waiting.popleft()
        if isinstance(part, tensor):
            found.append(part)
        elif isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
    return found

"""Facts on the first batches of each loader: how large they are."""

from __future__ import annotations

import collections
import itertools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recorder import Recorder

WATCHED_BATCHES = 8
MAX_PARTS = 512


class BatchFacts:
    """Looks at batches as they come from a loader.

    Attributes:
        is_watching: batches still need to be shown to `saw`.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._batches = 0
        self.is_watching = True

    def saw(self, batch: Any, loader: int) -> None:
        """A batch has come; ``loader`` is its loader's number."""
        self._batches += 1
        self.is_watching = self._batches < WATCHED_BATCHES
        tensors = [tensor for tensor in tensors_in(batch) if tensor.device.type == "cpu"]
        if self._recorder.folder is not None and tensors:
            self._recorder.folder.fact("batch", loader=loader, **_sizes(tensors))


def _sizes(tensors: list[Any]) -> dict[str, int]:
    return {
        "bytes": sum(int(tensor.numel() * tensor.element_size()) for tensor in tensors),
        "tensors": len(tensors),
    }


def tensors_in(batch: Any) -> list[Any]:
    """The plain tensors of nested lists, tuples and dicts, as far as `MAX_PARTS` parts; nothing else is touched."""
    tensor = sys.modules["torch"].Tensor
    found: list[Any] = []
    waiting = collections.deque([batch])
    for _ in range(MAX_PARTS):
        if not waiting:
            break
        part = waiting.popleft()
        if type(part) is tensor:
            found.append(part)
        elif isinstance(part, (dict, collections.UserDict)):
            waiting.extend(itertools.islice(part.values(), MAX_PARTS))
        elif isinstance(part, (list, tuple)):
            waiting.extend(part[:MAX_PARTS])
    return found

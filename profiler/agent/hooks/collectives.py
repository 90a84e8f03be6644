"""``torch.distributed`` collectives that the script calls itself: communication spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..format import COMMUNICATION
from ..timing import timed

if TYPE_CHECKING:
    from types import ModuleType

    from ..recorder import Recorder

MODULE = "torch.distributed.distributed_c10d"
NAMES = (
    "all_reduce", "all_gather", "all_gather_into_tensor", "all_gather_object", "all_to_all", "all_to_all_single",
    "barrier", "broadcast", "broadcast_object_list", "gather", "reduce", "reduce_scatter", "reduce_scatter_tensor",
    "scatter", "send", "recv",
)  # fmt: skip


def install(module: ModuleType, recorder: Recorder) -> None:
    """Wrap every collective that this torch has; ``torch.distributed`` takes its names from here afterwards."""
    for name in NAMES:
        original = getattr(module, name, None)
        if original is not None:
            setattr(module, name, timed(original, recorder, COMMUNICATION, largest_bytes))


def largest_bytes(args: tuple[Any, ...]) -> int:
    """Size of the largest tensor among a call's positional arguments; 0 where none tells."""
    try:
        return max(
            (size for value in args if isinstance(size := getattr(value, "nbytes", 0), int)), default=0
        )
    except Exception:  # a sparse tensor has no size of its own
        return 0

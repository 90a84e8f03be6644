"""``torch.save``: checkpoint spans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..format import CHECKPOINT
from ..timing import timed

if TYPE_CHECKING:
    from ..recorder import Recorder

MODULE = "torch.serialization"


def install(module: Any, recorder: Recorder) -> None:
    """Wrap ``torch.save``; saving before the first step claims no rank folder."""
    module.save = timed(module.save, recorder, CHECKPOINT)

"""TorchDynamo: it is told to leave the frames of our wrappers alone, so that they cause no graph of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..device_clock import CODES

if TYPE_CHECKING:
    from types import ModuleType

    from ..recorder import Recorder

MODULE = "torch._dynamo.eval_frame"


def install(module: ModuleType, recorder: Recorder) -> None:
    """Skip the wrappers' code; what they call is compiled as before."""
    skip = getattr(module, "skip_code", None)
    if skip is not None:
        recorder.skip_code = skip
        for code in (*recorder.wrappers, *CODES):
            skip(code)

"""The import of torch itself: this process may train."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sign_in import sign_in

if TYPE_CHECKING:
    from types import ModuleType

    from ..recorder import Recorder

MODULE = "torch.nn"


def install(module: ModuleType, recorder: Recorder) -> None:
    """Renew this process's card."""
    sign_in(recorder.options.run_dir, torch=True)

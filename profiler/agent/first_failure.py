"""What a parent knows of its ranks: ``torch.multiprocessing.spawn`` sees which of them failed first, and ends the rest.

It does so within a millisecond, and asks for each one's fate itself: from outside, the order of these ends and the
signal cannot always be told.
"""

from __future__ import annotations

import json
import os

from . import clock
from .format import FIRST_FAILURE_FILE


def tell(run_dir: str, error: BaseException) -> None:
    """Note the process that ``torch.multiprocessing.ProcessExitedException`` blames; other errors blame none."""
    pid, code = getattr(error, "error_pid", None), getattr(error, "exit_code", None)
    if not isinstance(pid, int) or not isinstance(code, int):
        return
    fact = {"pid": pid, "clock": clock.identity(), "signal": -code if code < 0 else None}
    with open(os.path.join(run_dir, FIRST_FAILURE_FILE), "w", encoding="utf-8") as file:
        json.dump(fact, file)

"""The agent's options, handed from the launcher to every process through one environment variable."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

from .format import OPTIONS_VARIABLE


@dataclass(frozen=True)
class Options:
    """What to record and when to stop.

    ``steps`` None records until the script ends. ``traced_steps`` 0 leaves out the ``torch.profiler`` window.
    """

    run_dir: str
    steps: int | None = 40
    warmup: int = 5
    traced_steps: int = 3
    sample_interval_s: float = 0.01

    def to_environment(self) -> str:
        """The text for the environment variable."""
        return json.dumps(asdict(self))


def options_from_environment() -> Options | None:
    """Read the environment variable; None where this process is not to be recorded."""
    text = os.environ.get(OPTIONS_VARIABLE)
    return Options(**json.loads(text)) if text else None

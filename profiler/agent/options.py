"""The agent's options, handed from the launcher to every process through one environment variable."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field

from .format import OPTIONS_VARIABLE


@dataclass(frozen=True)
class Options:
    """What to record, when to stop, and what to change.

    ``steps`` None records until the script ends. ``traced_steps`` 0 leaves out the ``torch.profiler`` window.
    ``knobs`` are changes by name, put on also where ``record`` is false and nothing else is done. ``losses`` notes the
    value that each backward starts from. ``die_with_parent`` ends the process when the one that started it dies.
    ``end_script`` false lets the script go on once enough was recorded.
    """

    run_dir: str
    steps: int | None = 40
    warmup: int = 5
    traced_steps: int = 3
    sample_interval_s: float = 0.01
    record: bool = True
    knobs: dict[str, str] = field(default_factory=dict[str, str])
    losses: bool = False
    die_with_parent: bool = False
    end_script: bool = True

    @property
    def deep_steps(self) -> int:
        """Steps after the timed ones: those of the window, and one whose operations are counted."""
        return self.traced_steps + 1 if self.traced_steps else 0

    def flops_after(self, timed: int) -> int | None:
        """After how many steps operations are counted for a step; None where there is no deep window."""
        return timed + self.traced_steps if self.traced_steps else None

    def to_environment(self) -> str:
        """The text for the environment variable."""
        return json.dumps(asdict(self))


def options_from_environment() -> Options | None:
    """Read the environment variable; None where this process is not to be recorded."""
    text = os.environ.get(OPTIONS_VARIABLE)
    return Options(**json.loads(text)) if text else None

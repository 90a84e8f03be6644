"""What the machine does while a run goes on: its devices (NVML) and its host, read from beside the run.

Everything here runs in the launcher's process, never in the training. Each source stands behind the `Source` interface
and has a replaying double, so that what is built on it is tested without the hardware. A source that is absent says
why.
"""

from __future__ import annotations

from .sampling import TELEMETRY_FILE, telemetry_of
from .source import ReplayedSource, Source

__all__ = ["TELEMETRY_FILE", "ReplayedSource", "Source", "telemetry_of"]

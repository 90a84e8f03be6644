"""The one live line on stderr while a run is recorded; silent where stderr is no terminal."""

from __future__ import annotations

import sys
from types import TracebackType

from ...profiler.launch import Limits
from ...profiler.progress import Progress
from ...profiler.store import RunFolder

REFRESH_S = 0.5


class LiveLine:
    """Shows where recording stands, rewriting its own line."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._tty = sys.stderr.isatty()
        self._shown_at = -REFRESH_S

    def __enter__(self) -> LiveLine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._tty:
            sys.stderr.write("\r\x1b[2K")

    def started(self, run: RunFolder) -> None:
        """Say where the recording goes."""
        sys.stderr.write(f"trainrx: recording to {run.path}\n")

    def show(self, progress: Progress) -> None:
        """Renew the line, at most twice a second."""
        if not self._tty or progress.seconds - self._shown_at < REFRESH_S:
            return
        self._shown_at = progress.seconds
        sys.stderr.write(f"\r\x1b[2Ktrainrx: {describe(progress, self._limits)}")
        sys.stderr.flush()


def describe(progress: Progress, limits: Limits) -> str:
    """The text of the line."""
    if progress.ended is not None:
        return f"{progress.steps} steps recorded, waiting for the script to end"
    if not progress.steps:
        return f"{progress.seconds:.0f} s, no step yet"
    deep = limits.traced_steps + 1 if limits.traced_steps else 0
    total = None if limits.steps is None else limits.warmup + limits.steps + deep
    count = f"step {progress.steps}" + (f" of {total}" if total is not None else "")
    return f"{count}, {progress.last_step_s * 1e3:.1f} ms each, {progress.seconds:.0f} s"

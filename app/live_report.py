"""Keeps ``report.json`` of a run going on current to a few seconds, at the machine's lowest priority.

Analysing runs in one process of its own, started when first needed, so that neither launcher nor training waits for
it. It is asked only when new steps were written, and the less often the longer its last answer took.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from ..profiler.errors import TrainrxError
from ..profiler.progress import Progress
from ..profiler.store import RunFolder

INTERVAL_S = 5.0
#: Analysing may take this share of one core: after an answer that took a second it rests for 20.
BUDGET = 0.05
#: After so long without a step one more report is asked for: it says where a run stands that hangs.
STALL_S = 30.0
NICENESS = 19
CLOSE_S = 10.0


class LiveReport:
    """Asks for a new report now and then; for a run with an end in sight it does nothing."""

    def __init__(self, run: RunFolder, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._run = run
        self._clock = clock
        self._process: subprocess.Popen[bytes] | None = None
        self._steps = 0
        self._stall_at: float | None = None
        self._asked_at: float | None = None
        self._may_ask_at = 0.0
        self._is_over = False

    def __enter__(self) -> LiveReport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def update(self, progress: Progress) -> None:
        """Ask for a report if there is something new to tell and it is time; never waits."""
        moment = self._clock()
        if self._asked_at is not None:
            self._hear(moment)
        elif not self._is_over and moment >= self._may_ask_at and self._is_news(progress, moment):
            self._steps = progress.steps
            self._ask(moment)

    def _is_news(self, progress: Progress, moment: float) -> bool:
        """New steps; or, once, that there have been none for long."""
        if progress.steps > self._steps:
            self._stall_at = moment + STALL_S
            return True
        if self._stall_at is None or moment < self._stall_at:
            return False
        self._stall_at = None
        return True

    def close(self) -> None:
        """End the process, so that it writes nothing after the final report."""
        process, self._process, self._is_over = self._process, None, True
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        process.terminate()
        try:
            process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _ask(self, moment: float) -> None:
        if self._process is None:
            command = [sys.executable, "-m", __name__, str(self._run.path)]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            assert self._process.stdout is not None
            os.set_blocking(self._process.stdout.fileno(), False)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
            self._asked_at = moment
        except OSError:
            self._is_over = True

    def _hear(self, moment: float) -> None:
        """Note that an answer came, and how much CPU time it took."""
        assert self._process is not None and self._process.stdout is not None
        answer = self._process.stdout.read(4096)
        if answer:
            self._asked_at = None
            self._may_ask_at = moment + max(INTERVAL_S, _seconds(answer) / BUDGET)
        elif self._process.poll() is not None:
            self._asked_at, self._is_over = None, True


def _seconds(answer: bytes) -> float:
    try:
        return float(answer.split()[-1])
    except (ValueError, IndexError):
        return INTERVAL_S


def serve(run: RunFolder, requests: IO[bytes], answers: IO[bytes]) -> None:
    """Write a report at each line of ``requests``, and answer with the CPU seconds it took."""
    from .analysing import store_analysis

    for _ in requests:
        before = time.process_time()
        with suppress(TrainrxError, OSError):
            store_analysis(run)
        answers.write(f"{time.process_time() - before:.3f}\n".encode())
        answers.flush()


if __name__ == "__main__":
    os.nice(NICENESS)
    serve(RunFolder(Path(sys.argv[1])), sys.stdin.buffer, sys.stdout.buffer)

"""Records a command for the terminal: live line, verdict, exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from ..profiler.errors import UsageError
from ..profiler.launch import Limits, python_command, record
from ..profiler.progress import Progress
from ..profiler.report import Report
from ..profiler.store import RunFolder
from ..profiler.vocabulary import RunStatus
from .live_report import LiveReport
from .terminal.live import LiveLine

EXIT_FAILED = 1
EXIT_NO_EVIDENCE = 4


def record_and_report(
    command: Sequence[str], *, runs_dir: Path, limits: Limits, as_json: bool, native_stacks: bool = False
) -> int:
    """Record, analyse, store and print; returns the exit code for the shell.

    ``command`` is a script with its arguments, ``-m module …``, or ``-- program …``; ``native_stacks`` as in `record`.
    """
    program = list(command[1:]) if command[0] == "--" else python_command(command)
    with ExitStack() as stack:
        live = stack.enter_context(LiveLine(limits))
        listeners: list[Callable[[Progress], None]] = [live.show]

        def started(run: RunFolder) -> None:
            live.started(run)
            if limits.steps is None:
                listeners.append(stack.enter_context(LiveReport(run)).update)

        def tell(progress: Progress) -> None:
            for listener in listeners:
                listener(progress)

        run = record(
            program,
            runs_dir=runs_dir,
            limits=limits,
            native_stacks=native_stacks,
            stdout=sys.stderr if as_json else None,
            on_start=started,
            on_progress=tell,
        )
    report = _analyse_and_store(run)
    if as_json:
        sys.stdout.write(report.to_json() + "\n")
    else:
        from .terminal.report import print_report

        print_report(report, run.path, stderr=True)
    return exit_code(report)


def _analyse_and_store(run: RunFolder) -> Report:
    """The report, stored if the disk takes it: a verdict that cannot be kept is still told."""
    from .analysing import advised, keep  # not before the training is over: 40 MB

    analysis = advised(run)
    try:
        keep(run, analysis)
    except UsageError as error:
        sys.stderr.write(f"trainrx: {error}\n")
    return analysis.report


def exit_code(report: Report) -> int:
    """1 if the recorded command failed, 4 if it showed no step, else 0."""
    if report.run.status is RunStatus.FAILED or (
        report.run.status is RunStatus.INTERRUPTED and report.step_time is None
    ):
        return EXIT_FAILED
    return 0 if report.step_time is not None else EXIT_NO_EVIDENCE

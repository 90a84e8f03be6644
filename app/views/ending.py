"""How a run ended, in words: the one place for terminal and dashboard."""

from __future__ import annotations

from ...profiler.exit_code import how_it_failed
from ...profiler.vocabulary import RunStatus

_ENDINGS = {
    RunStatus.RECORDING: "being recorded now",
    RunStatus.FINISHED: "the script ran to its end",
    RunStatus.STOPPED: "stopped once enough was recorded (--full lets the script run to its end)",
    RunStatus.FAILED: "the script failed",
    RunStatus.INTERRUPTED: "interrupted by hand",
    RunStatus.LOST: "the recorder was killed before it could finish; what was written is shown",
    RunStatus.IMPORTED: "imported from a trace",
    RunStatus.ATTACHED: "sampled from outside while it ran",
}


#: The source of a report that was recorded elsewhere and comes with trainrx.
SAMPLE = "sample"


def ending(status: RunStatus, exit_code: int | None, *, source: str = "") -> str:
    """Where a run stands or how it ended, and with what a script that failed; ``source`` is its report's."""
    words = (
        f"{_ENDINGS[status]}; an example that comes with trainrx" if source == SAMPLE else _ENDINGS[status]
    )
    if status is RunStatus.FAILED and exit_code:
        return f"the script {how_it_failed(exit_code)}"
    return words

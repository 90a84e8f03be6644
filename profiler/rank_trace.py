"""Where the trace of each rank of a run lies, and opens it: one place for whoever replays or exports it."""

from __future__ import annotations

from pathlib import Path

from .agent.format import TRACE_FILE
from .ingest.column_store import read_columns
from .ingest.columns import Trace
from .ingest.sniff import open_timeline

#: The folder of a rank that holds the columns of an imported trace.
COLUMNS_FOLDER = "trace"


def kept_traces(run_dir: Path) -> dict[int, Path]:
    """The traces in a run's folder by rank: the columns of an import, or the file that the recorder wrote."""
    found: dict[int, Path] = {}
    for folder in run_dir.glob("ranks/*"):
        path = _kept(folder)
        if path is not None and folder.name.isdecimal():
            found[int(folder.name)] = path
    return found


def open_trace(path: Path) -> Trace:
    """A trace file, or a folder of columns.

    Raises:
        InputError: it is damaged, or no timeline.
    """
    return read_columns(path) if path.is_dir() else open_timeline(path)


def _kept(folder: Path) -> Path | None:
    if (folder / COLUMNS_FOLDER).is_dir():
        return folder / COLUMNS_FOLDER
    recorded = folder / TRACE_FILE
    return recorded if recorded.is_file() else None

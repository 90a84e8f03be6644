"""Tells the user's own frames of a sampled stack from those of libraries and of the agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..recording import Frame

_LIBRARY_MARKS = ("/site-packages/", "/dist-packages/", "\\site-packages\\", "<frozen ", "<string>")
_NO_PREFIX = "\0"


def name_stack(frames: Sequence[Frame], process: Mapping[str, object]) -> tuple[Frame, bool] | None:
    """The innermost frame of the user's own code and True; else the innermost that is not the agent's and False.

    ``frames`` are innermost first; ``process`` tells where the process's standard library and agent lie.
    """
    agent, library = (str(process.get(key) or _NO_PREFIX) for key in ("agent", "library"))
    for frame in frames:
        if not frame.file.startswith((agent, library)) and not any(
            mark in frame.file for mark in _LIBRARY_MARKS
        ):
            return frame, True
    return next(((frame, False) for frame in frames if not frame.file.startswith(agent)), None)


def innermost_user_frame(frames: Sequence[Frame], process: Mapping[str, object]) -> Frame | None:
    """The frame that names a stack; None where there is none to name it by."""
    found = name_stack(frames, process)
    return found[0] if found is not None else None

"""Writes proven changes into the user's source, as a unified diff. It never touches a file of the user."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...profiler.agent import knobs
from .arm import KnobEvent
from .knob_choice import Choice
from .patch_rules import RULES, Place
from .rewriting import SourceFile

MAX_SOURCE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Patch:
    """Changed texts by file, and what could not be written.

    Attributes:
        written: the knobs that it writes.
        check: how it was checked, for people; empty where it was not.
    """

    before: dict[Path, str] = field(default_factory=dict[Path, str])
    after: dict[Path, str] = field(default_factory=dict[Path, str])
    notes: tuple[str, ...] = ()
    root: Path = Path()
    written: tuple[str, ...] = ()
    check: str = ""

    @property
    def diff(self) -> str:
        """A unified diff, to be applied with ``patch -p1`` in the folder that the command runs in."""
        return "".join(
            line
            for path in sorted(self.after)
            for line in _unified(self.before[path], self.after[path], _relative(path, self.root))
        )


def write_patch(
    choice: Choice, events: Sequence[KnobEvent], *, root: Path, command: Sequence[str] = ()
) -> Patch:
    """Plan the diff for changes at the places where they took.

    Args:
        choice: the changes.
        events: what the processes told, with file and line of the place that each knob acted on.
        root: the folder the command runs in; only files below it are changed.
        command: its words: an option that it passes wins over any default.
    """
    sources: dict[Path, SourceFile] = {}
    notes: list[str] = []
    written: list[str] = []
    for name, value in choice.values.items():
        places = _places(name, events)
        reason = _write(name, value, places, sources, root, tuple(command))
        if reason is not None:
            notes.append(f"{name}={choice.texts[name]}: {reason}")
        else:
            written.append(name)
    before = {path: source.text for path, source in sources.items()}
    after = {path: source.result() for path, source in sources.items()}
    changed = [path for path in after if after[path] != before[path]]
    return Patch(
        {path: before[path] for path in changed},
        {path: after[path] for path in changed},
        tuple(notes),
        root,
        tuple(written),
    )


def _places(name: str, events: Sequence[KnobEvent]) -> list[tuple[Path, int, str]]:
    """Where a knob took, each place once, with what it did there."""
    told = [event for event in events if event.knob == name and event.event == "applied"]
    found: dict[tuple[Path, int], str] = {}
    for event in told:
        if event.file is not None and event.line is not None:
            found.setdefault((Path(event.file), event.line), event.detail)
    return [(path, line, found[path, line]) for path, line in sorted(found)]


def _write(
    name: str,
    value: object,
    places: Sequence[tuple[Path, int, str]],
    sources: dict[Path, SourceFile],
    root: Path,
    words: tuple[str, ...],
) -> str | None:
    snippet = knobs.find(name).snippet(value)
    rule = RULES.get(name)
    if rule is None or not places:
        return f"write it yourself: {snippet}"
    reasons: list[str] = []
    for path, line, detail in places:
        if not path.is_relative_to(root) or "site-packages" in path.parts:
            reasons.append(f"{path.name}:{line} lies outside of {root}: set it there, {snippet}")
            continue
        try:
            source = sources[path] if path in sources else sources.setdefault(path, _parse(path))
        except (OSError, SyntaxError, ValueError) as error:
            reasons.append(f"{path} cannot be edited ({error}): {snippet}")
            continue
        reason = rule(source, Place(line, value, words, detail))
        if reason is not None:
            reasons.append(reason)
    return "; ".join(dict.fromkeys(reasons)) or None


def _parse(path: Path) -> SourceFile:
    if path.stat().st_size > MAX_SOURCE_BYTES:
        raise ValueError(f"it is larger than {MAX_SOURCE_BYTES >> 20} MB")
    return SourceFile(path.read_text(encoding="utf-8"))


def _unified(before: str, after: str, name: str) -> list[str]:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return [line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines]


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name

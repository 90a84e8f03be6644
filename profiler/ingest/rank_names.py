"""Which rank a trace file belongs to: asked for, told by the file itself, or read from its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError

_IN_NAME = (
    re.compile(r"rank[-_. ]?(\d{1,7})", re.IGNORECASE),
    re.compile(r"worker[-_. ]?(\d{1,7})", re.IGNORECASE),
    re.compile(r"(?:^|[-_.])r(\d{1,7})(?=[-_.])", re.IGNORECASE),
)


@dataclass(frozen=True)
class NamedRank:
    """The rank of one file, and whether a guess had to be made."""

    rank: int
    note: str | None = None


def rank_in_name(path: Path) -> int | None:
    """The rank that a file name tells, else the one its folder's name tells; None if neither does."""
    for text in (path.name, path.parent.name):
        for pattern in _IN_NAME:
            found = pattern.search(text)
            if found:
                return int(found.group(1))
    return None


def compiled_pattern(pattern: str) -> re.Pattern[str]:
    """A user's pattern for ranks in paths.

    Raises:
        UsageError: it is no regular expression with one group.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--rank-pattern {pattern!r} is no regular expression: {error}") from None
    if compiled.groups != 1:
        raise UsageError(
            f"--rank-pattern {pattern!r} has {compiled.groups} groups: one group with the rank was expected"
        )
    return compiled


def rank_by_pattern(path: Path, pattern: re.Pattern[str]) -> int:
    """The rank that a user's pattern finds in a path.

    Raises:
        UsageError: it finds none.
    """
    found = pattern.search(str(path))
    digits = found.group(1) if found else None
    if digits is None or not digits.isdigit() or len(digits) > 7:
        raise UsageError(
            f"--rank-pattern finds no number in {path}: give a pattern whose group holds the rank"
        )
    return int(digits)


def name_ranks(
    files: Sequence[tuple[Path, int | None]], pattern: re.Pattern[str] | None = None
) -> list[NamedRank]:
    """A rank for each file, all different. ``files`` holds each path with the rank that the file itself
    tells.

    Raises:
        UsageError: the pattern finds no rank in a path.
    """
    wished = [_wish(path, told, pattern) for path, told in files]
    taken = {rank for rank in wished if rank is not None}
    if len(taken) == len(files):
        return [NamedRank(rank) for rank in wished if rank is not None]
    given: set[int] = set()
    named: list[NamedRank] = []
    for rank in wished:
        if rank is not None and rank not in given:
            named.append(NamedRank(rank))
        else:
            named.append(_free(rank, taken | given, alone=len(files) == 1))
        given.add(named[-1].rank)
    return named


def _wish(path: Path, told: int | None, pattern: re.Pattern[str] | None) -> int | None:
    if pattern is not None:
        return rank_by_pattern(path, pattern)
    return told if told is not None else rank_in_name(path)


def _free(rank: int | None, taken: set[int], *, alone: bool) -> NamedRank:
    number = next(candidate for candidate in range(len(taken) + 1) if candidate not in taken)
    if alone:
        return NamedRank(number)
    why = "the file tells no rank" if rank is None else f"rank {rank} is taken by another file"
    return NamedRank(number, f"numbered {number} in order of the files, for {why}")

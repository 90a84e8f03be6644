"""Finds the files that a user means by paths, folders and remote addresses. Opens none of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import InputError
from .ingest.remote import RemoteFile, is_remote, remote_files

MAX_FILES = 100_000


@dataclass(frozen=True)
class TraceFile:
    """A file to read. ``path`` tells it apart and names it; a remote one is read from its ``url``."""

    path: Path
    size_bytes: int
    url: str | None = None


def find_files(places: Sequence[str | Path]) -> tuple[list[TraceFile], bool]:
    """All files that paths and addresses mean, folders with what lies in them; and whether any is a folder.

    Raises:
        InputError: a place does not exist, cannot be reached, or a folder holds no file or too many.
        UsageError: an address needs something that is not installed.
    """
    files: list[TraceFile] = []
    for place in places:
        files += _remote(str(place)) if is_remote(place) else _local(Path(place))
    unique = list({file.path: file for file in files}.values())
    if not unique:
        raise InputError(f"{', '.join(map(str, places))} holds no file: give a folder with traces")
    if len(unique) > MAX_FILES:
        raise InputError(
            f"{len(unique)} files are more than the {MAX_FILES} of one run: give the traces of one run only"
        )
    return unique, any(_is_folder(place, files) for place in places)


def _local(path: Path) -> list[TraceFile]:
    if not path.exists():
        raise InputError(f"{path} does not exist: give trace files or folders of them")
    paths = sorted(_visible_files(path)) if path.is_dir() else [path]
    return [TraceFile(one, one.stat().st_size) for one in paths]


def _remote(url: str) -> list[TraceFile]:
    return [_named(file) for file in remote_files(url)]


def _named(file: RemoteFile) -> TraceFile:
    return TraceFile(Path(file.url), file.size_bytes or 0, file.url)


def _is_folder(place: str | Path, files: Sequence[TraceFile]) -> bool:
    if is_remote(place):
        return all(file.url != place for file in files)
    return Path(place).is_dir()


def _visible_files(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]

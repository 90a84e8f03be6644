"""The read form of a folder of method files, kept so that the next start need not parse YAML.

The kept form is JSON with a digest: it is used only if the folder's fingerprint matches, the digest is
right and every method passes the schema again. Otherwise it is ignored and written anew. A place that
cannot be written is no fault.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

import platformdirs
from pydantic import TypeAdapter, ValidationError

from .method import Method

MAX_STORED_BYTES = 64 * 1024 * 1024
_METHODS = TypeAdapter(tuple[Method, ...])


def fingerprint(files: Sequence[Path]) -> str:
    """Changes when a method file, or a module of the catalog, is added, removed, resized or rewritten."""
    modules = sorted(Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256()
    for path in (*modules, *files):
        status = path.stat()
        digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def load_stored(key: str) -> tuple[Method, ...] | None:
    """The methods kept under a fingerprint, or None where there are none that can be trusted."""
    try:
        content = _read(_place(key))
    except OSError:
        return None
    digest, _, body = content.partition(b"\n")
    if digest != _digest(key, body):
        return None
    try:
        return _METHODS.validate_json(body)
    except ValidationError:
        return None


def store(key: str, methods: Sequence[Method]) -> None:
    """Keep methods under a fingerprint, in one step; silently do without where that is not possible."""
    body = _METHODS.dump_json(tuple(methods), exclude_defaults=True)
    place = _place(key)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _replace(place, _digest(key, body) + b"\n" + body)
    except OSError:
        return
    _drop_others(place)


def _replace(place: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=place.parent, prefix="writing-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(place)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _drop_others(kept: Path, *, keep: int = 4) -> None:
    """Forms of older fingerprints go; a few stay for other folders and installs."""
    try:
        forms = sorted(
            kept.parent.glob("methods-*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True
        )
        for old in forms[keep:]:
            old.unlink(missing_ok=True)
    except OSError:
        return


def _read(place: Path) -> bytes:
    status = place.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_STORED_BYTES:
        raise OSError("not a kept form")
    return place.read_bytes()


def _digest(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + body).hexdigest().encode()


def _place(key: str) -> Path:
    return (
        Path(platformdirs.user_cache_dir("trainrx", appauthor=False)) / "catalog" / f"methods-{key[:24]}.json"
    )

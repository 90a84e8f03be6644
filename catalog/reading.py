"""Reads one YAML file of facts, and distrusts it.

Plain data only, within limits, one clear reason when refused. The parser's events are walked without
recursion. Anchors, aliases, tags, merge keys, several documents and duplicate keys are refused, so no file
can grow or loop. Scalars follow YAML 1.2's core schema (``no`` is a word, ``1:30`` too).
"""

from __future__ import annotations

import re
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import yaml

from .errors import CatalogError

MAX_BYTES = 64 * 1024
MAX_DEPTH = 8
MAX_EVENTS = 20_000

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,2})?")
_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


def read_yaml(path: Path) -> object:
    """The data of a file.

    Raises:
        CatalogError: not a regular file, too large, not UTF-8, not YAML, or outside the limits.
    """
    try:
        return parse_yaml(_text(path))
    except CatalogError as error:
        raise error.inside(path.name) from error


def parse_yaml(text: str) -> object:
    """The data of a YAML text, built from dicts, lists, strings, numbers, booleans and None."""
    builder = _Builder()
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.YAMLError as error:
        raise CatalogError(f"not readable as YAML: {_one_line(error)}") from error
    return builder.result()


def _text(path: Path) -> str:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise CatalogError("not a regular file")
        if status.st_size > MAX_BYTES:
            raise CatalogError(f"{status.st_size} bytes, but a method file has at most {MAX_BYTES}")
        return path.read_bytes()[: MAX_BYTES + 1].decode("utf-8")
    except OSError as error:
        raise CatalogError(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CatalogError(f"not UTF-8 text: byte {error.start} cannot be decoded") from error


def _events(text: str) -> Iterator[yaml.Event]:
    for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        if count > MAX_EVENTS:
            raise CatalogError(f"more than {MAX_EVENTS} YAML items")
        yield event


def _one_line(error: yaml.YAMLError) -> str:
    return " ".join(str(error).split())[:300]


class _Open:
    """A mapping or list that is being filled, and the key that waits for its value."""

    __slots__ = ("container", "key", "name")

    def __init__(self, container: dict[str, object] | list[object], name: str) -> None:
        self.container = container
        self.key: str | None = None
        self.name = name

    def child_name(self) -> str:
        step = str(len(self.container)) if isinstance(self.container, list) else self.key or ""
        return f"{self.name}.{step}" if self.name else step


class _Builder:
    """Builds plain data from parser events with a stack of its own, so that depth costs no recursion."""

    def __init__(self) -> None:
        self._stack: list[_Open] = []
        self._documents: list[object] = []

    def result(self) -> object:
        if len(self._documents) != 1:
            raise CatalogError(f"holds {len(self._documents)} YAML documents, expected exactly one")
        return self._documents[0]

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent):
            raise CatalogError("YAML aliases are not allowed; write the value out", field=self._here())
        if isinstance(event, yaml.NodeEvent):
            self._take_node(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._stack.pop()

    def _take_node(self, event: yaml.NodeEvent) -> None:
        if event.anchor is not None:
            raise CatalogError("YAML anchors are not allowed; write the value out", field=self._here())
        if getattr(event, "tag", None) is not None:
            raise CatalogError("YAML tags are not allowed; use plain values", field=self._here())
        if isinstance(event, yaml.MappingStartEvent):
            self._open({})
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open([])
        else:
            assert isinstance(event, yaml.ScalarEvent)
            self._take_scalar(event)

    def _open(self, container: dict[str, object] | list[object]) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise CatalogError(f"nested deeper than {MAX_DEPTH} levels", field=self._here())
        name = self._here()
        self._add(container)
        self._stack.append(_Open(container, name))

    def _take_scalar(self, event: yaml.ScalarEvent) -> None:
        text = str(event.value)
        if any(unicodedata.category(character) in {"Cc", "Cf", "Cs"} for character in text):
            raise CatalogError("holds a control character or a line break", field=self._here())
        if self._awaits_key():
            self._take_key(text)
        else:
            self._add(_plain(text) if event.implicit[0] else text)

    def _awaits_key(self) -> bool:
        return (
            bool(self._stack) and isinstance(self._stack[-1].container, dict) and self._stack[-1].key is None
        )

    def _take_key(self, text: str) -> None:
        top = self._stack[-1]
        if text in top.container:
            raise CatalogError(f"the key '{text[:80]}' stands twice", field=top.name)
        top.key = text

    def _add(self, value: object) -> None:
        if not self._stack:
            self._documents.append(value)
            return
        top = self._stack[-1]
        if isinstance(top.container, list):
            top.container.append(value)
        elif top.key is None:
            raise CatalogError("a key must be a plain word", field=top.name)
        else:
            top.container[top.key] = value
            top.key = None

    def _here(self) -> str:
        return self._stack[-1].child_name() if self._stack else ""


def _plain(text: str) -> object:
    """The value of an unquoted scalar in YAML 1.2's core schema (no infinities, no octal or hexadecimal)."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text

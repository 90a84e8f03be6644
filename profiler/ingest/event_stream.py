"""Cuts the JSON text of a Chrome trace into pieces of whole events, so that memory stays bounded.

A piece ``[event, …, event]`` is valid JSON only if it was cut between two events at the top of the list, so
the decoder itself proves each cut; a failing piece is grown, cleaned of what JSON forbids but profilers
write (NaN, inf, broken UTF-8), and at last shrunk, so that a truncated file yields every whole event. Knows
nothing of what an event means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from ..errors import InputError
from .source import Source

PIECE_BYTES = 4 << 20
SMALLEST_PIECE_BYTES = 1 << 12
LARGEST_PIECE_BYTES = 256 << 20
"""A piece that holds no end of an event within this size is damaged: real events are a few kilobytes."""
HEAD_BYTES = 64 << 20
CUTS_TRIED = 8

_ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[')
_FORBIDDEN = re.compile(rb"(?<=[:,\[\s])[-+]?(?:NaN|nan|Infinity|inf|INF|Inf)(?=\s*[,}\]])")
_SPACE = b" \t\r\n"

EventT = TypeVar("EventT")
EventT_co = TypeVar("EventT_co", covariant=True)


class Fallback(Protocol[EventT_co]):
    """A reduced form of an event."""

    def event(self) -> EventT_co:
        """The event with what is missing left out."""
        ...


@dataclass
class EventStream(Generic[EventT]):
    """Iterates over lists of events; afterwards ``head`` holds the other top-level keys and ``notes`` what
    was lost.

    Raises (while iterating):
        InputError: the text holds no list of events.
    """

    source: Source
    decoder: PieceDecoder[EventT]
    head: dict[str, Any] = field(default_factory=dict[str, Any])
    notes: list[str] = field(default_factory=list[str])

    def __iter__(self) -> Iterator[list[EventT]]:
        buffer = bytearray()
        in_object = self._find_array(buffer)
        size, at_end = PIECE_BYTES, False
        while True:
            at_end = self._fill(buffer, size) or at_end
            if at_end and len(buffer) <= size:
                rest = self._last_piece(bytes(buffer), in_object)
                if rest is not None:
                    yield rest
                    return
            found = self._cut(buffer, min(size, len(buffer)))
            if found is not None:
                events, used = found
                del buffer[:used]
                size = PIECE_BYTES
                yield events
            elif size < LARGEST_PIECE_BYTES and not (at_end and len(buffer) <= size):
                size *= 2
            else:
                yield from self._salvage(buffer)
                return

    def _fill(self, buffer: bytearray, size: int) -> bool:
        while len(buffer) <= size:
            block = self.source.read()
            if not block:
                return True
            buffer += block
        return False

    def _find_array(self, buffer: bytearray) -> bool:
        """Move past the opening bracket of the events; true if they lie in an object."""
        self._fill(buffer, 64)
        text = bytes(buffer[:64]).lstrip(b"\xef\xbb\xbf").lstrip(_SPACE)
        if text.startswith(b"["):
            del buffer[: buffer.index(b"[") + 1]
            return False
        if text.startswith(b"{"):
            self._skip_to_array(buffer)
            return True
        raise InputError(f"{self.source.path} is not JSON: a trace starts with a brace or a bracket")

    def _skip_to_array(self, buffer: bytearray) -> None:
        size, at_end = PIECE_BYTES, False
        while True:
            at_end = self._fill(buffer, size)
            for end in [found.end() for found in _ARRAY.finditer(bytes(buffer))]:
                head = _object(_clean(bytes(buffer[:end]) + b"]}"))
                if head is not None:
                    self._keep(head)
                    del buffer[:end]
                    return
            if at_end or size > HEAD_BYTES:
                raise InputError(
                    f'{self.source.path} is JSON without a list "traceEvents": no Chrome or Kineto trace'
                )
            size *= 2

    def _keep(self, head: dict[str, Any]) -> None:
        head.pop("traceEvents", None)
        self.head.update(head)

    def _last_piece(self, rest: bytes, in_object: bool) -> list[EventT] | None:
        if not in_object:
            end = rest.rstrip(_SPACE)
            return self.decoder.decode(b"[" + end) if end.endswith(b"]") else None
        for end, tail in _tails(rest):
            events = self.decoder.decode(b"[" + rest[:end] + b"]")
            if events is not None:
                self._keep(tail)
                return events
        return None

    def _cut(self, buffer: bytearray, size: int) -> tuple[list[EventT], int] | None:
        for end in _ends(buffer, size):
            events = self.decoder.decode(b"[" + bytes(buffer[:end]) + b"]")
            if events is not None:
                return events, _after_comma(buffer, end)
        return None

    def _salvage(self, buffer: bytearray) -> Iterator[list[EventT]]:
        size = min(len(buffer), LARGEST_PIECE_BYTES)
        while size >= SMALLEST_PIECE_BYTES or size == len(buffer):
            found = self._cut(buffer, min(size, len(buffer)))
            if found is None:
                size //= 2
                continue
            events, used = found
            del buffer[:used]
            yield events
        yield from self._salvage_singly(buffer)
        reason = self.source.damage or "the JSON text ends or breaks inside an event"
        self.notes.append(f"{reason}: the whole events before it were read")

    def _salvage_singly(self, buffer: bytearray) -> Iterator[list[EventT]]:
        """The whole events among the next few kilobytes, one at a time."""
        position = 0
        window = bytes(buffer[: 4 * SMALLEST_PIECE_BYTES])
        for match in re.finditer(rb"\}(?=\s*(?:,|\]|$))", window):
            events = self.decoder.decode(b"[" + window[position : match.end()].lstrip(_SPACE + b",") + b"]")
            if events is not None:
                position = match.end()
                yield events


class PieceDecoder(Generic[EventT]):
    """Decodes a JSON list of events; None where the text is no JSON. Events of other shape are counted in
    ``dropped``.

    An event that does not fit ``event`` is read as ``fallback``, whose ``event()`` makes it one, or else
    dropped.
    """

    def __init__(self, event: type[EventT], fallback: type[Fallback[EventT]]) -> None:
        self._many: msgspec.json.Decoder[list[EventT]] = msgspec.json.Decoder(list[event])  # pyright: ignore[reportInvalidTypeForm]
        self._one = msgspec.json.Decoder(event)
        self._fallback = msgspec.json.Decoder(fallback)
        self._raw = msgspec.json.Decoder(list[msgspec.Raw])
        self.dropped = 0

    def decode(self, text: bytes) -> list[EventT] | None:
        """The events of a JSON list, or None if the text is malformed."""
        for attempt in (text, None):
            clean = _clean(text) if attempt is None else attempt
            if attempt is None and clean == text:
                return None
            try:
                return self._many.decode(clean)
            except msgspec.ValidationError:
                return self._decode_singly(clean)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
        return None

    def _decode_singly(self, text: bytes) -> list[EventT] | None:
        try:
            raws = self._raw.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            return None
        events: list[EventT] = []
        for raw in raws:
            event = self._decode_one(raw)
            if event is None:
                self.dropped += 1
            else:
                events.append(event)
        return events

    def _decode_one(self, raw: msgspec.Raw) -> EventT | None:
        try:
            return self._one.decode(raw)
        except msgspec.ValidationError:
            pass
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        try:
            return self._fallback.decode(raw).event()
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None


def _clean(text: bytes) -> bytes:
    """Replace what JSON forbids but profilers write: NaN and inf become null, broken UTF-8 a placeholder."""
    text = _FORBIDDEN.sub(b"null", text)
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace").encode()
    return text


def _ends(buffer: bytearray, size: int) -> Iterator[int]:
    """Offsets just behind a brace that a comma and another brace follow, the last first."""
    position = size
    for _ in range(CUTS_TRIED):
        while True:
            position = buffer.rfind(b"{", 0, max(position, 0))
            if position < 0:
                return
            before = bytes(buffer[max(position - 64, 0) : position]).rstrip(_SPACE)
            if before.endswith(b",") and (closed := before[:-1].rstrip(_SPACE)).endswith(b"}"):
                yield max(position - 64, 0) + len(closed)
                break


def _after_comma(buffer: bytearray, end: int) -> int:
    return buffer.index(b",", end) + 1


def _tails(rest: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Offsets in ``events ], "key": …}`` where the list may end, each with the keys behind it; the last
    first.
    """
    end = len(rest)
    while (end := rest.rfind(b"]", max(0, len(rest) - HEAD_BYTES), end)) >= 0:
        before = rest[max(0, end - 64) : end].rstrip(_SPACE)
        if before and not before.endswith(b"}"):
            continue
        tail = rest[end + 1 :].lstrip(_SPACE)
        keys = _object(b"{" + (tail[1:] if tail.startswith(b",") else tail))
        if keys is not None:
            yield end, keys


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None

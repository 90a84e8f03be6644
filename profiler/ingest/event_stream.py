"""Cuts the JSON text of a Chrome trace into pieces of whole events, so that memory stays bounded.

A piece ``[event, …, event]`` is valid JSON only if it was cut between two events at the top of the list, so
the decoder itself proves each cut; a failing piece is grown, cleaned of what JSON forbids but profilers
write (NaN, inf, broken UTF-8), and at last shrunk, so that a truncated file yields every whole event. Knows
nothing of what an event means.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from ..errors import InputError
from .source import Source

PIECE_BYTES = 1 << 19
"""The events of a piece of this size fit in a processor's cache until they are columns."""

SMALLEST_PIECE_BYTES = 1 << 12
LARGEST_PIECE_BYTES = 256 << 20
"""A piece that holds no end of an event within this size is damaged: real events are a few kilobytes."""
HEAD_BYTES = 64 << 20
CUTS_TRIED = 4
NEAR_BYTES = 1 << 14
CUT_WINDOW_BYTES = 1 << 20
"""Ends of events are looked for in the last kilobytes, then the last megabyte of a piece; a piece without one
there grows."""

HEADS_TRIED = 16
SINGLES_TRIED = 512
STRANGERS = 20_000
"""After as many entries that are no events, and none in between, a list is taken for something else."""

_ARRAY = re.compile(rb'"traceEvents"\s*:\s*\[')
_FORBIDDEN = re.compile(rb"(?<=[:,\[\s])[-+]?(?:NaN|nan|Infinity|inf|INF|Inf)(?=\s*[,}\]])")
_FORBIDDEN_START = re.compile(rb"[NnIi]")
_BOUNDARY = re.compile(rb"\}[ \t\r\n]*,[ \t\r\n]*(?=\{)")
_BYTE = re.compile(r"\(byte (\d+)\)")
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
            whole = at_end and len(buffer) <= size
            if whole and (rest := self._last_piece(bytes(buffer), in_object)) is not None:
                self._raise_if_hopeless()
                yield rest
                return
            end = min(size, len(buffer))
            found = self._cut(buffer, end)
            if found is not None:
                events, used = found
                del buffer[:used]
                size = PIECE_BYTES
                self._raise_if_hopeless()
                yield events
            elif size < LARGEST_PIECE_BYTES and not whole and not self._broken_before(end):
                size *= 2
            else:
                yield from self._salvage(buffer, end)
                return

    def _raise_if_hopeless(self) -> None:
        if self.decoder.hopeless:
            raise InputError(f"{self.source.path} is a JSON list whose entries are no events: no trace")

    def _broken_before(self, end: int) -> bool:
        """Whether the last piece was malformed well before it was cut, so that cutting later cannot help."""
        return self.decoder.broken_at is not None and self.decoder.broken_at < end - CUT_WINDOW_BYTES

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
            found = islice(_ARRAY.finditer(bytes(buffer)), HEADS_TRIED)
            for end in [match.end() for match in found]:
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
        """The last events, if the list ends properly; what stands behind it goes to ``head``."""
        text = b"[" + rest.rstrip(_SPACE)
        events = self.decoder.decode(text)
        if events is not None:
            return None if in_object else events
        end = _closing(text, self.decoder.broken_at)
        if not in_object or end is None:
            return None
        tail = text[end:].lstrip(_SPACE)
        keys = _object(b"{" + (tail[1:] if tail.startswith(b",") else tail))
        events = None if keys is None else self.decoder.decode(text[:end])
        if events is not None and keys is not None:
            self._keep(keys)
        return events

    def _cut(self, buffer: bytearray, size: int) -> tuple[list[EventT], int] | None:
        for end in _ends(buffer, size):
            events = self.decoder.decode(_listed(buffer, end))
            if events is not None:
                return events, _after_comma(buffer, end)
        return None

    def _salvage(self, buffer: bytearray, end: int) -> Iterator[list[EventT]]:
        """The whole events before the place where the text breaks or ends."""
        broken_at = self.decoder.broken_at
        stop = end if broken_at is None else min(max(broken_at - 1, 0), end)
        while stop > 0 and (found := self._cut(buffer, stop)) is not None:
            events, used = found
            del buffer[:used]
            stop -= used
            yield events
        yield from self._salvage_singly(bytes(buffer[: 4 * SMALLEST_PIECE_BYTES]))
        reason = self.source.damage or "the JSON text ends or breaks inside an event"
        self.notes.append(f"{reason}: the whole events before it were read")

    def _salvage_singly(self, text: bytes) -> Iterator[list[EventT]]:
        """The whole events among a few kilobytes, one at a time."""
        position = 0
        for match in islice(re.finditer(rb"\}(?=\s*(?:,|\]|$))", text), SINGLES_TRIED):
            events = self.decoder.decode(b"[" + text[position : match.end()].lstrip(_SPACE + b",") + b"]")
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
        self.broken_at: int | None = None
        self.hopeless = False

    def decode(self, text: bytes) -> list[EventT] | None:
        """The events of a JSON list, or None if the text is malformed.

        ``broken_at`` is then where it is, None if it only ended too early.
        """
        events = self._decode(text)
        if events is None and self._may_be_cleaned(text):
            return self._decode(_clean(text))
        return events

    def _decode(self, text: bytes) -> list[EventT] | None:
        self.broken_at = None
        try:
            return self._many.decode(text)
        except msgspec.ValidationError:
            return self._decode_singly(text)
        except (UnicodeDecodeError, RecursionError):
            self.broken_at = 0
        except msgspec.DecodeError as error:
            found = _BYTE.search(str(error))
            self.broken_at = int(found.group(1)) if found else 0 if "UTF-8" in str(error) else None
        return None

    def _may_be_cleaned(self, text: bytes) -> bool:
        """Whether the text breaks at what `_clean` replaces."""
        at = self.broken_at
        return at == 0 or (
            at is not None and _FORBIDDEN_START.search(text[max(at - 5, 0) : at + 2]) is not None
        )

    def _decode_singly(self, text: bytes) -> list[EventT] | None:
        try:
            raws = self._raw.decode(text)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            self.broken_at = 0
            return None
        events: list[EventT] = []
        for raw in raws:
            event = self._decode_one(raw)
            if event is not None:
                events.append(event)
                continue
            self.dropped += 1
            if self.dropped > STRANGERS and not events:
                self.hopeless = True
                break
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


def _listed(buffer: bytearray, end: int) -> bytes:
    """The first ``end`` bytes in brackets, with one copy."""
    with memoryview(buffer) as view:
        return b"".join((b"[", view[:end], b"]"))


def _clean(text: bytes) -> bytes:
    """Replace what JSON forbids but profilers write: NaN and inf become null, broken UTF-8 a placeholder."""
    text = _FORBIDDEN.sub(b"null", text)
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace").encode()
    return text


def _ends(buffer: bytearray, size: int) -> list[int]:
    """Offsets just behind a brace that a comma and another brace follow, the last few, the last first."""
    places: list[int] = []
    for window in (NEAR_BYTES, CUT_WINDOW_BYTES):
        start = max(size - window, 0)
        found = deque(_BOUNDARY.finditer(bytes(buffer[start:size])), maxlen=CUTS_TRIED)
        places = [start + match.start() + 1 for match in reversed(found)]
        if len(places) == CUTS_TRIED:
            break
    return places


def _closing(text: bytes, near: int | None) -> int | None:
    """Where the list that ``text`` begins with ends, if the decoder found more behind it at ``near``."""
    for stop in () if near is None else (near, near - 1):
        before = text[: max(stop, 0)].rstrip(_SPACE)
        if before.endswith(b"]"):
            return len(before)
    return None


def _after_comma(buffer: bytearray, end: int) -> int:
    return buffer.index(b",", end) + 1


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None

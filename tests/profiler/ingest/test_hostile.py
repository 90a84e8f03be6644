"""Texts made to keep a reader busy: each is dealt with in time that grows with its length, not with its square."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.profiler.errors import InputError
from trainrx.profiler.ingest.columns import Trace
from trainrx.profiler.ingest.sniff import open_trace

SIZE = 6_000_000
EVENT = b'{"name":"a","ts":1,"dur":1},'
HOSTILE = {
    "ends of events": b"[" + b"},{" * (SIZE // 3),
    "open lists": b"[" * SIZE,
    "open objects": b'{"traceEvents":[' + b'{"a":' * (SIZE // 5),
    "open braces": b"[" + b"{" * SIZE,
    "a string that never ends": b'{"traceEvents":["' + b"{},{}," * (SIZE // 6),
    "closing pairs": b'{"traceEvents":[{"name":"a"}' + b"}]" * (SIZE // 2),
    "many keys": b"{" + b'"traceEvents":[1],' * (SIZE // 18),
    "deep lists": b'{"traceEvents":[' + b"[" * 100_000 + b"]" * 100_000 + b"]}",
    "spaces": b"[" + b" " * SIZE,
    "spaces before the list": b'{"traceEvents"' + b" " * SIZE + b":[",
    "numbers": b"[" + b"0," * (SIZE // 2) + b"0]",
    "numbers that are none": b"[" + b'{"ts":NaN,"dur":inf},' * (SIZE // 21) + b"{}]",
    "rows of four": b"[[1,1,1,1]," * (SIZE // 11),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_it_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(text)
    with pytest.raises(InputError) as caught:
        open_trace(path)
    assert "\n" not in str(caught.value)


def test_damage_in_the_middle_leaves_all_events_before_it(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(b"[" + EVENT * 300_000 + b"X" + EVENT * 100_000)
    trace = open_trace(path)
    assert isinstance(trace, Trace)
    assert len(trace.host) == 300_000
    assert any("breaks inside an event" in note for note in trace.info.notes)

"""Recorded traces damaged at random are read or refused; nothing else may come out, and nothing may hang."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trainrx.profiler.errors import InputError
from trainrx.profiler.ingest.columns import Trace
from trainrx.profiler.ingest.sniff import open_trace
from trainrx.profiler.timeline.rank_summary import summarise

SMALL = (
    "facebookresearch__HolisticTraceAnalysis/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
    "facebookresearch__HolisticTraceAnalysis/cuda_event_sync_multi_stream.json.gz",
    "AMD-AGI__TraceLens/mi300_torch_compile_triton.json.gz",
    "mryab__efficient-dl-systems/liger_ce_snapshot.pickle.gz",
    "facebookresearch__HolisticTraceAnalysis/benchmark_simple_add_et.json.gz",
    "ml-energy__zeus/V100_bert_energy.csv",
)
SNIPPETS = (
    b"NaN", b"-inf", b"null", b"1e308", b"-1e308", b"99999999999999999999999", b'"', b"{", b"}", b"[", b"]", b",", b":",
    b"\x00", b"\xff\xfe", b"\\u0000", b"true", b'"ts":', b'"dur":-1', b'"ph":"X"', b"-9223372036854775808", b"[[[[[[[[",
)  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
@given(
    edits=st.lists(
        st.tuples(
            st.floats(0, 1, exclude_max=True),
            st.integers(0, 40),
            st.sampled_from(SNIPPETS) | st.binary(max_size=8),
        ),
        max_size=6,
    ),
    cut=st.floats(0.2, 1),
)
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_damage_is_read_or_refused(
    shared: Path, tmp_path: Path, name: str, edits: list[tuple[float, int, bytes]], cut: float
) -> None:
    raw = (shared / name).read_bytes()
    content = bytearray(gzip.decompress(raw) if name.endswith(".gz") else raw)
    for where, length, snippet in edits:
        place = int(where * len(content))
        content[place : place + length] = snippet
    path = tmp_path / "damaged"
    path.write_bytes(bytes(content[: int(cut * len(content))]))
    try:
        recording = open_trace(path)
    except InputError as error:
        assert "\n" not in str(error)
        return
    if isinstance(recording, Trace):
        summarise(recording)


@given(cut=st.floats(0, 1), flip=st.floats(0, 1, exclude_max=True))
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_damaged_archives_are_read_or_refused(shared: Path, tmp_path: Path, cut: float, flip: float) -> None:
    content = bytearray((shared / SMALL[0]).read_bytes())
    content[int(flip * len(content))] ^= 0x55
    path = tmp_path / "damaged.gz"
    path.write_bytes(bytes(content[: int(cut * len(content))]))
    try:
        open_trace(path)
    except InputError as error:
        assert "\n" not in str(error)

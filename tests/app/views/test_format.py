"""Numbers as text: a unit on each, nothing that is there reads as nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.app.views import format as text
from trainrx.profiler.diagnosis.finding import percent as percent_of_verdict
from trainrx.profiler.report import Fact, Where

positive = st.floats(min_value=1e-12, max_value=1e9)


@pytest.mark.parametrize(
    ("value_ms", "shown"),
    [(0, "0 ms"), (0.004, "<0.01 ms"), (0.34, "0.34 ms"), (66.68, "66.7 ms"), (1234.5, "1,234 ms")],
)
def test_milliseconds(value_ms: float, shown: str) -> None:
    assert text.milliseconds(value_ms) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.00085, "850 µs"), (0.0788, "78.8 ms"), (1.234, "1.23 s"), (125, "2 min 5 s"), (0, "0 ms")],
)
def test_duration(seconds: float, shown: str) -> None:
    assert text.duration(seconds) == shown


@given(positive)
def test_a_time_that_passed_is_never_shown_as_none(value: float) -> None:
    for shown in (text.milliseconds(value), text.duration(value)):
        number, unit = shown.split(" ", 1)
        assert unit
        assert number not in ("0", "0.0", "0.00")


@given(st.floats(min_value=1e-9, max_value=1))
def test_a_share_that_is_not_zero_never_reads_zero(share: float) -> None:
    assert text.percent(share) not in ("0 %", "0.0 %")


@given(st.floats(min_value=0.0005, max_value=1))
def test_shares_read_as_in_the_verdict(share: float) -> None:
    assert text.percent(share) == percent_of_verdict(share)


def test_a_share_of_nothing_is_zero() -> None:
    assert text.percent(0.0) == "0 %"


@pytest.mark.parametrize(("count", "shown"), [(17, "17 bytes"), (2048, "2.0 KiB"), (3 * 1024**3, "3.0 GiB")])
def test_size(count: int, shown: str) -> None:
    assert text.size(count) == shown


def test_rate_count_times() -> None:
    assert text.rate(12.69) == "12.7"
    assert text.rate(1480) == "1,480"
    assert (text.count(1, "step"), text.count(40, "step"), text.count(138154)) == (
        "1 step",
        "40 steps",
        "138,154",
    )
    assert (text.times(2.1), text.times(16.2)) == ("2.10×", "16×")


def test_a_moment_is_told_in_utc() -> None:
    assert text.moment("2026-11-30T18:15:40+02:00") == "2026-11-30 16:15 UTC"
    assert text.moment("yesterday") == "yesterday"


def test_missing_has_a_reason() -> None:
    assert text.unavailable("this run used no GPU") == "n/a: this run used no GPU"
    assert text.unavailable(None) == "n/a: not recorded"


@pytest.mark.parametrize(
    ("fact", "shown"),
    [
        (Fact(name="share of step", value=0.846), "85 %"),
        (Fact(name="device idle while loading", value=0.3389, unit="share"), "34 %"),
        (Fact(name="time per step", value=66.68, unit="ms"), "66.7 ms"),
        (Fact(name="mean kernel", value=4.36, unit="µs"), "4 µs"),
        (Fact(name="speed-up if only this time went", value=6.5, unit="×"), "6.50×"),
        (Fact(name="start of workers", value=1.5, unit="s"), "1.5 s"),
        (Fact(name="sample", value=2048, unit="bytes"), "2.0 KiB"),
        (Fact(name="calls", value=3, unit="per step"), "3 per step"),
        (Fact(name="loader.num_workers", value=0, basis="setup"), "0"),
        (Fact(name="loader.pin_memory", value=False, basis="setup"), "no"),
        (Fact(name="loader.sampler", value="RandomSampler", basis="setup"), "RandomSampler"),
    ],
)
def test_a_fact_has_its_unit(fact: Fact, shown: str) -> None:
    assert text.fact(fact) == shown


def test_settings() -> None:
    assert text.setting(True) == "yes"
    assert text.setting(0.30000001) == "0.3"
    assert text.setting(["conv", "attention"]) == "conv, attention"


def test_a_place_is_cut_to_what_tells_it_apart() -> None:
    name = "void cutlass::Kernel2<" + "x" * 400
    shown = text.place(Where(file="/home/me/project/train.py", line=3, kernel=name))
    assert shown.startswith("project/train.py:3 kernel void cutlass::Kernel2<xx") and shown.endswith("…")
    assert len(shown) < 150
    assert text.place(Where(worker=2)) == "worker 2"

"""Ranks of trace files."""

from __future__ import annotations

from pathlib import Path

import pytest
from trainrx.profiler.errors import UsageError
from trainrx.profiler.ingest.rank_names import compiled_pattern, name_ranks, rank_in_name


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", 34),
        ("worker3_step_12.1694128201545.pt.trace.json.gz", 3),
        ("Baseline-12-11-6bd4b-rank1-chrome-trace.json.gz", 1),
        ("rank_0/trace.json", 0),
        ("job.r12.json", 12),
        ("trace.json", None),
    ],
)
def test_rank_in_a_name(name: str, rank: int | None) -> None:
    assert rank_in_name(Path("folder") / name) == rank


def test_the_file_wins_over_its_name() -> None:
    assert [one.rank for one in name_ranks([(Path("rank5.json"), 2), (Path("rank6.json"), None)])] == [2, 6]


def test_files_without_or_with_taken_ranks_are_numbered_with_a_note() -> None:
    named = name_ranks([(Path("a.json"), 0), (Path("b.json"), 0), (Path("c.json"), None)])
    assert [one.rank for one in named] == [0, 1, 2]
    assert named[0].note is None
    assert "rank 0 is taken" in str(named[1].note)
    assert "tells no rank" in str(named[2].note)


def test_a_single_file_without_rank_needs_no_note() -> None:
    assert name_ranks([(Path("a.json"), None)])[0].note is None


def test_a_pattern_asks_for_ranks() -> None:
    named = name_ranks([(Path("host7-gpu3.json"), 0)], compiled_pattern(r"gpu(\d+)"))
    assert named[0].rank == 3


@pytest.mark.parametrize("pattern", ["(", "gpu", "(a)(b)"])
def test_a_wrong_pattern_is_a_usage_error(pattern: str) -> None:
    with pytest.raises(UsageError, match="--rank-pattern"):
        compiled_pattern(pattern)


def test_a_pattern_that_finds_nothing_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="finds no number"):
        name_ranks([(Path("a.json"), 0)], compiled_pattern(r"gpu(\d+)"))

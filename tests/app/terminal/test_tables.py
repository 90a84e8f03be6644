"""Tables of a report in the terminal."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from trainrx.app.terminal.tables import rank_table
from trainrx.app.views.ranks import late_rank
from trainrx.profiler.report import RankInfo, Where
from trainrx.profiler.vocabulary import Kind


def printed(report: Any) -> str:
    console = Console(file=io.StringIO(), width=120)
    console.print(rank_table(report))
    return console.file.getvalue()  # type: ignore[attr-defined]


def ranks(*shares: float) -> list[RankInfo]:
    return [RankInfo(rank=rank, steps=40, last_share=share) for rank, share in enumerate(shares)]


def test_a_rank_that_came_last_by_chance_is_not_called_late(samples: Any) -> None:
    report = samples.full_report(ranks=ranks(0.19, *[0.81 / 7] * 7), findings=[])
    assert late_rank(report) is None
    assert "late" not in printed(report)


@pytest.mark.parametrize("rank", [0, 3])
def test_the_rank_that_a_finding_names_is_marked_as_in_the_dashboard(samples: Any, rank: int) -> None:
    found = samples.finding().model_copy(update={"kind": Kind.STRAGGLERS, "where": [Where(rank=rank)]})
    report = samples.full_report(ranks=ranks(0.1, 0.1, 0.1, 0.7), findings=[found])
    assert late_rank(report) == rank
    assert f"{rank} late" in printed(report)

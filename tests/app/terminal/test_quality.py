"""What is printed of a comparison by quality against cost."""

from __future__ import annotations

import pytest

from trainrx.advisor.compare.costs import CostAxis
from trainrx.advisor.compare.curves import Direction
from trainrx.advisor.compare.labels import Label
from trainrx.advisor.compare.methods import Source
from trainrx.advisor.compare.quality_cost import Question, compare_curves
from trainrx.app.terminal.quality import print_quality
from trainrx.profiler.ingest.metric_table import parse_metric_table


def test_a_metric_whose_name_is_markup_is_only_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    name = "[red]acc[/blue]"
    table = parse_metric_table(f"step,{name}\n1,0.1\n2,0.2\n".encode(), source="a.csv")
    question = Question(name, Direction.HIGHER, CostAxis.STEPS)
    print_quality(compare_curves([Source(Label("a"), table)], question))
    assert "[red]acc" in capsys.readouterr().out

"""From any tables of numbers to document, view and charts: compared, or refused in one sentence."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainrx.advisor.compare.labels import Label
from trainrx.advisor.compare.methods import Source
from trainrx.advisor.compare.quality_cost import compare_curves
from trainrx.app.comparing_curves import ask, axes_of, document, parse_answers
from trainrx.app.figures import quality_curves, quality_front, speedup_curve
from trainrx.app.views.quality import quality_view
from trainrx.profiler.errors import TrainrxError
from trainrx.profiler.ingest.metric_table import parse_metric_table

NUMBERS = st.one_of(
    st.sampled_from(["", "0", "1", "-1", "nan", "inf", "1e-300", "1e300", "0.5"]),
    st.integers(0, 50).map(str),
    st.floats(-10, 10).map(lambda value: f"{value:.3g}"),
)
ROWS = st.lists(
    st.tuples(st.one_of(st.integers(0, 60).map(str), NUMBERS), NUMBERS, NUMBERS, NUMBERS),
    min_size=1,
    max_size=12,
)
#: Tables whose steps are all readable get as far as the charts.
GOOD_ROWS = st.lists(
    st.tuples(st.integers(1, 60).map(str), NUMBERS, NUMBERS, NUMBERS), min_size=2, max_size=12
)
LABELS = st.builds(Label, st.sampled_from("ab"), st.one_of(st.none(), st.integers(0, 3)))


@given(st.lists(st.tuples(LABELS, st.one_of(GOOD_ROWS, ROWS)), min_size=1, max_size=5), st.booleans())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_any_tables_are_compared_or_refused(
    files: list[tuple[Label, list[tuple[str, ...]]]], raw: bool
) -> None:
    try:
        sources = [
            Source(label, parse_metric_table(_csv(rows).encode(), source=f"{number}.csv"))
            for number, (label, rows) in enumerate(files)
        ]
        comparison = compare_curves(sources, ask(sources, metric="val_loss", cost="steps"))
    except TrainrxError as error:
        assert "\n" not in str(error)
        return
    found = json.loads(document(comparison))
    assert {method["name"] for method in found["methods"]} == {label.method for label, _ in files}
    view = quality_view(comparison, raw=raw)
    assert view.headline.sentence.endswith((".", "?"))
    for figure in (
        quality_curves.quality_curves(view, log_cost=True, log_quality=True),
        speedup_curve.speedup_curve(view),
        quality_front.quality_front(view, log_cost=True),
    ):
        figure.to_json()
    assert quality_curves.alt(view) and speedup_curve.alt(view) and quality_front.alt(view)


def _csv(rows: list[tuple[str, ...]]) -> str:
    return "step,seconds,lr,val_loss\n" + "\n".join(",".join(row) for row in rows)


def test_seconds_are_looked_at_first() -> None:
    table = parse_metric_table(b"step,seconds,val_loss\n1,1,1\n2,2,1\n", source="a")
    assert [axis.value for axis in axes_of([Source(Label("a"), table)])] == ["seconds", "steps"]


def test_answers_of_a_command_line() -> None:
    assert parse_answers(["baseline-tuned=YES", "whole-cost=no"]) == {
        "baseline-tuned": True,
        "whole-cost": False,
    }


@pytest.mark.parametrize(
    ("target", "answers", "fixed"),
    [
        (None, {}, False),
        (1.0, {}, None),
        (1.0, {"target-first": True}, True),
        (1.0, {"target-first": False}, False),
    ],
)
def test_a_target_counts_as_fixed_before_only_if_somebody_says_so(
    target: float | None, answers: dict[str, bool], fixed: bool | None
) -> None:
    sources = [
        Source(Label(name), parse_metric_table(text, source=name))
        for name, text in (("a", b"step,val_loss\n1,2\n2,1\n"), ("b", b"step,val_loss\n1,2\n3,1\n"))
    ]
    found = json.loads(document(compare_curves(sources, ask(sources, target=target, answers=answers))))
    assert found["target"]["fixed_before"] is fixed
    # AND a lack of bounds is told from a lack of an interval
    assert found["methods"][1]["speedup"]["has_interval"] is False

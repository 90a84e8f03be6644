"""Advice in words: order kept, negatives first, unpredicted said, measured beside predicted."""

from __future__ import annotations

from typing import Any

from trainrx.app.views.advice import ACTIONS, advice_view, first_advice, wanted
from trainrx.app.views.tables import cell_rows


def test_prescriptions_keep_their_order_and_say_what_is_not_predicted(samples: Any) -> None:
    view = advice_view(samples.advised_report())
    assert [one.heading for one in view.prescriptions] == [
        "1. DataLoader worker processes, predicted 1.80× (1.20× to 2.20×)",
        "2. Data diet, n/a: trainrx has no model for this change",
    ]
    assert view.prescriptions[1].gain is None


def test_negative_evidence_comes_first(samples: Any) -> None:
    rows = advice_view(samples.advised_report()).prescriptions[0].evidence
    assert [(row.negative, row.text) for row in rows] == [
        (True, "no gain on a slow disk"),
        (False, "2.07× on 8 GPUs"),
    ]


def test_a_trial_stands_beside_the_prescription_that_it_tried_and_no_other(samples: Any) -> None:
    other = samples.trial(id="2", knobs={"loader.num_workers": "4"})
    first, second = advice_view(samples.advised_report(trials=[samples.trial(), other])).prescriptions
    assert first.gain is not None
    assert first.gain.measured == (1.7, 1.6, 1.8)
    assert first.measured == ("Trial 1: faster, 1.70× (1.60× to 1.80×) over 3 pairs; losses same",)
    assert second.measured == ()


def test_a_trial_that_failed_says_why(samples: Any) -> None:
    failed = samples.trial(speedup=None, verdict="failed", reason="out of memory")
    first = advice_view(samples.advised_report(trials=[failed])).prescriptions[0]
    assert first.measured == ("Trial 1: failed, out of memory",)
    assert first.gain is not None
    assert first.gain.measured is None


def test_a_choice_narrows_and_an_empty_one_does_not(samples: Any) -> None:
    view = advice_view(samples.advised_report())
    assert view.equivalences == ["exact", "semantic"]
    assert len(wanted(view.prescriptions, findings=[], equivalences=[])) == 2
    assert [one.number for one in wanted(view.prescriptions, findings=[], equivalences=["semantic"])] == [2]
    assert wanted(view.prescriptions, findings=["stragglers"], equivalences=[]) == []


def test_cells_lie_by_part_and_action(samples: Any) -> None:
    (matrix,) = advice_view(samples.advised_report()).cells
    rows = dict(matrix.rows)
    assert list(rows) == ["system", "data"]
    assert [cell.avoid for cell in rows["system"][ACTIONS.index(None)]] == [False]
    assert [cell.methods for cell in rows["data"][ACTIONS.index("retrofit")]] == [("augmix",)]


def test_cells_and_methods_that_are_not_shown_are_counted(samples: Any) -> None:
    (matrix,) = advice_view(samples.advised_report()).cells
    assert matrix.left == "And more cells: 4 of function, 2 to avoid. The catalog has them all."
    assert [row["methods"] for row in cell_rows(matrix)] == ["dataloader-num-workers", "augmix and 6 more"]
    (whole,) = advice_view(samples.advised_report(cells_left=[])).cells
    assert whole.left == ""


def test_why_nothing_is_prescribed_is_said(samples: Any) -> None:
    assert "no rule found" in advice_view(samples.full_report(findings=[])).nothing
    assert "no known method" in advice_view(samples.full_report()).nothing
    untimed = samples.full_report(step_time=None, step_time_reason="torch was never imported")
    assert "torch was never imported" in advice_view(untimed).nothing


def test_the_first_advice_is_one_line(samples: Any) -> None:
    assert first_advice(samples.full_report()) is None
    assert first_advice(samples.advised_report()) == (
        "First to try: DataLoader worker processes, predicted 1.80× (1.20× to 2.20×); 1 more"
    )

"""What the autopilot tries next: the best first, but what costs long trials only where it pays for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainrx.advisor.trial import candidates
from trainrx.profiler.report import Finding, Prediction, Prescription, Report
from trainrx.profiler.vocabulary import Kind

COMPILE, FOREACH, FUSED = "compile.default=true", "optimizer.foreach=true", "optimizer.fused=true"


def prescription(knob: str, predicted: float | None) -> Prescription:
    speedup = (
        None if predicted is None else Prediction(low=1.0, mid=predicted, high=predicted, bound=predicted)
    )
    return Prescription(
        method=knob, knob=knob, finding=Kind.COMPUTE, equivalence="numerical", predicted_speedup=speedup, basis="",
        risk="", how="", verify="",
    )  # fmt: skip


def _as_it_is(report: Report) -> Report:
    return report


@pytest.mark.parametrize(
    ("predicted", "order"),
    [
        (
            {COMPILE: 1.5, FUSED: 1.2},
            [FUSED, COMPILE],
        ),  # a fused optimizer takes a quarter of the time to try
        ({COMPILE: 3.0, FUSED: 1.2}, [COMPILE, FUSED]),
        ({COMPILE: 1.5, FUSED: 1.01, FOREACH: 1.2}, [FUSED, FOREACH, COMPILE]),  # the others keep their order
        ({COMPILE: None, FUSED: None}, [FUSED, COMPILE]),
        ({FUSED: 1.1, COMPILE: None}, [FUSED, COMPILE]),
    ],
)
def test_a_change_that_compiles_waits_for_those_that_gain_as_much_for_their_time(
    predicted: dict[str, float | None],
    order: list[str],
    make_report: Callable[..., Report],
    make_finding: Callable[..., Finding],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # GIVEN a run whose prescriptions are ranked so
    ranked = [prescription(knob, mid) for knob, mid in predicted.items()]
    report = make_report(make_finding(Kind.COMPUTE, 0.9), setup={"device.kind": "cpu"})
    report = report.model_copy(update={"prescriptions": ranked, "findings": []})
    monkeypatch.setattr(candidates, "prescribe", _as_it_is)
    # WHEN the autopilot asks THEN they come in this order
    assert [one.knob for one in candidates.propose(report, set())] == order


def test_what_was_tried_is_not_proposed_again(
    make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    report = make_report(make_finding(Kind.OPTIMIZER_STEP, 0.9), setup={"device.kind": "cpu"})
    first = candidates.propose(report, set())[0].knob
    assert first is not None and first not in [one.knob for one in candidates.propose(report, {first})]

"""Each factor of the order decides by itself where those before it are equal; the wrong one is given first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from trainrx.advisor.predict.estimate import StepEstimate
from trainrx.advisor.proposal import Case, Effort, Fit, Proposal
from trainrx.advisor.ranking import rank
from trainrx.catalog import Method
from trainrx.profiler.report import Finding, Report
from trainrx.profiler.vocabulary import Kind, Severity

FACTS: dict[str, Any] = {
    "id": "warm-shelf",
    "name": "Warm shelf",
    "one_line": "Keeps tomorrow's batches warm.",
    "reference": {"title": "On Warm Shelves"},
    "placement": {
        "component": "system",
        "subcomponent": "input-pipeline",
        "action": "replace",
        "category": "system-centric",
        "subcategory": "data-preloading",
    },
    "relieves": ["data-loading"],
    "equivalence": "exact",
    "quality_risk": "none",
    "tier": "core",
    "sure": {"bibliography": "high"},
    "expects": [{"metric": "data_wait", "direction": "falls", "at_least": 0.2}],
    "no_evidence": "none known",
}


@dataclass(frozen=True)
class Candidate:
    """A proposal with all that its rank is made of; steps take 100 ms."""

    name: str
    case: Case
    gain: float | None = 1.5
    effort: Effort = Effort.LINES
    fit: Fit = Fit.CAUSE
    position: int = 0
    equivalence: str = "exact"
    relieves: tuple[str, ...] = ("data-loading",)
    needs: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[float, ...]:
        step_s = None if self.gain is None else 0.1 / self.gain
        estimate = None if step_s is None else StepEstimate(step_s, step_s, step_s)
        facts = {"equivalence": self.equivalence, "relieves": self.relieves, "needs": self.needs}
        method = Method.model_validate(FACTS | facts)
        proposal = Proposal(
            method=method.id, how="", basis="", effort=self.effort, estimate=estimate, fit=self.fit
        )
        return rank(self.position, self.case, method, proposal)


def ordered(*candidates: Candidate) -> list[str]:
    return [one.name for one in sorted(candidates, key=lambda one: one.rank)]


@pytest.fixture
def waits(make_report: Callable[..., Report], make_finding: Callable[..., Finding]) -> Case:
    """60 of 100 ms wait for data."""
    return Case(make_report(), make_finding(Kind.DATA_LOADING, 0.6))


@pytest.fixture
def costs_no_time(make_report: Callable[..., Report], make_finding: Callable[..., Finding]) -> Case:
    """A finding that exposes no time, so that no gain tells what answers it apart."""
    return Case(make_report(), make_finding(Kind.DATA_LOADING, 0.0))


def test_of_equal_gains_the_one_of_less_effort_comes_first(waits: Case) -> None:
    efforts = (Effort.REWORK, Effort.LINES, Effort.SWITCH)
    assert ordered(*(Candidate(effort.label, waits, effort=effort) for effort in efforts)) == [
        "one switch",
        "a few lines",
        "a rework",
    ]


def test_a_gain_counts_by_what_it_takes(waits: Case) -> None:
    much = Candidate("more for a rework", waits, gain=1.8, effort=Effort.REWORK)
    little = Candidate("less for a switch", waits, gain=1.5, effort=Effort.SWITCH)
    assert ordered(much, little) == ["less for a switch", "more for a rework"]
    assert ordered(little, Candidate("more for a switch", waits, gain=1.8, effort=Effort.SWITCH)) == [
        "more for a switch",
        "less for a switch",
    ]


def test_where_no_gain_is_known_effort_decides(costs_no_time: Case) -> None:
    efforts = (Effort.REWORK, Effort.LINES, Effort.SWITCH)
    given = (Candidate(effort.label, costs_no_time, gain=None, effort=effort) for effort in efforts)
    assert ordered(*given) == ["one switch", "a few lines", "a rework"]


def test_exact_comes_before_numerical_before_semantic_at_equal_gain(waits: Case) -> None:
    words = ("semantic", "numerical", "exact")
    assert ordered(*(Candidate(word, waits, equivalence=word) for word in words)) == [
        "exact",
        "numerical",
        "semantic",
    ]


@pytest.mark.parametrize(("fit", "leads"), [(Fit.KIND, False), (Fit.CAUSE, True)])
def test_what_changes_the_learning_leads_only_with_a_gain_for_the_very_cause(
    waits: Case, fit: Fit, leads: bool
) -> None:
    semantic = Candidate("semantic", waits, gain=2.0, fit=fit, equivalence="semantic")
    listed = Candidate("numerical", waits, gain=1.1, fit=Fit.LISTED, equivalence="numerical")
    assert ordered(semantic, listed)[0] == ("semantic" if leads else "numerical")
    unpredicted = Candidate("semantic", waits, gain=None, equivalence="semantic")
    least = Candidate("numerical", waits, gain=1.01, fit=Fit.LISTED, equivalence="numerical")
    assert ordered(unpredicted, least) == ["numerical", "semantic"]


@pytest.mark.parametrize(("loose", "close"), [(Fit.KIND, Fit.CAUSE), (Fit.LISTED, Fit.KIND)])
def test_a_loose_fit_takes_from_the_gain(waits: Case, loose: Fit, close: Fit) -> None:
    more = Candidate("loose", waits, gain=1.5, fit=loose)
    assert ordered(more, Candidate("close", waits, gain=1.3, fit=close)) == ["close", "loose"]
    assert ordered(Candidate("close", waits, gain=1.1, fit=close), more) == ["loose", "close"]


def test_where_no_gain_is_known_the_closer_fit_comes_first(costs_no_time: Case) -> None:
    fits = (Fit.LISTED, Fit.KIND, Fit.CAUSE)
    assert ordered(*(Candidate(fit.name, costs_no_time, gain=None, fit=fit) for fit in fits)) == [
        "CAUSE",
        "KIND",
        "LISTED",
    ]


@pytest.mark.parametrize(("setup", "first"), [({}, "sure"), ({"device.kind": "cuda"}, "asks")])
def test_needs_that_the_run_did_not_tell_take_from_the_gain(
    setup: dict[str, object],
    first: str,
    make_report: Callable[..., Report],
    make_finding: Callable[..., Finding],
) -> None:
    # GIVEN a larger gain that needs a GPU, and a smaller one that needs nothing
    case = Case(make_report(setup=setup), make_finding(Kind.DATA_LOADING, 0.6))
    asks = Candidate("asks", case, gain=1.5, needs=("device.kind in cuda|rocm",))
    sure = Candidate("sure", case, gain=1.3)
    # WHEN they are ordered THEN the larger one leads only where the GPU is known
    assert ordered(asks, sure)[0] == ordered(sure, asks)[0] == first


def test_methods_that_only_save_steps_come_last(waits: Case) -> None:
    saves = ("sample-efficiency",)
    saver = Candidate("saves steps", waits, gain=2.4, effort=Effort.SWITCH, relieves=saves)
    worst = Candidate(
        "any other", waits, gain=None, effort=Effort.REWORK, fit=Fit.LISTED, equivalence="semantic"
    )
    assert ordered(saver, worst) == ["any other", "saves steps"]
    both = Candidate("shortens steps too", waits, relieves=("data-loading", *saves))
    assert ordered(worst, both) == ["shortens steps too", "any other"]


@pytest.mark.parametrize(
    ("kind", "severity", "first"),
    [
        (Kind.COMPUTE, Severity.NOTE, "waits"),
        (Kind.MEMORY_BANDWIDTH, Severity.NOTE, "waits"),
        (Kind.MEMORY_BANDWIDTH, Severity.MODERATE, "other"),
        (Kind.LOGGING, Severity.NOTE, "other"),
    ],
)
def test_the_models_own_work_as_a_note_stands_behind_what_the_run_waits_for(
    kind: Kind, severity: Severity, first: str, waits: Case, make_finding: Callable[..., Finding]
) -> None:
    noted = Case(waits.report, make_finding(kind, 0.6, severity=severity))
    given = (Candidate("other", noted, gain=2.0), Candidate("waits", waits, gain=1.1))
    assert ordered(*given)[0] == first


@pytest.mark.parametrize(
    ("position", "fit", "first"), [(0, Fit.CAUSE, "memory"), (1, Fit.CAUSE, "waits"), (0, Fit.KIND, "waits")]
)
def test_only_what_answers_a_shortage_of_memory_that_heads_the_diagnosis_needs_no_gain(
    position: int, fit: Fit, first: str, waits: Case, make_finding: Callable[..., Finding]
) -> None:
    short = Case(waits.report, make_finding(Kind.MEMORY_CAPACITY, 0.0))
    memory = Candidate("memory", short, gain=None, fit=fit, position=position)
    assert ordered(Candidate("waits", waits, position=1 - position), memory)[0] == first


def test_an_unpredicted_gain_stands_between_a_small_and_a_fair_one(waits: Case) -> None:
    small, fair = Candidate("1.05", waits, gain=1.05), Candidate("1.2", waits, gain=1.2)
    assert ordered(small, Candidate("unpredicted", waits, gain=None), fair) == ["1.2", "unpredicted", "1.05"]


def test_at_last_the_larger_finding_comes_first(waits: Case) -> None:
    given = (Candidate("second", waits, position=1), Candidate("first", waits, position=0))
    assert ordered(*given) == ["first", "second"]

"""Findings × catalog × setup: what to do about this run, in order, with what was ruled out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..catalog import Catalog, Method, load_catalog
from ..catalog.method import Expectation
from ..catalog.vocabulary import Metric
from ..catalog.wording import RISK_MEANINGS, expectation_sentence
from ..profiler.report import Prescription, Report, RuledOut
from ..profiler.vocabulary import Kind
from .cells import cell_advice, cells_left
from .evidence_rows import evidence_rows
from .from_catalog import against, listed, ruled_out, step_savers
from .known_setup import known_setup
from .next_bottleneck import next_bottleneck
from .proposal import Case, Proposal
from .questions import question
from .ranking import Rank, rank
from .remedies import answers

#: A method whose likely gain is below this is not proposed: the run would not show it.
LEAST_GAIN = 1.002
#: Metrics that tell of one kind only: a method against several kinds is not held to those of the others.
_KIND_OF = {
    Metric.CHECKPOINT_TIME: Kind.CHECKPOINT_IO,
    Metric.EVALUATION_TIME: Kind.EVALUATION,
    Metric.LOGGING_TIME: Kind.LOGGING,
    Metric.GC_TIME: Kind.GARBAGE_COLLECTION,
}


@dataclass
class _Advice:
    """What is collected over the findings."""

    chosen: list[tuple[Rank, Prescription]] = field(default_factory=list[tuple[Rank, Prescription]])
    ruled_out: list[RuledOut] = field(default_factory=list[RuledOut])


def prescribe(report: Report, catalog: Catalog | None = None) -> Report:
    """The report with prescriptions, what was ruled out, and the taxonomy's cells for each finding.

    What is on already, what has no use here, what needs something that this run lacks and what is predicted to bring
    nothing stands in ``ruled_out``. The order is that of `ranking`.
    """
    known = catalog or load_catalog()
    told = report.model_copy(update={"setup": known_setup(report)})
    advice = _Advice()
    for position, finding in enumerate(told.findings):
        _advise(advice, position, Case(told, finding), known)
    advice.chosen.sort(key=lambda item: item[0])
    return report.model_copy(
        update={
            "prescriptions": _without_repeats([prescription for _, prescription in advice.chosen]),
            "ruled_out": _once(advice.ruled_out),
            "cells": [
                cell for finding in told.findings for cell in cell_advice(finding.kind, known, told.setup)
            ],
            "cells_left": [
                left for finding in told.findings for left in cells_left(finding.kind, known, told.setup)
            ],
        }
    )


def _advise(advice: _Advice, position: int, case: Case, catalog: Catalog) -> None:
    said = answers(case)
    out = {one.method: one.reason for one in said.declined}
    named = {proposal.method for proposal in said.proposals} | set(out)
    others = () if said.complete else listed(case, catalog, named)
    for proposal in (*said.proposals, *others, *step_savers(case, catalog)):
        method = catalog.methods.get(proposal.method)
        if method is None:
            continue
        reason = against(method, case) or _without_gain(case, proposal)
        if reason is None:
            advice.chosen.append(
                (rank(position, case, method, proposal), _prescription(case, method, proposal))
            )
        else:
            out.setdefault(method.id, reason)
    advice.ruled_out += [
        RuledOut(method=name, title=catalog.methods[name].name, finding=case.finding.kind, reason=reason)
        for name, reason in out.items()
        if name in catalog.methods
    ]
    advice.ruled_out += ruled_out(case, catalog, named)


def _without_gain(case: Case, proposal: Proposal) -> str | None:
    prediction = case.prediction(proposal)
    if prediction is None or prediction.mid >= LEAST_GAIN:
        return None
    span = f"{prediction.low:.2f} to {prediction.high:.2f}"
    return f"likely brings nothing here: predicted {prediction.mid:.2f}× ({span})"


def _prescription(case: Case, method: Method, proposal: Proposal) -> Prescription:
    setup = case.report.setup
    return Prescription(
        method=method.id,
        title=method.name,
        knob=proposal.knob,
        finding=case.finding.kind,
        equivalence=str(method.equivalence),
        predicted_speedup=case.prediction(proposal),
        basis=case.basis(proposal),
        risk=f"{method.quality_risk}: {RISK_MEANINGS[method.quality_risk]}",
        how=proposal.how,
        verify="; ".join(
            expectation_sentence(expectation) for expectation in _expected(method, case.finding.kind)
        ),
        effort=proposal.effort.label,
        asks=[question(answer.predicate) for answer in method.needs_met(setup).unknown],
        evidence=evidence_rows(method, setup),
        next_bottleneck=next_bottleneck(case, proposal),
    )


def _expected(method: Method, kind: Kind) -> list[Expectation]:
    """What must move where a method is tried against one kind; all that it can move, if none of that is the kind's."""
    fitting = [one for one in method.expects if _KIND_OF.get(one.metric, kind) is kind]
    return fitting or list(method.expects)


def _without_repeats(prescriptions: Sequence[Prescription]) -> list[Prescription]:
    """Each change once, for the finding for which it is placed best."""
    seen: dict[tuple[str, str | None], Prescription] = {}
    for prescription in prescriptions:
        seen.setdefault((prescription.method, prescription.knob), prescription)
    return list(seen.values())


def _once(rows: Sequence[RuledOut]) -> list[RuledOut]:
    """Each method once per finding, with the first reason."""
    seen: dict[tuple[str, Kind], RuledOut] = {}
    for row in rows:
        seen.setdefault((row.method, row.finding), row)
    return list(seen.values())

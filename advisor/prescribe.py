"""Findings × catalog × setup: what to do about this run, in order, with what was ruled out and why."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from ..catalog import Catalog, Equivalence, Evidence, Method, Tier, Truth, load_catalog
from ..catalog.wording import expectation_sentence, gain_sentence
from ..profiler.report import Evidence as EvidenceRow
from ..profiler.report import Finding, Prescription, Report, RuledOut
from ..profiler.vocabulary import Kind, Severity, Stage
from .cells import cell_advice
from .no_use import no_use
from .predict.estimate import speedup
from .predict.from_evidence import estimate_from_evidence, published_gains
from .proposal import Case, Effort, Proposal
from .remedies import proposals

MAX_EVIDENCE = 6
#: How many methods of the catalog are added to a finding beyond the remedies that are modelled.
MAX_FROM_CATALOG = 4
_EQUIVALENCE_ORDER = {Equivalence.EXACT: 0, Equivalence.NUMERICAL: 1, Equivalence.SEMANTIC: 2}


def prescribe(report: Report, catalog: Catalog | None = None) -> Report:
    """The report with prescriptions, what was ruled out, and the taxonomy's cells for each finding.

    Order: methods that keep what is learned before those that change it; then the finding with more exposed time; then
    gain per effort; exact before numerical at equal gain.
    """
    known = catalog or load_catalog()
    setup = report.setup
    chosen: list[tuple[tuple[float, ...], Prescription]] = []
    ruled_out: list[RuledOut] = []
    for position, finding in enumerate(report.findings):
        case = Case(report, finding)
        for proposal in _candidates(case, known):
            method = known.methods[proposal.method]
            reason = _against(method, proposal, case)
            if reason is not None:
                ruled_out.append(
                    RuledOut(method=method.id, title=method.name, finding=finding.kind, reason=reason)
                )
                continue
            chosen.append(
                (_order(position, finding, method, proposal, case), _prescription(case, method, proposal))
            )
        ruled_out += _excluded(case, known, {row.method for row in ruled_out})
    chosen.sort(key=lambda item: item[0])
    return report.model_copy(
        update={
            "prescriptions": _without_repeats([prescription for _, prescription in chosen]),
            "ruled_out": ruled_out,
            "cells": [
                cell for finding in report.findings for cell in cell_advice(finding.kind, known, setup)
            ],
        }
    )


def _candidates(case: Case, catalog: Catalog) -> Iterator[Proposal]:
    """The modelled remedies, then core methods of the catalog for the kind that nobody modelled."""
    modelled = proposals(case)
    yield from modelled
    if case.finding.kind is Kind.STRAGGLERS:
        return
    seen = {proposal.method for proposal in modelled}
    others = [
        method
        for method in catalog.relieving(case.finding.kind)
        if method.id not in seen and method.tier is Tier.CORE and _is_possible(method, case)
    ]
    others.sort(key=lambda method: (_EQUIVALENCE_ORDER[method.equivalence], -len(published_gains(method))))
    for method in others[:MAX_FROM_CATALOG]:
        yield _from_catalog(case, method)


def _is_possible(method: Method, case: Case) -> bool:
    possible = method.needs_met(case.report.setup).truth is not Truth.FALSE
    return possible and no_use(method.id, case.finding.kind, case.report) is None


def _from_catalog(case: Case, method: Method) -> Proposal:
    gains = published_gains(method)
    on_gpu = case.setup("device.kind") not in (None, "cpu")
    published = f"{len(gains)} published ratio{'s' if len(gains) != 1 else ''}"
    if not gains:
        basis = "no measured ratio is known to us; only the bound holds"
    elif on_gpu:
        basis = f"{published} on other models and machines, applied to this finding's share of the step"
    else:
        basis = f"{published}, from GPUs, which say nothing on this CPU run; only the bound holds"
    return Proposal(
        method=method.id,
        knob=None,
        how=method.how.snippet or method.how.api or method.one_line,
        basis=basis,
        effort=Effort.LINES if method.how.knob is not None else Effort.REWORK,
        estimate=estimate_from_evidence(method, case.step_s, case.exposed_s) if on_gpu else None,
    )


def _against(method: Method, proposal: Proposal, case: Case) -> str | None:
    """Why a method is not proposed; None if nothing speaks against it."""
    unmet = _unmet(method, case.report.setup)
    return unmet if unmet is not None else no_use(method.id, case.finding.kind, case.report)


def _unmet(method: Method, setup: Mapping[str, object]) -> str | None:
    needs = method.needs_met(setup)
    if needs.truth is not Truth.FALSE:
        return None
    return "needs " + " and ".join(str(predicate) for predicate in needs.failed)


def _excluded(case: Case, catalog: Catalog, seen: set[str]) -> Iterator[RuledOut]:
    """The core methods for a kind that this run rules out."""
    kind = case.finding.kind
    for method in catalog.relieving(kind):
        if method.tier is not Tier.CORE or method.id in seen:
            continue
        reason = _unmet(method, case.report.setup) or no_use(method.id, kind, case.report)
        if reason is not None:
            yield RuledOut(method=method.id, title=method.name, finding=kind, reason=reason)


def _order(
    position: int, finding: Finding, method: Method, proposal: Proposal, case: Case
) -> tuple[float, ...]:
    gain = 0.0
    if proposal.estimate is not None:
        gain = math.log(max(speedup(case.step_s, proposal.estimate, exposed_s=case.exposed_s).mid, 1e-3))
    semantic = method.equivalence is Equivalence.SEMANTIC
    minor = finding.severity is Severity.NOTE
    return (
        float(semantic),
        float(minor),
        float(position),
        -gain / int(proposal.effort),
        float(_EQUIVALENCE_ORDER[method.equivalence]),
    )


def _prescription(case: Case, method: Method, proposal: Proposal) -> Prescription:
    prediction = None
    if proposal.estimate is not None:
        prediction = speedup(case.step_s, proposal.estimate, exposed_s=case.exposed_s)
    needs = method.needs_met(case.report.setup)
    rows = sorted(method.evidence, key=lambda row: (not row.is_negative, row.grade.value))
    return Prescription(
        method=method.id,
        title=method.name,
        knob=proposal.knob,
        finding=case.finding.kind,
        equivalence=str(method.equivalence),
        predicted_speedup=prediction,
        basis=proposal.basis,
        risk=str(method.quality_risk),
        how=proposal.how,
        verify="; ".join(expectation_sentence(expectation) for expectation in method.expects),
        effort=proposal.effort.label,
        asks=[f"{answer}" for answer in needs.unknown],
        evidence=[_evidence_row(row) for row in rows[:MAX_EVIDENCE]],
        next_bottleneck=_next(case, proposal),
    )


def _evidence_row(row: Evidence) -> EvidenceRow:
    return EvidenceRow(
        text=gain_sentence(row),
        gain=row.gain,
        gain_kind=str(row.gain_kind),
        grade=str(row.grade),
        task=row.task,
        hardware=row.hardware,
        source=row.source,
        negative=row.is_negative,
    )


def _next(case: Case, proposal: Proposal) -> str | None:
    """The largest other part of the step, once the finding's share has shrunk as predicted."""
    others = [finding for finding in case.report.findings if finding is not case.finding]
    stages = {share.name: share.seconds_per_step for share in case.report.stages}
    if proposal.estimate is None or not stages:
        return None
    gone = case.step_s - proposal.estimate.likely_s
    left = {
        stage: seconds - (gone if _is_of(stage, case.finding.kind) else 0.0)
        for stage, seconds in stages.items()
    }
    largest = max(left, key=lambda stage: left[stage])
    named = next((finding for finding in others if _is_of(largest, finding.kind)), None)
    return f"{largest.label}" if named is None else f"{largest.label} ({named.kind})"


def _is_of(stage: Stage, kind: Kind) -> bool:
    return kind in _KINDS_OF_STAGE.get(stage, ())


_KINDS_OF_STAGE: Mapping[Stage, tuple[Kind, ...]] = {
    Stage.DATA_WAIT: (Kind.DATA_LOADING,),
    Stage.H2D: (Kind.H2D_TRANSFER,),
    Stage.FORWARD: (
        Kind.COMPUTE,
        Kind.LAUNCH_OVERHEAD,
        Kind.MEMORY_BANDWIDTH,
        Kind.CPU_THREADS,
        Kind.RECOMPILATION,
    ),
    Stage.BACKWARD: (Kind.COMPUTE, Kind.LAUNCH_OVERHEAD, Kind.MEMORY_BANDWIDTH, Kind.CPU_THREADS),
    Stage.OPTIMIZER: (Kind.OPTIMIZER_STEP,),
    Stage.COMMUNICATION: (Kind.COMMUNICATION, Kind.STRAGGLERS),
    Stage.HOST: (Kind.HOST_PYTHON, Kind.LOGGING, Kind.GARBAGE_COLLECTION, Kind.HOST_SYNC),
    Stage.CHECKPOINT: (Kind.CHECKPOINT_IO,),
    Stage.EVALUATION: (Kind.EVALUATION,),
}


def _without_repeats(prescriptions: Sequence[Prescription]) -> list[Prescription]:
    """Each method once per finding, the best placed one."""
    seen: set[tuple[str, Kind]] = set()
    kept: list[Prescription] = []
    for prescription in prescriptions:
        key = (prescription.method, prescription.finding)
        if key not in seen:
            seen.add(key)
            kept.append(prescription)
    return kept

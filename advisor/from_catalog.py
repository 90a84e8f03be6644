"""What the catalog adds to the remedies that are modelled: further methods for a kind, and what rules methods out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..catalog import Bottleneck, Catalog, Equivalence, Method, Tier
from ..profiler.report import RuledOut
from ..profiler.vocabulary import Kind
from .no_use import no_use
from .predict.from_evidence import estimate_from_evidence, published_gains
from .proposal import Case, Effort, Fit, Proposal
from .ranking import EQUIVALENCE_ORDER, only_saves_steps

#: How many methods of the catalog are added to a finding beyond the remedies that are modelled.
MAX_LISTED = 4
MAX_STEP_SAVERS = 3
#: Findings for which fewer steps help as much as faster ones: the step is full of the training itself.
_FULL_OF_WORK = {Kind.COMPUTE, Kind.MEMORY_BANDWIDTH, Kind.LAUNCH_OVERHEAD, Kind.COMMUNICATION}
_NO_CAPABILITY = ("cpu", "mps")


def against(method: Method, case: Case) -> str | None:
    """Why a method is not proposed; None if nothing speaks against it."""
    unmet = _unmet(method, case.report.setup)
    return unmet if unmet is not None else no_use(method.id, case.finding.kind, case.report)


def listed(case: Case, catalog: Catalog, modelled: Collection[str]) -> Iterator[Proposal]:
    """Core methods for the kind that nobody modelled: the same maths first, then the better backed."""
    others = [
        method
        for method in catalog.relieving(case.finding.kind)
        if method.id not in modelled and method.tier is Tier.CORE and against(method, case) is None
    ]
    others.sort(key=lambda method: (EQUIVALENCE_ORDER[method.equivalence], -len(published_gains(method))))
    for method in others[:MAX_LISTED]:
        yield _proposal(case, method)


def step_savers(case: Case, catalog: Catalog) -> Iterator[Proposal]:
    """Core methods that only save steps, the better backed first; for runs that are busy with the training itself."""
    if case.finding.kind not in _FULL_OF_WORK:
        return
    fitting = [
        method
        for method in catalog.relieving(Bottleneck.SAMPLE_EFFICIENCY)
        if only_saves_steps(method)
        and method.tier is Tier.CORE
        and method.equivalence is Equivalence.SEMANTIC
        and against(method, case) is None
    ]
    fitting.sort(key=lambda method: (bool(method.needs_met(case.report.setup).unknown), -_backing(method)))
    for method in fitting[:MAX_STEP_SAVERS]:
        yield Proposal(
            method=method.id,
            how=method.how.snippet or method.how.api or method.one_line,
            basis="it saves steps, not time per step: judge it on quality-against-cost curves with equal budgets, "
            "never on step time",
            effort=Effort.REWORK,
            fit=Fit.LISTED,
        )


def _backing(method: Method) -> int:
    """Rows that report a gain, less those that report none."""
    return sum(
        1 if (row.gain or 0) > 1 and not row.is_negative else -row.is_negative for row in method.evidence
    )


def _proposal(case: Case, method: Method) -> Proposal:
    gains = published_gains(method)
    published = f"{len(gains)} published ratio{'s' if len(gains) != 1 else ''}"
    if not gains:
        basis = "no measured ratio is known to us; only the bound holds"
    elif _is_measured(case):
        basis = (
            f"{published} on other data sets; this run's own loader was measured, and only the bound holds"
        )
    elif case.on_gpu:
        basis = f"{published} on other models and machines, applied to this finding's share of the step"
    else:
        basis = f"{published}, from GPUs, which say nothing on this run; only the bound holds"
    return Proposal(
        method=method.id,
        how=method.how.snippet or method.how.api or method.one_line,
        basis=basis,
        effort=Effort.LINES if method.how.knob is not None else Effort.REWORK,
        estimate=estimate_from_evidence(method, case.step_s, case.exposed_s)
        if case.on_gpu and not _is_measured(case)
        else None,
        fit=Fit.LISTED,
    )


def _is_measured(case: Case) -> bool:
    """Whether the run's own costs are known, beside which other people's ratios say little."""
    return case.finding.kind is Kind.DATA_LOADING and case.report.loader is not None


def _unmet(method: Method, setup: Mapping[str, object]) -> str | None:
    if setup.get("device.kind") in _NO_CAPABILITY and any(
        predicate.field.name == "device.capability" for predicate in method.predicates
    ):
        if method.id == "amp-bf16" and setup.get("cpu.bf16") is True:
            return "this CPU has bf16 units, but trainrx has no model of their gain: `trainrx try` can measure it"
        return f"needs a GPU, and this run computes on {setup['device.kind']}"
    failed = method.needs_met(setup).failed
    if not failed:
        return None
    return " and ".join(f"needs {one}, and here it is {_told(setup[one.field.name])}" for one in failed)


def _told(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(sorted(map(str, value))) or "nothing"
    return str(value)


def ruled_out(case: Case, catalog: Catalog, seen: Collection[str]) -> Iterator[RuledOut]:
    """The core methods for a kind that this run rules out and that no remedy named."""
    for method in catalog.relieving(case.finding.kind):
        if method.tier is not Tier.CORE or method.id in seen:
            continue
        reason = against(method, case)
        if reason is not None:
            yield RuledOut(method=method.id, title=method.name, finding=case.finding.kind, reason=reason)

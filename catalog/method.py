"""The schema of one method file: identity, placements, effect, conditions, how, proof and evidence.

Unknown keys, wrong types and words outside the vocabulary are refused. A missing optional value is None,
which readers are told as "not stated". What follows from other fields (scope, whether a method can be
tried) is derived, not stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
    model_validator,
)

from .errors import CatalogError, PredicateError
from .predicates import Needs, Predicate, Truth, evaluate_all, parse_predicate
from .taxonomy import SUBCATEGORIES, SUBCOMPONENTS
from .vocabulary import (
    Action,
    Bottleneck,
    Category,
    Component,
    Direction,
    Equivalence,
    GainKind,
    Grade,
    Metric,
    PlacedBy,
    Risk,
    Scope,
    Subcategory,
    Subcomponent,
    Sureness,
    Tier,
)

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
Text = Annotated[str, StringConstraints(min_length=1, max_length=600, strip_whitespace=True)]
OneLine = Annotated[str, StringConstraints(min_length=1, max_length=140, strip_whitespace=True)]
Knob = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)*$", max_length=64)]
ArxivId = Annotated[str, StringConstraints(pattern=r"^(\d{4}\.\d{4,5}|[a-z-]+(\.[A-Z]{2})?/\d{7})$")]
Year = Annotated[int, Field(strict=True, ge=1900, le=2100)]


class Part(BaseModel):
    """Base of all parts: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Reference(Part):
    """Where the method comes from: a paper, or the documented feature of a library."""

    title: Text
    authors: Text | None = None
    year: Year | None = None
    arxiv: ArxivId | None = None
    docs: Text | None = None

    @property
    def url(self) -> str | None:
        """The paper's page, where an arXiv id is known."""
        return None if self.arxiv is None else f"https://arxiv.org/abs/{self.arxiv}"


class Placement(Part):
    """The method's place in both taxonomies. ``action`` is None where the learning is left alone."""

    component: Component
    subcomponent: Subcomponent
    action: Action | None = None
    category: Category
    subcategory: Subcategory

    @model_validator(mode="after")
    def _belong_together(self) -> Placement:
        if self.subcomponent not in SUBCOMPONENTS[self.component]:
            raise ValueError(f"'{self.subcomponent}' is no subcomponent of '{self.component}'")
        if self.subcategory not in SUBCATEGORIES[self.category]:
            raise ValueError(f"'{self.subcategory}' is no subcategory of '{self.category}'")
        if self.action is None and self.component is not Component.SYSTEM:
            raise ValueError("an action is missing: only system methods may have none")
        return self


class How(Part):
    """How to apply it. ``knob`` names the switch that trainrx can set from outside, if there is one."""

    api: Text | None = None
    snippet: Text | None = None
    knob: Knob | None = None


class Expectation(Part):
    """What must move, and by how much of its former value, for the method to count as working."""

    metric: Metric
    direction: Direction
    at_least: Annotated[float, Field(gt=0, le=1)] = Field(description="relative change, 0.2 is 20 %")


class Evidence(Part):
    """A published or measured effect. ``gain`` is above 1 for better, None without a like-for-like ratio."""

    gain: Annotated[float, Field(gt=0, le=1000)] | None = None
    gain_kind: GainKind
    quality_effect: Text | None = None
    task: Text | None = None
    model: Text | None = None
    hardware: Text | None = None
    baseline: Text | None = None
    repeats: Annotated[int, Field(strict=True, ge=1)] | None = None
    source: Text
    year: Year | None = None
    grade: Grade
    reported: Text

    @property
    def is_negative(self) -> bool:
        """The promised gain did not come, or its price ate it."""
        return self.grade is Grade.N

    @property
    def is_price(self) -> bool:
        """A known price of a method that pays in another kind, such as throughput for memory."""
        return not self.is_negative and self.gain is not None and self.gain < 1


class Sure(Part):
    """How sure the bibliography is, and who placed the method in the second taxonomy."""

    bibliography: Sureness
    placement: PlacedBy = PlacedBy.OURS


class Method(Part):
    """One method of the catalog, as its file states it."""

    id: Slug
    name: Text
    aliases: tuple[Text, ...] = ()
    one_line: OneLine
    reference: Reference
    placement: Placement
    relieves: Annotated[tuple[Bottleneck, ...], Field(min_length=1)]
    lengthens: tuple[Bottleneck, ...] = ()
    equivalence: Equivalence
    needs: tuple[str, ...] = ()
    conflicts_with: tuple[Slug, ...] = ()
    synergises_with: tuple[Slug, ...] = ()
    how: How = How()
    quality_risk: Risk
    tier: Tier
    sure: Sure
    expects: Annotated[tuple[Expectation, ...], Field(min_length=1)]
    evidence: tuple[Evidence, ...] = ()
    no_evidence: Text | None = Field(default=None, description="said where a core method has no row")

    @field_validator("needs")
    @classmethod
    def _readable(cls, needs: tuple[str, ...]) -> tuple[str, ...]:
        try:
            tuple(map(parse_predicate, needs))
        except PredicateError as error:
            raise ValueError(str(error)) from error
        return needs

    @model_validator(mode="after")
    def _hold_together(self) -> Method:
        faults = tuple(_faults(self))
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def scope(self) -> Scope:
        """Implementation for system methods and whatever is not semantic; algorithmic for the rest."""
        is_system = self.placement.component is Component.SYSTEM
        is_semantic = self.equivalence is Equivalence.SEMANTIC
        return Scope.ALGORITHMIC if is_semantic and not is_system else Scope.IMPLEMENTATION

    @property
    def auto_trial(self) -> bool:
        """Whether trainrx can try it on an unedited script."""
        return self.how.knob is not None

    @property
    def negatives(self) -> tuple[Evidence, ...]:
        """Rows in which the promised gain did not come."""
        return tuple(row for row in self.evidence if row.is_negative)

    @property
    def best_grade(self) -> Grade | None:
        """The best grade among rows that claim a gain; None where there is none."""
        grades = {row.grade for row in self.evidence}
        return next((grade for grade in (Grade.A, Grade.B, Grade.C) if grade in grades), None)

    @cached_property
    def predicates(self) -> tuple[Predicate, ...]:
        """The conditions in ``needs``, read."""
        return tuple(parse_predicate(text) for text in self.needs)

    def needs_met(self, setup: Mapping[str, object]) -> Needs:
        """Whether a setup (field name → value, see `fields.SETUP_FIELDS`) meets the conditions."""
        return evaluate_all(self.predicates, setup)

    def serves_domain(self, domain: str) -> bool:
        """Whether the conditions leave the domain open or allow it."""
        asked = [predicate for predicate in self.predicates if predicate.field.name == "task.domain"]
        return evaluate_all(asked, {"task.domain": domain}).truth is not Truth.FALSE


def _faults(method: Method) -> list[str]:
    faults: list[str] = []
    both = sorted(set(method.relieves) & set(method.lengthens))
    if both:
        faults.append(f"'{both[0]}' stands in relieves and in lengthens")
    if method.placement.action is None and method.equivalence is Equivalence.SEMANTIC:
        faults.append("a method that changes what is learned needs an action")
    if method.id in {*method.conflicts_with, *method.synergises_with}:
        faults.append("a method cannot conflict or synergise with itself")
    if method.tier is Tier.CORE and not method.evidence and method.no_evidence is None:
        faults.append("a core method needs an evidence row, or no_evidence saying that none is known")
    if method.evidence and method.no_evidence is not None:
        faults.append("no_evidence stands beside evidence rows")
    for name in ("aliases", "relieves", "lengthens", "needs", "conflicts_with", "synergises_with"):
        faults.extend(_repeated(name, getattr(method, name)))
    return faults


def _repeated(name: str, values: tuple[str, ...]) -> list[str]:
    return [] if len(set(values)) == len(values) else [f"{name} names something twice"]


def method_from(data: object, *, file: str) -> Method:
    """A method from a file's data.

    Raises:
        CatalogError: names the file, the first field that is wrong, and why.
    """
    if not isinstance(data, dict):
        raise CatalogError("expected a mapping of fields", file=file)
    try:
        return Method.model_validate(data)
    except ValidationError as error:
        raise _clear(error, file) from error


def _clear(error: ValidationError, file: str) -> CatalogError:
    first = error.errors(include_url=False)[0]
    field = ".".join(str(step) for step in first["loc"])
    more = error.error_count() - 1
    tail = f" (and {more} more)" if more else ""
    return CatalogError(f"{_reason(dict(first))}{tail}", file=file, field=field)


def _reason(detail: Mapping[str, Any]) -> str:
    message = re.sub(r"^Value error, ", "", str(detail["msg"]))
    given = detail.get("input")
    if detail["type"] in {"missing", "value_error"} or not isinstance(given, str | int | float):
        return message
    return f"{message}, but it reads {str(given)[:60]!r}"

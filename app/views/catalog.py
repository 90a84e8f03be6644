"""What the catalog's commands and page show: the chosen methods, the matrix, the card. No drawing, no
printing.

Both outputs take their words from here, so a method reads the same in the terminal, in JSON and in the
browser.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from ...catalog import (
    SETUP_FIELDS,
    Action,
    Bottleneck,
    Catalog,
    CatalogError,
    Category,
    Component,
    Equivalence,
    Evidence,
    Method,
    Subcategory,
    Subcomponent,
    Tier,
    load_catalog,
)
from ...catalog.coverage import Cell, Filling, cells, columns, crosswalk, groups, rows, thin_cells
from ...catalog.crosswalk import BORDER_CASES, CROSSWALK_WORDS
from ...catalog.registry import catalog_fingerprint
from ...catalog.statements import SPEEDUP, UPDATE, UPDATE_PARTS
from ...catalog.taxonomy import DEFINITIONS, SUBCATEGORIES, says
from ...catalog.vocabulary import PlacedBy
from ...catalog.wording import (
    NOT_STATED,
    RISK_MEANINGS,
    cell_words,
    evidence_words,
    expectation_sentence,
    gain_sentence,
    group_words,
    guard_sentence,
    placed_by_words,
    ratio_words,
    source_url,
    source_words,
    verdict_words,
)
from ...profiler.errors import InputError

LEARNING_LEFT_ALONE = "none"
"""How the action of a method that leaves learning alone is written in filters and links."""


def open_catalog(*own_folders: Path) -> Catalog:
    """The catalog with a user's own folders.

    Raises:
        InputError: a method file is wrong; one sentence with file, field and reason.
    """
    try:
        return load_catalog(*own_folders)
    except CatalogError as error:
        raise InputError(str(error)) from error


BadgeColor = Literal["gray", "green", "blue", "orange"]


def catalog_key() -> str:
    """Changes when a method file is added, removed or rewritten.

    Raises:
        InputError: a named folder is missing or holds too many files.
    """
    try:
        return catalog_fingerprint()
    except CatalogError as error:
        raise InputError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Choice:
    """Which methods to list; None means no wish. ``action`` may be "none" for no effect on what is learned."""

    text: str | None = None
    relieves: str | None = None
    component: str | None = None
    subcomponent: str | None = None
    action: str | None = None
    category: str | None = None
    subcategory: str | None = None
    domain: str | None = None
    equivalence: str | None = None
    tier: str | None = None
    knob: str | None = None
    tryable: bool | None = None

    @classmethod
    def of_labels(cls, *, part: str | None, group: str | None, **wishes: Any) -> Choice:
        """A choice whose part ("data.training-data") and group ("budgeted / …") are given as labels."""
        component, _, subcomponent = (part or "").partition(".")
        category, _, subcategory = (group or "").partition(" / ")
        return cls(
            component=component or None,
            subcomponent=subcomponent or None,
            category=category or None,
            subcategory=subcategory or None,
            **wishes,
        )

    def as_dict(self) -> dict[str, str | bool]:
        """The wishes that were made."""
        stated = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in stated.items() if value is not None}


def chosen(catalog: Catalog, choice: Choice) -> tuple[Method, ...]:
    """The methods that meet every wish, in the catalog's order (or the search's, where there is a text)."""
    found = catalog.search(choice.text) if choice.text else catalog.where(lambda _: True)
    tests = _tests(choice)
    return tuple(method for method in found if all(test(method) for test in tests))


def _tests(choice: Choice) -> list[Callable[[Method], bool]]:
    return [_test(name, value) for name, value in choice.as_dict().items() if name != "text"]


def _test(name: str, value: str | bool) -> Callable[[Method], bool]:
    match name:
        case "relieves":
            return lambda method: value in method.relieves
        case "domain":
            return lambda method: method.serves_domain(str(value))
        case "equivalence" | "tier":
            return lambda method: getattr(method, name) == value
        case "knob":
            return lambda method: method.how.knob is not None and str(value) in method.how.knob
        case "tryable":
            return lambda method: method.auto_trial is value
        case "action":
            return lambda method: (method.placement.action or LEARNING_LEFT_ALONE) == value
        case _:
            return lambda method: getattr(method.placement, name) == value


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One evidence row as it is shown: never the ratio without its task, hardware, grade and source."""

    verdict: str
    ratio: str
    task: str
    model: str
    hardware: str
    baseline: str
    quality: str
    reported: str
    repeats: str
    grade: str
    source: str
    url: str | None
    claim: str


@dataclass(frozen=True, slots=True)
class Card:
    """A method as it is shown: words only."""

    id: str
    title: str
    one_line: str
    also: tuple[str, ...]
    tier: str
    cell: str
    group: str
    placed_by: str
    relieves: tuple[str, ...]
    lengthens: tuple[str, ...]
    guard: str
    risk: str
    risk_words: str
    needs: tuple[str, ...]
    conflicts: tuple[str, ...]
    synergies: tuple[str, ...]
    api: str | None
    snippet: str | None
    knob: str | None
    expects: tuple[str, ...]
    reference: str
    reference_url: str | None
    bibliography: str
    backing: str
    evidence: tuple[EvidenceLine, ...]

    @property
    def badges(self) -> tuple[tuple[str, BadgeColor], ...]:
        """Short marks with a colour: the tier, whether trainrx can try it, the risk."""
        tried: tuple[tuple[str, BadgeColor], ...] = ((f"knob {self.knob}", "blue"),) if self.knob else ()
        risk: BadgeColor = "gray" if self.risk in {"none", "low"} else "orange"
        return (
            (self.id, "gray"),
            (self.tier, "green" if self.tier == "core" else "gray"),
            *tried,
            (f"quality risk: {self.risk}", risk),
        )

    @property
    def conditions(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What it acts on, needs and must show, under headings; empty ones are left out."""
        return _headed(
            ("Relieves", (", ".join(self.relieves),)),
            ("Lengthens", (", ".join(self.lengthens),)),
            ("Needs", self.needs),
            ("Works if", self.expects),
            ("Learning", (self.guard,)),
            ("Quality risk", (f"{self.risk}: {self.risk_words}",)),
        )

    @property
    def places(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Where it stands in both taxonomies and under which other names, under headings."""
        return _headed(
            ("Place", (self.cell, self.group, self.placed_by)),
            ("Also known as", (", ".join(self.also),)),
        )

    def evidence_table(self) -> list[dict[str, str | None]]:
        """The evidence as rows of a table."""
        return [
            {
                "verdict": line.verdict,
                "grade": line.grade,
                "reported": line.reported,
                "ratio": line.ratio,
                "task": line.task,
                "model": line.model,
                "hardware": line.hardware,
                "against": line.baseline,
                "source": line.source,
                "open": line.url,
                "quality": line.quality,
                "repeats": line.repeats,
            }
            for line in self.evidence
        ]


def _headed(*headings: tuple[str, tuple[str, ...]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, values) for name, values in headings if any(values))


def card(catalog: Catalog, method: Method) -> Card:
    """The card of a method: negatives first among its evidence."""
    ordered = sorted(method.evidence, key=lambda row: (not row.is_negative, row.grade))
    return Card(
        id=method.id,
        title=method.name,
        one_line=method.one_line,
        also=method.aliases,
        tier=str(method.tier),
        cell=cell_words(method.placement),
        group=group_words(method.placement),
        placed_by=placed_by_words(method),
        relieves=tuple(map(str, method.relieves)),
        lengthens=tuple(map(str, method.lengthens)),
        guard=guard_sentence(method),
        risk=str(method.quality_risk),
        risk_words=RISK_MEANINGS[method.quality_risk],
        needs=method.needs,
        conflicts=catalog.conflicts[method.id],
        synergies=catalog.synergies[method.id],
        api=method.how.api,
        snippet=method.how.snippet,
        knob=method.how.knob,
        expects=tuple(map(expectation_sentence, method.expects)),
        reference=_reference(method),
        reference_url=method.reference.url,
        bibliography=str(method.sure.bibliography),
        backing=evidence_words(method),
        evidence=tuple(map(evidence_line, ordered)),
    )


def evidence_line(row: Evidence) -> EvidenceLine:
    """An evidence row in words; what its source does not say reads "not stated"."""
    return EvidenceLine(
        verdict=verdict_words(row),
        ratio=ratio_words(row),
        task=row.task or NOT_STATED,
        model=row.model or NOT_STATED,
        hardware=row.hardware or NOT_STATED,
        baseline=row.baseline or NOT_STATED,
        quality=row.quality_effect or NOT_STATED,
        reported=row.reported,
        repeats=NOT_STATED if row.repeats is None else str(row.repeats),
        grade=str(row.grade),
        source=source_words(row),
        url=source_url(row.source),
        claim=gain_sentence(row),
    )


def _reference(method: Method) -> str:
    reference = method.reference
    parts = (
        reference.authors,
        reference.title,
        None if reference.year is None else str(reference.year),
        None if reference.arxiv is None else f"arXiv {reference.arxiv}",
    )
    return ". ".join(part.rstrip(".") for part in parts if part)


def listed(catalog: Catalog, methods: tuple[Method, ...], choice: Choice) -> dict[str, object]:
    """The list as a JSON document: every method in full, in both taxonomies, with its evidence."""
    return {
        "count": len(methods),
        "evidence_rows": sum(len(method.evidence) for method in methods),
        "choice": choice.as_dict(),
        "methods": [method_document(catalog, method) for method in methods],
    }


def method_document(catalog: Catalog, method: Method) -> dict[str, object]:
    """A method as JSON: its file's fields, what follows from them, and relations read both ways."""
    document: dict[str, object] = method.model_dump(mode="json")
    document["scope"] = str(method.scope)
    document["auto_trial"] = method.auto_trial
    document["conflicts_with"] = list(catalog.conflicts[method.id])
    document["synergises_with"] = list(catalog.synergies[method.id])
    document["expects_words"] = [expectation_sentence(expected) for expected in method.expects]
    document["guard"] = guard_sentence(method)
    return document


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A cell of the matrix as it is shown; ``methods`` None stands where there is no such cell."""

    component: str
    subcomponent: str
    action: str
    methods: int | None
    core: int
    note: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """The first taxonomy as a table: row labels, column labels, and cells row by row."""

    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    cells: tuple[tuple[MatrixCell, ...], ...]


def matrix(catalog: Catalog) -> Matrix:
    """The first taxonomy's matrix with the system rows below."""
    known = {(cell.component, cell.subcomponent, cell.action): cell for cell in cells(catalog)}
    table = tuple(
        tuple(
            _matrix_cell(component, part, action, known.get((component, part, action)))
            for action in columns()
        )
        for component, part in rows()
    )
    return Matrix(
        tuple(f"{component}.{part}" for component, part in rows()),
        tuple(action_word(action) for action in columns()),
        table,
    )


def _matrix_cell(
    component: Component, part: Subcomponent, action: Action | None, cell: Cell | None
) -> MatrixCell:
    outside = cell is None or cell.filling is Filling.OUTSIDE
    return MatrixCell(
        component=str(component),
        subcomponent=str(part),
        action=action_word(action),
        methods=None if cell is None or outside else cell.methods,
        core=0 if cell is None else cell.core,
        note=Filling.OUTSIDE.value if cell is None else cell.filling.value,
    )


def action_word(action: Action | None) -> str:
    """An action as filters and links write it."""
    return LEARNING_LEFT_ALONE if action is None else str(action)


def coverage_document(catalog: Catalog) -> dict[str, object]:
    """Both matrices and the crosswalk as JSON; thin and empty cells carry what that means."""
    return {
        "first_taxonomy": [
            {
                "component": str(cell.component),
                "subcomponent": str(cell.subcomponent),
                "action": None if cell.action is None else str(cell.action),
                "methods": cell.methods,
                "core": cell.core,
                "note": cell.filling.value or None,
            }
            for cell in cells(catalog)
        ],
        "second_taxonomy": [
            {
                "category": str(group.category),
                "subcategory": str(group.subcategory),
                "methods": group.methods,
                "core": group.core,
                "evidence_rows": group.evidence_rows,
                "note": group.filling.value or None,
            }
            for group in groups(catalog)
        ],
        "crosswalk": [
            {
                "category": str(crossing.category),
                "subcategory": str(crossing.subcategory),
                "component": str(crossing.component),
                "subcomponent": str(crossing.subcomponent),
                "methods": crossing.methods,
            }
            for crossing in crosswalk(catalog)
        ],
    }


def totals_sentence(catalog: Catalog) -> str:
    """What the catalog holds, in one sentence."""
    core = sum(method.tier is Tier.CORE for method in catalog.methods.values())
    negative = sum(row.is_negative for _, row in catalog.evidence)
    rows = len(catalog.evidence)
    return f"{len(catalog)} methods ({core} core), {rows} evidence rows, {negative} of them negative"


def thin_sentence(catalog: Catalog) -> str:
    """The cells of the first taxonomy's grid with few methods, as few known to us."""
    named = ", ".join(
        f"{cell.component}.{cell.subcomponent} × {cell.action} ({cell.methods})"
        for cell in thin_cells(catalog)
    )
    return f"Few methods known to us (not a finding of a survey): {named}" if named else ""


def part_labels() -> tuple[str, ...]:
    """The rows of the first taxonomy's matrix."""
    return tuple(f"{component}.{part}" for component, part in rows())


def group_labels() -> tuple[str, ...]:
    """The groups of the second taxonomy."""
    return tuple(f"{category} / {group}" for category, some in SUBCATEGORIES.items() for group in some)


def list_table(methods: tuple[Method, ...]) -> list[dict[str, object]]:
    """The list as rows of a table."""
    return [
        {
            "method": method.name,
            "what it does": method.one_line,
            "relieves": list(map(str, method.relieves)),
            "learning": str(method.equivalence),
            "evidence": grades_word(method),
            "risk": str(method.quality_risk),
            "tier": str(method.tier),
            "knob": method.how.knob or "",
        }
        for method in methods
    ]


def grades_word(method: Method) -> str:
    """Which grades of evidence a method has, such as "ABN"."""
    return "".join(sorted({str(row.grade) for row in method.evidence})) or "none known"


@dataclass(frozen=True, slots=True)
class StatementText:
    """A formal statement as it is shown."""

    title: str
    formula: str
    words: str
    points: tuple[str, ...]
    source: str


def statements() -> tuple[StatementText, ...]:
    """The two formal statements; the update's parts stand with their categories."""
    parts = tuple(
        f"{part.symbol} → {part.category}: {part.words}{_pairing(part.basis)}" for part in UPDATE_PARTS
    )
    return (
        StatementText(SPEEDUP.title, SPEEDUP.formula, SPEEDUP.words, (), says(SPEEDUP)),
        StatementText(UPDATE.title, UPDATE.formula, UPDATE.words, parts, says(UPDATE)),
    )


def _pairing(basis: PlacedBy) -> str:
    return "" if basis is PlacedBy.SURVEY else " (our pairing)"


def crosswalk_points() -> tuple[str, ...]:
    """How the taxonomies answer to each other, in words, and the border cases."""
    return (*(f"{category}: {words}" for category, words in CROSSWALK_WORDS.items()), *BORDER_CASES)


def definitions_table() -> list[dict[str, str]]:
    """Every word of both taxonomies with its meaning and who says so."""
    return [
        {
            "kind": type(definition.term).__name__.lower(),
            "word": str(definition.term),
            "meaning": definition.meaning,
            "basis": says(definition),
        }
        for definition in DEFINITIONS
    ]


def crosswalk_table(catalog: Catalog) -> list[dict[str, object]]:
    """How many methods stand where the two taxonomies meet."""
    return [
        {
            "second taxonomy": f"{crossing.category} / {crossing.subcategory}",
            "first taxonomy": f"{crossing.component}.{crossing.subcomponent}",
            "methods": crossing.methods,
        }
        for crossing in crosswalk(catalog)
    ]


_WORDS: dict[str, tuple[str, ...]] = {
    "relieves": tuple(map(str, Bottleneck)),
    "component": tuple(map(str, Component)),
    "subcomponent": tuple(map(str, Subcomponent)),
    "action": tuple(action_word(action) for action in columns()),
    "category": tuple(map(str, Category)),
    "subcategory": tuple(map(str, Subcategory)),
    "domain": SETUP_FIELDS["task.domain"].words,
    "equivalence": tuple(map(str, Equivalence)),
    "tier": tuple(map(str, Tier)),
}


def allowed_words(wish: str) -> tuple[str, ...]:
    """The words that a wish of `Choice` may take; empty where any text will do."""
    return _WORDS.get(wish, ())

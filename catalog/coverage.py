"""How many methods each cell of the two taxonomies holds, and where they meet.

A thin or empty cell says that few methods are *known to us*. It is never a finding of a survey: neither
survey's own placement of its references could be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from .method import Method
from .registry import Catalog
from .taxonomy import SUBCATEGORIES, SUBCOMPONENTS
from .vocabulary import Action, Category, Component, Subcategory, Subcomponent, Tier

THIN_AT_MOST = 3


class Filling(Enum):
    """How well a cell is filled; OUTSIDE is a system cell, which the first taxonomy does not ask for."""

    EMPTY = "no method known to us"
    THIN = "few methods known to us"
    FILLED = ""
    OUTSIDE = "outside the first taxonomy's grid"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the first taxonomy; action None holds the methods that leave learning alone."""

    component: Component
    subcomponent: Subcomponent
    action: Action | None
    methods: int
    core: int

    @property
    def filling(self) -> Filling:
        """Empty, thin, filled, or outside the grid."""
        if self.component is Component.SYSTEM:
            return Filling.FILLED if self.methods else Filling.OUTSIDE
        return _filling(self.methods)


@dataclass(frozen=True, slots=True)
class Group:
    """One subcategory of the second taxonomy."""

    category: Category
    subcategory: Subcategory
    methods: int
    core: int
    evidence_rows: int

    @property
    def filling(self) -> Filling:
        """Empty, thin or filled."""
        return _filling(self.methods)


@dataclass(frozen=True, slots=True)
class Crossing:
    """How many methods stand in a subcategory of the second and a subcomponent of the first taxonomy."""

    category: Category
    subcategory: Subcategory
    component: Component
    subcomponent: Subcomponent
    methods: int


def _filling(methods: int) -> Filling:
    if methods == 0:
        return Filling.EMPTY
    return Filling.THIN if methods <= THIN_AT_MOST else Filling.FILLED


def rows() -> tuple[tuple[Component, Subcomponent], ...]:
    """The rows of the first taxonomy's matrix, algorithmic ones first."""
    return tuple((component, sub) for component, subs in SUBCOMPONENTS.items() for sub in subs)


def columns() -> tuple[Action | None, ...]:
    """The columns of the first taxonomy's matrix; None is "no effect on what is learned"."""
    return (*Action, None)


def cells(catalog: Catalog) -> tuple[Cell, ...]:
    """The first taxonomy's matrix, row by row: 30 algorithmic cells, and the system rows.

    The column "no effect on what is learned" exists for system rows only, since every other method has an action.
    """
    all_of, core_of = _counts(catalog)
    return tuple(
        Cell(component, sub, action, all_of[component, sub, action], core_of[component, sub, action])
        for component, sub in rows()
        for action in columns()
        if action is not None or component is Component.SYSTEM
    )


def _counts(catalog: Catalog) -> tuple[Counter[_Place], Counter[_Place]]:
    every = catalog.methods.values()
    return Counter(map(_place, every)), Counter(map(_place, _core(every)))


_Place = tuple[Component, Subcomponent, Action | None]


def _place(method: Method) -> _Place:
    placement = method.placement
    return placement.component, placement.subcomponent, placement.action


def _core(methods: Iterable[Method]) -> list[Method]:
    return [method for method in methods if method.tier is Tier.CORE]


def groups(catalog: Catalog) -> tuple[Group, ...]:
    """The second taxonomy: its categories and subcategories with counts."""
    return tuple(_group(catalog, category, sub) for category, subs in SUBCATEGORIES.items() for sub in subs)


def _group(catalog: Catalog, category: Category, subcategory: Subcategory) -> Group:
    methods = catalog.group(category, subcategory)
    evidence_rows = sum(len(method.evidence) for method in methods)
    return Group(category, subcategory, len(methods), len(_core(methods)), evidence_rows)


def crosswalk(catalog: Catalog) -> tuple[Crossing, ...]:
    """Where the two taxonomies meet, in the second one's order; only crossings that hold a method."""
    counts = Counter(
        (
            method.placement.category,
            method.placement.subcategory,
            method.placement.component,
            method.placement.subcomponent,
        )
        for method in catalog.methods.values()
    )
    return tuple(
        Crossing(category, group, component, part, counts[category, group, component, part])
        for category, subcategories in SUBCATEGORIES.items()
        for group in subcategories
        for component, part in rows()
        if counts[category, group, component, part]
    )


def thin_cells(catalog: Catalog) -> tuple[Cell, ...]:
    """The algorithmic cells that are empty or thin, fewest first."""
    found = [cell for cell in cells(catalog) if cell.filling in (Filling.EMPTY, Filling.THIN)]
    return tuple(sorted(found, key=lambda cell: cell.methods))

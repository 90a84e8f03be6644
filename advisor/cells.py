"""Which cells of the first taxonomy can relieve a bottleneck, in the order to try them, and which to avoid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from ..catalog import Action, Bottleneck, Catalog, Component, Method, Subcomponent, Truth
from ..profiler.report import CellAdvice
from ..profiler.vocabulary import Kind

MAX_METHODS = 3
MAX_CELLS = 8
MAX_AVOIDED = 3
_COMPONENTS = (Component.SYSTEM, Component.FUNCTION, Component.DATA, Component.OPTIMIZATION)
_ACTIONS: tuple[Action | None, ...] = (
    None, Action.REMOVE, Action.RESTRICT, Action.REORDER, Action.REPLACE, Action.RETROFIT,
)  # fmt: skip
Place = tuple[Component, Subcomponent, Action | None]


def cell_advice(kind: Kind, catalog: Catalog, setup: Mapping[str, object]) -> list[CellAdvice]:
    """Cells with methods that relieve the kind and are not excluded here; then cells that make it worse.

    Engineering comes first, because it leaves what is learned alone; then function, data and optimization, each by
    action.
    """
    bottleneck = Bottleneck(kind.value)
    helping = _by_cell(
        method for method in catalog.relieving(bottleneck) if method.needs_met(setup).truth is not Truth.FALSE
    )
    harming = _by_cell(method for method in catalog.methods.values() if bottleneck in method.lengthens)
    ordered = sorted(helping.items(), key=lambda item: _position(item[0]))
    avoided = sorted(harming.items(), key=lambda item: -len(item[1]))
    return [_advice(kind, place, methods, avoid=False) for place, methods in ordered[:MAX_CELLS]] + [
        _advice(kind, place, methods, avoid=True) for place, methods in avoided[:MAX_AVOIDED]
    ]


def _by_cell(methods: Iterable[Method]) -> dict[Place, list[Method]]:
    cells: defaultdict[Place, list[Method]] = defaultdict(list)
    for method in methods:
        placement = method.placement
        cells[(placement.component, placement.subcomponent, placement.action)].append(method)
    return dict(cells)


def _position(place: Place) -> tuple[int, int, str]:
    component, subcomponent, action = place
    return _COMPONENTS.index(component), _ACTIONS.index(action), str(subcomponent)


def _advice(kind: Kind, place: Place, methods: list[Method], *, avoid: bool) -> CellAdvice:
    component, subcomponent, action = place
    count = f"{len(methods)} method{'s' if len(methods) != 1 else ''}"
    return CellAdvice(
        finding=kind,
        component=str(component),
        subcomponent=str(subcomponent),
        action=None if action is None else str(action),
        methods=[method.id for method in methods[:MAX_METHODS]],
        avoid=avoid,
        reason=f"{count} known to us {'lengthen' if avoid else 'relieve'}{'s' if len(methods) == 1 else ''} {kind}",
    )

"""Which cells of the first taxonomy can relieve a bottleneck, in the order to try them, and which to avoid.

A reader sees the whole space: engineering first, because it leaves what is learned alone; then what removes, restricts,
reorders, replaces or retrofits a part of the function, the data and the optimization, each with methods of it; last the
cells that save steps, which no step time shows; and the cells whose methods make this very bottleneck worse.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..catalog import Action, Bottleneck, Catalog, Component, Equivalence, Method, Subcomponent, Tier, Truth
from ..catalog.taxonomy import SUBCOMPONENTS
from ..profiler.report import CellAdvice, CellsLeft
from ..profiler.vocabulary import Kind
from .ranking import only_saves_steps

MAX_METHODS = 3
#: So many cells of engineering, and so many of each of function, data and optimization, are shown for a finding.
MAX_ENGINEERING, MAX_OF_COMPONENT = 5, 3
MAX_AVOIDED = 3
_COMPONENTS = (Component.SYSTEM, Component.FUNCTION, Component.DATA, Component.OPTIMIZATION)
_ACTIONS: tuple[Action | None, ...] = (
    None, Action.REMOVE, Action.RESTRICT, Action.REORDER, Action.REPLACE, Action.RETROFIT,
)  # fmt: skip
#: The words for what is done to a part.
_VERBS: Mapping[Action, str] = {
    Action.REMOVE: "remove some of it",
    Action.RESTRICT: "restrict it",
    Action.REORDER: "reorder it",
    Action.REPLACE: "replace it",
    Action.RETROFIT: "add to it",
}
#: Engineering that works on a kind's own ground comes before engineering that helps it in passing.
_OWN_GROUND: Mapping[Kind, tuple[Subcomponent, ...]] = {
    Kind.DATA_LOADING: (Subcomponent.INPUT_PIPELINE,),
    Kind.H2D_TRANSFER: (Subcomponent.HOST_TO_DEVICE, Subcomponent.INPUT_PIPELINE),
    Kind.COMPUTE: (Subcomponent.PRECISION, Subcomponent.KERNELS, Subcomponent.COMPILATION),
    Kind.LAUNCH_OVERHEAD: (Subcomponent.LAUNCH, Subcomponent.COMPILATION, Subcomponent.OPTIMIZER_EXECUTION),
    Kind.HOST_SYNC: (Subcomponent.LAUNCH, Subcomponent.SCHEDULING, Subcomponent.HOST_TO_DEVICE),
    Kind.HOST_PYTHON: (Subcomponent.SCHEDULING, Subcomponent.LAUNCH),
    Kind.OPTIMIZER_STEP: (Subcomponent.OPTIMIZER_EXECUTION,),
    Kind.RECOMPILATION: (Subcomponent.COMPILATION, Subcomponent.KERNELS),
    Kind.CPU_THREADS: (Subcomponent.KERNELS, Subcomponent.LAUNCH, Subcomponent.INPUT_PIPELINE),
    Kind.MEMORY_BANDWIDTH: (Subcomponent.COMPILATION, Subcomponent.KERNELS, Subcomponent.PRECISION),
    Kind.MEMORY_CAPACITY: (Subcomponent.MEMORY,),
    Kind.COMMUNICATION: (Subcomponent.COMMUNICATION, Subcomponent.PARALLELISM),
    Kind.STRAGGLERS: (Subcomponent.SCHEDULING, Subcomponent.COMMUNICATION, Subcomponent.LAUNCH),
    Kind.CHECKPOINT_IO: (Subcomponent.CHECKPOINT_IO, Subcomponent.SCHEDULING),
    Kind.EVALUATION: (Subcomponent.SCHEDULING, Subcomponent.LAUNCH),
    Kind.LOGGING: (Subcomponent.SCHEDULING, Subcomponent.LAUNCH),
    Kind.GARBAGE_COLLECTION: (Subcomponent.LAUNCH,),
    Kind.THROTTLING: (Subcomponent.SCHEDULING,),
}
#: Kinds whose time is the training's own work, so that fewer steps save it as surely as faster ones.
_OWN_WORK = (Kind.COMPUTE, Kind.MEMORY_BANDWIDTH, Kind.COMMUNICATION, Kind.LAUNCH_OVERHEAD)


@dataclass(frozen=True)
class Place:
    """A cell of the first taxonomy; action None leaves what is learned alone."""

    component: Component
    subcomponent: Subcomponent
    action: Action | None


def cell_advice(kind: Kind, catalog: Catalog, setup: Mapping[str, object]) -> list[CellAdvice]:
    """Cells that relieve the kind here, in the order to try them; a cell that saves steps; cells to avoid."""
    helping, harming = _helping(kind, catalog, setup), _harming(kind, catalog, setup)
    return [
        *_ordered(kind, helping),
        *_step_savers(kind, catalog, setup),
        *_avoided(kind, harming, helping),
    ]


def cells_left(kind: Kind, catalog: Catalog, setup: Mapping[str, object]) -> list[CellsLeft]:
    """How many more cells relieve the kind here than `cell_advice` gives, by component; and how many are to avoid."""
    helping, harming = _helping(kind, catalog, setup), _harming(kind, catalog, setup)
    beyond: dict[str | None, int] = {
        str(component): sum(place.component is component for place in helping) - _most(component)
        for component in _COMPONENTS
    }
    beyond[None] = len(harming) - MAX_AVOIDED
    return [
        CellsLeft(finding=kind, component=component, cells=cells)
        for component, cells in beyond.items()
        if cells > 0
    ]


def _helping(kind: Kind, catalog: Catalog, setup: Mapping[str, object]) -> dict[Place, list[Method]]:
    return _by_cell(_possible(catalog.relieving(Bottleneck(kind.value)), setup))


def _harming(kind: Kind, catalog: Catalog, setup: Mapping[str, object]) -> dict[Place, list[Method]]:
    return _by_cell(_possible(_lengthening(catalog, Bottleneck(kind.value)), setup))


def _lengthening(catalog: Catalog, bottleneck: Bottleneck) -> tuple[Method, ...]:
    return catalog.where(lambda method: bottleneck in method.lengthens)


def _possible(methods: Iterable[Method], setup: Mapping[str, object]) -> list[Method]:
    return [method for method in methods if method.needs_met(setup).truth is not Truth.FALSE]


def _by_cell(methods: Iterable[Method]) -> dict[Place, list[Method]]:
    cells: defaultdict[Place, list[Method]] = defaultdict(list)
    for method in methods:
        placement = method.placement
        cells[Place(placement.component, placement.subcomponent, placement.action)].append(method)
    return dict(cells)


def _ordered(kind: Kind, cells: Mapping[Place, list[Method]]) -> list[CellAdvice]:
    """The fullest cells of each component, in the order to try them."""
    chosen: list[tuple[Place, list[Method]]] = []
    for component in _COMPONENTS:
        of_it = [(place, methods) for place, methods in cells.items() if place.component is component]
        of_it.sort(
            key=lambda item: (
                _ground(kind, item[0]),
                -_core(item[1]),
                -len(item[1]),
                _position(kind, item[0]),
            )
        )
        chosen += of_it[: _most(component)]
    chosen.sort(key=lambda item: _position(kind, item[0]))
    return [_advice(kind, place, methods, _helps(kind, place, methods)) for place, methods in chosen]


def _most(component: Component) -> int:
    return MAX_ENGINEERING if component is Component.SYSTEM else MAX_OF_COMPONENT


def _core(methods: Iterable[Method]) -> int:
    return sum(method.tier is Tier.CORE for method in methods)


def _ground(kind: Kind, place: Place) -> int:
    own = _OWN_GROUND[kind]
    return own.index(place.subcomponent) if place.subcomponent in own else len(own)


def _position(kind: Kind, place: Place) -> tuple[int, int, int, int]:
    subcomponents = SUBCOMPONENTS[place.component]
    return (
        _COMPONENTS.index(place.component),
        _ground(kind, place) if place.component is Component.SYSTEM else 0,
        _ACTIONS.index(place.action),
        list(subcomponents).index(place.subcomponent),
    )


def _step_savers(kind: Kind, catalog: Catalog, setup: Mapping[str, object]) -> list[CellAdvice]:
    """The fullest cell of methods that only save steps, where the time is the training's own work."""
    if kind not in _OWN_WORK:
        return []
    others = _possible(filter(only_saves_steps, catalog.relieving(Bottleneck.SAMPLE_EFFICIENCY)), setup)
    cells = sorted(_by_cell(others).items(), key=lambda item: (-_core(item[1]), _position(kind, item[0])))
    reason = (
        "saves steps, not time per step: worth it only if the curve of quality against cost, at equal budgets and with "
        "a baseline tuned as hard, lies higher"
    )
    return [_advice(kind, place, methods, reason) for place, methods in cells[:1]]


def _avoided(
    kind: Kind, cells: Mapping[Place, list[Method]], helping: Mapping[Place, list[Method]]
) -> list[CellAdvice]:
    ordered = sorted(
        cells.items(), key=lambda item: (-_core(item[1]), -len(item[1]), _position(kind, item[0]))
    )
    return [
        _advice(kind, place, methods, _harms(kind, methods, but_helps=place in helping), avoid=True)
        for place, methods in ordered[:MAX_AVOIDED]
    ]


def _helps(kind: Kind, place: Place, methods: Sequence[Method]) -> str:
    count = f"{_counted(methods, 'relieves', 'relieve')} {_label(kind)}"
    if place.action is None:
        return f"engineering, which leaves what is learned alone: {count}"
    part = place.subcomponent.value.replace("-", " ")
    return f"{part}, {_VERBS[place.action]}: {count}; {_learning(methods)}"


def _learning(methods: Sequence[Method]) -> str:
    """What the cell's methods do to what is learned."""
    semantic = sum(method.equivalence is Equivalence.SEMANTIC for method in methods)
    if semantic == 0:
        return "they change rounding at most"
    some = "" if semantic == len(methods) else f"{semantic} of them "
    return f"{some}{'changes' if semantic == 1 else 'change'} what is learned: judge by quality against cost"


def _harms(kind: Kind, methods: Sequence[Method], *, but_helps: bool) -> str:
    gained = sorted({str(word) for method in methods for word in method.relieves} - {kind.value})
    paid = f", to gain in {', '.join(gained[:2])}" if gained else ""
    within = "of a cell that helps otherwise, " if but_helps else ""
    worse = f"{_counted(methods, 'makes', 'make')} {_label(kind)} worse"
    return f"{within}{worse}{paid}: it is what this run waits for already"


def _counted(methods: Sequence[Method], one: str, more: str) -> str:
    return f"{len(methods)} method{'' if len(methods) == 1 else 's'} known to us {one if len(methods) == 1 else more}"


def _label(kind: Kind) -> str:
    return kind.value.replace("-", " ")


def _advice(
    kind: Kind, place: Place, methods: Sequence[Method], reason: str, *, avoid: bool = False
) -> CellAdvice:
    return CellAdvice(
        finding=kind,
        component=str(place.component),
        subcomponent=str(place.subcomponent),
        action=None if place.action is None else str(place.action),
        methods=[method.id for method in methods[:MAX_METHODS]],
        methods_left=max(len(methods) - MAX_METHODS, 0),
        avoid=avoid,
        reason=reason,
    )

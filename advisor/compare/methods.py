"""Trainings put together as methods: every seed of a method is one curve of the same metric over the same cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...profiler.errors import InputError, UsageError
from ...profiler.ingest.metric_table import Column, MetricTable
from .costs import CostAxis, cost_column, known_axes, named_column
from .curves import F64, Curve, Direction, curve, qualities_at
from .labels import Label
from .metric_names import DataSplit, may_be_quality, split_of

#: Points of a drawn band.
BAND_POINTS = 200


@dataclass(frozen=True, eq=False)
class Source:
    """One metric file with whose it is; ``hardware`` is empty where the file tells none."""

    label: Label
    table: MetricTable
    hardware: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, eq=False)
class SeedRun:
    """One seed of a method; with ``ends_only`` each point is the end of a training of its own budget."""

    seed: int | None
    sources: tuple[Source, ...]
    curve: Curve
    ends_only: bool = False


@dataclass(frozen=True, eq=False)
class Method:
    """A method with the trainings that show it, by seed."""

    name: str
    runs: tuple[SeedRun, ...]

    @property
    def curves(self) -> list[Curve]:
        """The curve of each seed."""
        return [run.curve for run in self.runs]

    @property
    def sources(self) -> list[Source]:
        """All its files."""
        return [source for run in self.runs for source in run.sources]


@dataclass(frozen=True, eq=False)
class Band:
    """Median, least and greatest quality over the seeds of a method. Shapes (n,); None where a seed had broken."""

    cost: F64
    median: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


def shared_metrics(tables: Sequence[MetricTable]) -> list[str]:
    """The columns of all tables that may hold a quality, those on held-out data first."""
    first, *others = tables
    names = [
        name
        for name in first.columns
        if may_be_quality(name) and all(name in other.columns for other in others)
    ]
    rank = {DataSplit.HELD_OUT: 0, DataSplit.UNKNOWN: 1, DataSplit.TRAINING: 2}
    return sorted(names, key=lambda name: rank[split_of(name)])


def shared_axes(tables: Sequence[MetricTable]) -> list[CostAxis]:
    """The cost axes that all tables tell."""
    told = [set(known_axes(table)) for table in tables]
    return [axis for axis in CostAxis if all(axis in axes for axes in told)]


def methods_of(
    sources: Sequence[Source], *, metric: str, cost: CostAxis | str, direction: Direction
) -> list[Method]:
    """Group files by method, in the order in which methods first appear.

    Raises:
        InputError: a file lacks the metric or the cost.
        UsageError: two files say that they are the same training, or hold one training that would count as two seeds.
    """
    grouped: dict[str, dict[tuple[int | None, int], list[Source]]] = {}
    for source in sources:
        seeds = grouped.setdefault(source.label.method, {})
        unnamed = len(seeds) if source.label.seed is None and source.label.budget is None else 0
        seeds.setdefault((source.label.seed, unnamed), []).append(source)
    methods = [
        Method(name, tuple(_seed_run(key[0], files, metric, cost, direction) for key, files in seeds.items()))
        for name, seeds in grouped.items()
    ]
    for method in methods:
        _refuse_repeats(method)
    return methods


def _refuse_repeats(method: Method) -> None:
    """A training that counts twice would make a difference look surer than it is."""
    for one, other in combinations(method.runs, 2):
        if _is_repeat(one, other):
            first, second = one.sources[0].table.source, other.sources[0].table.source
            raise UsageError(
                f"{first} and {second} hold the same curve, and would count as two seeds of {method.name}: "
                "leave one out"
            )


def _is_repeat(one: SeedRun, other: SeedRun) -> bool:
    """Whether two curves are one training's; lines that are flat may be equal by chance, unless of one file."""
    before, after = one.curve, other.curve
    if not np.array_equal(before.cost, after.cost):
        return False
    if not np.array_equal(before.quality, after.quality, equal_nan=True):
        return False
    varies = len(np.unique(before.quality[np.isfinite(before.quality)])) > 1
    return varies or one.sources[0].table.source == other.sources[0].table.source


def run_curve(table: MetricTable, *, metric: str, cost: CostAxis | str, direction: Direction) -> Curve:
    """The metric of one file over its cost.

    Raises:
        InputError: the file lacks either.
    """
    quality = table.columns.get(metric)
    if quality is None:
        raise InputError(
            f"{table.source} has no column {metric!r}: it has {', '.join(list(table.columns)[:12])}"
        )
    costs = cost_column(table, cost) if isinstance(cost, CostAxis) else named_column(table, cost)
    if costs is None:
        known = ", ".join(known_axes(table)) or "none"
        name = cost.value if isinstance(cost, CostAxis) else cost
        raise InputError(f"{table.source} does not tell its cost in {name}: costs that it tells: {known}")
    found = curve(at_rows(costs, quality.rows), quality.values, direction)
    if found is None:
        raise InputError(f"{table.source} has no point with both {metric!r} and its cost")
    return found


def at_rows(column: Column, rows: NDArray[np.int64]) -> F64:
    """The column's value in each row; where a row has none the next one that has, so that no cost is left out."""
    place = np.searchsorted(column.rows, rows, side="left")
    return column.values[np.minimum(place, len(column.values) - 1)]


def band(curves: Sequence[Curve], *, raw: bool = False) -> Band:
    """The band of a method's seeds, as far as all of them were measured; a seed that broke is the worst of all."""
    direction = curves[0].direction
    costs = _costs_in_common(curves)
    lines = np.stack([qualities_at(one, costs, raw=raw) for one in curves]) * direction.sign
    better = np.where(np.isfinite(lines), lines, -np.inf)
    ends = [np.median(better, axis=0), np.min(better, axis=0), np.max(better, axis=0)]
    median, worst, best = (_told(line, direction) for line in ends)
    low, high = (worst, best) if direction is Direction.HIGHER else (best, worst)
    return Band(costs, median, low, high)


def _costs_in_common(curves: Sequence[Curve]) -> F64:
    start, end = max(float(one.cost[0]) for one in curves), min(one.end_cost for one in curves)
    every = np.unique(np.concatenate([one.cost for one in curves]))
    inside = every[(every >= start) & (every <= end)]
    if len(inside) <= BAND_POINTS:
        return inside
    chosen = np.unique(np.linspace(0, len(inside) - 1, BAND_POINTS).round().astype(np.int64))
    return inside[chosen]


def _told(line: F64, direction: Direction) -> tuple[float | None, ...]:
    return tuple(float(value) * direction.sign if np.isfinite(value) else None for value in line)


def _seed_run(
    seed: int | None, files: list[Source], metric: str, cost: CostAxis | str, direction: Direction
) -> SeedRun:
    curves = [run_curve(file.table, metric=metric, cost=cost, direction=direction) for file in files]
    if len(files) == 1:
        return SeedRun(seed, tuple(files), curves[0])
    budgets = [file.label.budget for file in files]
    if None in budgets or len(set(budgets)) < len(budgets):
        names = ", ".join(file.table.source for file in files[:4])
        raise UsageError(
            f"{names} say that they are the same training ({files[0].label.method}, seed {seed}): tell them apart with "
            "METHOD:SEED=FILE"
        )
    ends = curve([one.end_cost for one in curves], [float(one.quality[-1]) for one in curves], direction)
    assert ends is not None
    return SeedRun(seed, tuple(files), ends, ends_only=True)

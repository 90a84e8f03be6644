"""What can be chosen for a comparison by quality against cost: qualities, costs, which way a quality gets better."""

from __future__ import annotations

from collections.abc import Sequence

from ...advisor.compare.costs import CostAxis
from ...advisor.compare.curves import Direction as Better
from ...advisor.compare.methods import Source, shared_metrics
from ...advisor.compare.metric_names import direction_of

__all__ = ["Better", "cost_choices", "cost_label", "metric_choices"]


def metric_choices(sources: Sequence[Source]) -> list[str]:
    """The columns that may hold the quality, those whose name tells its direction first."""
    names = shared_metrics([source.table for source in sources])
    return sorted(names, key=lambda name: direction_of(name) is None)


def cost_choices(sources: Sequence[Source], axes: Sequence[CostAxis]) -> list[str]:
    """The costs that all files tell; where they tell none that is known, columns that all have."""
    if axes:
        return [axis.value for axis in axes]
    first, *others = (source.table for source in sources)
    return [name for name in first.columns if all(name in other.columns for other in others)]


def cost_label(cost: str) -> str:
    """A cost as a box shows it."""
    known = next((axis for axis in CostAxis if axis.value == cost), None)
    match known:
        case CostAxis.FLOPS:
            return "FLOPs"
        case CostAxis.ENERGY:
            return "energy, J"
        case _:
            return cost

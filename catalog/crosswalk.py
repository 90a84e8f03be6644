"""How the two taxonomies answer to each other, in words: one sentence per category of the second.

The counts behind it come from `coverage.crosswalk`. All of it is our reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .vocabulary import Category

CROSSWALK_WORDS: Mapping[Category, str] = MappingProxyType(
    {
        Category.DATA: (
            "Mostly the component data: augmentation retrofits, sampling removes, "
            "curricula reorder or restrict."
        ),
        Category.MODEL: (
            "Mostly the component function: modules are replaced or restricted, compression restricts or "
            "removes, growth reorders. Freezing layers is optimization × remove, since the function stays "
            "whole and gradient work is dropped."
        ),
        Category.OPTIMIZATION: (
            "The component optimization: optimizers replace, schedules reorder, averaging and extra loss "
            "terms retrofit."
        ),
        Category.BUDGETED: (
            "Has no place of its own in the first taxonomy: it cuts across schedule (optimization), size "
            "(function) and data."
        ),
        Category.SYSTEM: (
            "What leaves learning alone has no place in the first taxonomy, so we set system beside its "
            "three components. System-centric methods that do change learning (gradient compression, "
            "packing, asynchronous updates) keep their cell in function, data or optimization."
        ),
    }
)

BORDER_CASES: tuple[str, ...] = (
    "Low precision is compression training in the second survey; number formats that are a "
    "switch in PyTorch stand under system × restrict, research quantisers under compression-"
    "training.",
    "Gradient compression relieves communication but changes the update: optimization × restrict.",
    "Mixture of experts is function × retrofit: capacity is added at nearly equal work.",
    "Length bucketing is derived-data × reorder, as it forms the mini-batches; seen as a loader"
    " technique, that cell would be empty.",
    "Removing padding changes the data and pays in throughput only.",
)

"""The two formal statements that the taxonomies hang on, in plain text and symbols.

Speed-up at equal quality (first survey's subject, our symbols) and the update formula (second survey),
whose parts are what its categories touch. Text only; nothing here computes.
"""

from __future__ import annotations

from dataclasses import dataclass

from .taxonomy import FIRST_SURVEY, SECOND_SURVEY, Survey
from .vocabulary import Category, PlacedBy


@dataclass(frozen=True, slots=True)
class Statement:
    """A formal statement: the formula, what it says, where it comes from and on what basis."""

    title: str
    formula: str
    words: str
    basis: PlacedBy
    survey: Survey


@dataclass(frozen=True, slots=True)
class UpdatePart:
    """A part of the update formula and the category that touches it; ``basis`` is of this pairing."""

    symbol: str
    category: Category
    words: str
    basis: PlacedBy


SPEEDUP = Statement(
    "Speed-up at equal quality",
    "speed-up = c(R₀) / c(R)  for a recipe R with q(R) ≥ q(R₀)",
    "A training recipe R is a function, data and an optimization. With task, quality measure "
    "and platform held fixed, R is faster than the baseline R₀ if it reaches at least the "
    "baseline's quality q at a lower cost c. Cost is time, money, energy or carbon, and must be"
    " named. A recipe that never reaches that quality has no speed-up, however short its steps "
    "are. The symbols are ours.",
    PlacedBy.OURS,
    FIRST_SURVEY,
)

UPDATE = Statement(
    "The update",
    "θₜ₊₁ = θₜ − G(f, θₜ, D),  t = 0 … T",
    "Training lowers an objective f of the weights θ on data D by repeated updates. G is any "
    "update, not only a gradient: momentum, adaptive, compressed and averaged ones fit too.",
    PlacedBy.SURVEY,
    SECOND_SURVEY,
)

UPDATE_PARTS: tuple[UpdatePart, ...] = (
    UpdatePart(
        "D", Category.DATA, "the samples: how many, which, in what order, how dear each is", PlacedBy.SURVEY
    ),
    UpdatePart(
        "f, θ",
        Category.MODEL,
        "the mapping: work per weight, number of weights, start θ₀, growth",
        PlacedBy.SURVEY,
    ),
    UpdatePart(
        "G", Category.OPTIMIZATION, "the update: step size, batch, objective, averaging", PlacedBy.SURVEY
    ),
    UpdatePart(
        "T", Category.BUDGETED, "the number of updates: the best result for a fixed budget", PlacedBy.OURS
    ),
    UpdatePart(
        "execution",
        Category.SYSTEM,
        "how the whole formula is run: feeding, splitting, memory, exchange",
        PlacedBy.OURS,
    ),
)

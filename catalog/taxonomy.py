"""Both taxonomies as data.

Which words belong together, what they mean, and how far the surveys vouch for it. First: Bartoldson,
Kailkhura, Blalock, "Compute-Efficient Deep Learning: Algorithmic Trends and Opportunities", JMLR 24(122),
2023, arXiv 2210.06640. Second: Shen, Sun, Yu, Ding, Tian, Tao, "On Efficient Training of Large-Scale Deep
Learning Models: A Literature Review", arXiv 2304.03589. The definitions are in our own words. ``basis`` is
SURVEY only where the survey's own text or abstract was read; only those may be introduced by "the survey
says".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from .vocabulary import Action, Category, Component, PlacedBy, Subcategory, Subcomponent, Word

_SURVEY, _OURS = PlacedBy.SURVEY, PlacedBy.OURS


@dataclass(frozen=True, slots=True)
class Survey:
    """A survey that a taxonomy comes from."""

    short: str
    citation: str
    arxiv: str


FIRST_SURVEY = Survey(
    "Bartoldson et al. 2023",
    "Bartoldson, Kailkhura, Blalock: Compute-Efficient Deep Learning: Algorithmic Trends and Opportunities. "
    "JMLR 24(122), 2023",
    "2210.06640",
)
SECOND_SURVEY = Survey(
    "Shen et al. 2023",
    "Shen, Sun, Yu, Ding, Tian, Tao: On Efficient Training of Large-Scale Deep Learning Models: "
    "A Literature Review. 2023",
    "2304.03589",
)


@dataclass(frozen=True, slots=True)
class Definition:
    """What a word of a taxonomy means, in our words; ``basis`` says whether the survey was read on it."""

    term: Word
    meaning: str
    basis: PlacedBy
    survey: Survey | None


def _first(term: Word, meaning: str, basis: PlacedBy = _OURS) -> Definition:
    return Definition(term, meaning, basis, FIRST_SURVEY)


def _second(term: Word, meaning: str, basis: PlacedBy = _OURS) -> Definition:
    return Definition(term, meaning, basis, SECOND_SURVEY)


def _own(term: Word, meaning: str) -> Definition:
    return Definition(term, meaning, _OURS, None)


SUBCOMPONENTS: Mapping[Component, tuple[Subcomponent, ...]] = MappingProxyType(
    {
        Component.FUNCTION: (Subcomponent.ARCHITECTURE, Subcomponent.PARAMETERS),
        Component.DATA: (Subcomponent.TRAINING_DATA, Subcomponent.DERIVED_DATA),
        Component.OPTIMIZATION: (Subcomponent.TRAINING_OBJECTIVE, Subcomponent.TRAINING_ALGORITHM),
        Component.SYSTEM: (
            Subcomponent.INPUT_PIPELINE,
            Subcomponent.HOST_TO_DEVICE,
            Subcomponent.PRECISION,
            Subcomponent.KERNELS,
            Subcomponent.COMPILATION,
            Subcomponent.LAUNCH,
            Subcomponent.OPTIMIZER_EXECUTION,
            Subcomponent.MEMORY,
            Subcomponent.PARALLELISM,
            Subcomponent.COMMUNICATION,
            Subcomponent.CHECKPOINT_IO,
            Subcomponent.SCHEDULING,
        ),
    }
)

SUBCATEGORIES: Mapping[Category, tuple[Subcategory, ...]] = MappingProxyType(
    {
        Category.DATA: (
            Subcategory.DATASET_REGULARIZATION,
            Subcategory.DATA_SAMPLING,
            Subcategory.DATA_CURRICULUM,
        ),
        Category.MODEL: (
            Subcategory.BASIC_MODULES,
            Subcategory.COMPRESSION_TRAINING,
            Subcategory.MODEL_INITIALIZATION,
            Subcategory.MODEL_CURRICULUM,
        ),
        Category.OPTIMIZATION: (
            Subcategory.LEARNING_RATE,
            Subcategory.LARGE_BATCH_SIZE,
            Subcategory.EFFICIENT_OBJECTIVES,
            Subcategory.MODEL_AVERAGING,
        ),
        Category.BUDGETED: (
            Subcategory.BUDGET_AWARE_SCHEDULE,
            Subcategory.CONSTRAINED_RECIPE,
            Subcategory.COMPUTE_ALLOCATION,
            Subcategory.BUDGETED_SEARCH,
        ),
        Category.SYSTEM: (
            Subcategory.DATA_PRELOADING,
            Subcategory.HOST_TO_DEVICE,
            Subcategory.PRECISION,
            Subcategory.KERNELS_AND_COMPILATION,
            Subcategory.LAUNCH_AND_SYNC,
            Subcategory.OPTIMIZER_EXECUTION,
            Subcategory.MEMORY_SAVINGS,
            Subcategory.PARALLELISM,
            Subcategory.COMMUNICATION,
            Subcategory.CHECKPOINT_IO,
            Subcategory.CLUSTER_AND_STRAGGLERS,
        ),
    }
)

COMPONENT_MEANINGS: tuple[Definition, ...] = (
    _first(
        Component.FUNCTION, "the model that maps inputs to outputs: its structure and its weights", _SURVEY
    ),
    _first(Component.DATA, "what the model learns from: which samples, in what order, in what form", _SURVEY),
    _first(
        Component.OPTIMIZATION, "how the weights are found: the loss and the rule that lowers it", _SURVEY
    ),
    _own(
        Component.SYSTEM,
        "how the recipe is executed; outside the first survey's three components, since what is learned "
        "stays the same",
    ),
)

ACTION_MEANINGS: tuple[Definition, ...] = (
    _first(Action.REMOVE, "leave elements out: layers, weights, samples, tokens, gradient work, exchanges"),
    _first(
        Action.RESTRICT, "narrow what an element may be: rank, bits, sparsity pattern, window, resolution"
    ),
    _first(Action.REORDER, "keep the elements, change when they come in: growth, curricula, schedules"),
    _first(
        Action.REPLACE, "put another element in its place: optimizer, attention, loss, data, initial weights"
    ),
    _first(
        Action.RETROFIT, "add an element that costs per step and saves steps: norms, augmentation, averaging"
    ),
)

SUBCOMPONENT_MEANINGS: tuple[Definition, ...] = (
    _first(
        Subcomponent.ARCHITECTURE,
        "the computation graph: which layers there are, how wired, which of them run",
    ),
    _first(
        Subcomponent.PARAMETERS,
        "the trainable values: how many, which values allowed, how started, how shared",
    ),
    _first(
        Subcomponent.TRAINING_DATA, "the samples fed in: which, how many, order, size, augmentation, mixture"
    ),
    _first(
        Subcomponent.DERIVED_DATA,
        "what training makes of them: mini-batches, inner tokens, activations, targets",
    ),
    _first(Subcomponent.TRAINING_OBJECTIVE, "the loss with its regularisers, auxiliary tasks and targets"),
    _first(
        Subcomponent.TRAINING_ALGORITHM,
        "the rule from loss to update: optimizer, schedules, batch size, freezing",
    ),
    _own(
        Subcomponent.INPUT_PIPELINE,
        "reading, decoding, augmenting and batching, so that a batch is ready in time",
    ),
    _own(Subcomponent.HOST_TO_DEVICE, "copying batches from host memory to the device"),
    _own(Subcomponent.PRECISION, "the number formats of products, weights, gradients and states"),
    _own(Subcomponent.KERNELS, "the device programs that do one operation or a fused group"),
    _own(Subcomponent.COMPILATION, "turning the model's graph into fewer and better kernels"),
    _own(Subcomponent.LAUNCH, "the host's work of starting kernels, and its waits for the device"),
    _own(Subcomponent.OPTIMIZER_EXECUTION, "how the update is carried out and where its states lie"),
    _own(Subcomponent.MEMORY, "what is kept on the device, recomputed, moved away or sharded"),
    _own(Subcomponent.PARALLELISM, "how one training is split over devices"),
    _own(Subcomponent.COMMUNICATION, "what devices send one another, when, and over which links"),
    _own(Subcomponent.CHECKPOINT_IO, "saving the state of training"),
    _own(Subcomponent.SCHEDULING, "keeping ranks and machines in step, and their clocks up"),
)

CATEGORY_MEANINGS: tuple[Definition, ...] = (
    _second(Category.DATA, "spends less on data, D: fewer, better ordered or cheaper samples", _SURVEY),
    _second(Category.MODEL, "makes the mapping, f and θ, cheaper to compute or starts it better", _SURVEY),
    _second(
        Category.OPTIMIZATION, "makes a better update, G: step size, batch, objective, averaging", _SURVEY
    ),
    _second(
        Category.BUDGETED,
        "gets the best model out of a fixed resource, such as a number of updates T",
        _SURVEY,
    ),
    _second(Category.SYSTEM, "runs the same formula with frameworks that use the hardware better", _SURVEY),
)

SUBCATEGORY_MEANINGS: tuple[Definition, ...] = (
    _second(
        Subcategory.DATASET_REGULARIZATION,
        "enlarges or strengthens the training set, as by augmentation",
        _SURVEY,
    ),
    _second(
        Subcategory.DATA_SAMPLING, "picks or weights the samples that a gradient is computed from", _SURVEY
    ),
    _second(Subcategory.DATA_CURRICULUM, "goes from easy or cheap samples to hard or full ones", _SURVEY),
    _second(Subcategory.BASIC_MODULES, "swaps operators for simpler ones of like power", _SURVEY),
    _second(
        Subcategory.COMPRESSION_TRAINING,
        "trains with fewer or smaller numbers: sparse or of low precision",
        _SURVEY,
    ),
    _second(Subcategory.MODEL_INITIALIZATION, "starts from weights that are stable and general", _SURVEY),
    _second(Subcategory.MODEL_CURRICULUM, "lets the trained part of the model change: grow, drop, freeze"),
    _second(Subcategory.LEARNING_RATE, "chooses the size of each step, per time, layer or weight"),
    _second(Subcategory.LARGE_BATCH_SIZE, "uses more samples per update, and so fewer updates"),
    _second(Subcategory.EFFICIENT_OBJECTIVES, "changes the loss so that fewer steps or samples suffice"),
    _second(Subcategory.MODEL_AVERAGING, "averages weights over time or workers"),
    _own(Subcategory.BUDGET_AWARE_SCHEDULE, "fits the schedule to the end of the budget"),
    _own(Subcategory.CONSTRAINED_RECIPE, "whole recipes made for little compute"),
    _own(Subcategory.COMPUTE_ALLOCATION, "splits a budget over model size, data and time"),
    _own(Subcategory.BUDGETED_SEARCH, "finds settings within a budget"),
    _own(Subcategory.DATA_PRELOADING, "keeps the device fed"),
    _own(Subcategory.HOST_TO_DEVICE, "hides or shrinks the copy to the device"),
    _own(Subcategory.PRECISION, "fewer bits per number, in formats that the hardware is fast at"),
    _own(Subcategory.KERNELS_AND_COMPILATION, "fewer and better kernels"),
    _own(Subcategory.LAUNCH_AND_SYNC, "less host work and waiting around kernels"),
    _own(Subcategory.OPTIMIZER_EXECUTION, "a cheaper optimizer step and smaller states"),
    _own(Subcategory.MEMORY_SAVINGS, "fits the model or a larger batch into memory"),
    _own(Subcategory.PARALLELISM, "splits work and state over devices"),
    _own(Subcategory.COMMUNICATION, "sends fewer bytes, or sends them meanwhile"),
    _own(Subcategory.CHECKPOINT_IO, "saves without stopping the training"),
    _own(Subcategory.CLUSTER_AND_STRAGGLERS, "keeps ranks even"),
)

DEFINITIONS: tuple[Definition, ...] = (
    *COMPONENT_MEANINGS,
    *ACTION_MEANINGS,
    *SUBCOMPONENT_MEANINGS,
    *CATEGORY_MEANINGS,
    *SUBCATEGORY_MEANINGS,
)

# Words of different enums may be spelled alike (precision), so the enum belongs to the key.
_BY_TERM: Mapping[tuple[type[Word], str], Definition] = MappingProxyType(
    {(type(definition.term), definition.term.value): definition for definition in DEFINITIONS}
)


def define(term: Word) -> Definition:
    """The definition of a word of either taxonomy."""
    return _BY_TERM[type(term), term.value]


class Backed(Protocol):
    """Whatever a survey may stand behind."""

    @property
    def basis(self) -> PlacedBy:
        """Whether the survey was read on it."""
        ...

    @property
    def survey(self) -> Survey | None:
        """The survey it comes from, None for our own."""
        ...


def says(definition: Backed) -> str:
    """Who says so: "the survey says" only where its text was read."""
    if definition.survey is None:
        return "our own term"
    if definition.basis is PlacedBy.SURVEY:
        return f"the survey says so ({definition.survey.short}, arXiv {definition.survey.arxiv}; our words)"
    return f"our reading of {definition.survey.short}, arXiv {definition.survey.arxiv}"

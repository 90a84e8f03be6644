"""Rules of a fair comparison of quality-against-cost curves: each is kept, broken, or asked, and says so in a sentence.

What files do not tell is asked, never assumed. A serious rule that is broken forbids a headline number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from ...profiler.errors import UsageError
from .costs import CostAxis, cost_column, known_axes, starts_at_first_row
from .methods import Method, Source
from .metric_names import DataSplit, is_learning_rate, split_of
from .speedups import MIN_SEEDS, chance_of_claim

#: A learning rate at or below this share of its highest has decayed: common schedules end at 10 % or at nothing.
DECAYED_SHARE = 0.11
#: A learning rate that stays above this share of its highest never fell.
CONSTANT_SHARE = 0.99
#: Budgets closer than this are the same: a last evaluation may lie a little before the end.
SAME_BUDGET = 0.05
_HARDWARE = ("device.kind", "device.name", "cpu.cores", "world_size", "torch.version")
_NAMED = 4
#: The rule that only a target needs that somebody named.
TARGET_FIRST = "target-first"


class Standing(str, Enum):
    """How a comparison stands to a rule."""

    KEPT = "kept"
    BROKEN = "broken"
    ASKED = "asked"


@dataclass(frozen=True)
class Check:
    """A rule and how the comparison stands to it.

    Attributes:
        rule: its name, with which a question is answered.
        sentence: what was found, or the question.
        serious: if it is broken no headline number is given.
        answer: what the user said to the question that the sentence is; None where nobody was asked.
    """

    rule: str
    standing: Standing
    sentence: str
    serious: bool = False
    answer: bool | None = None

    @property
    def forbids(self) -> bool:
        """It takes the headline away."""
        return self.serious and self.standing is Standing.BROKEN


@dataclass(frozen=True, eq=False)
class Asked:
    """What is compared, for the rules to look at; the first method is the baseline."""

    methods: Sequence[Method]
    metric: str
    cost: CostAxis | str
    target_told: bool

    @property
    def sources(self) -> list[Source]:
        """All files."""
        return [source for method in self.methods for source in method.sources]


def checks(asked: Asked, answers: Mapping[str, bool]) -> tuple[Check, ...]:
    """Every rule, with what the user answered put in the place of questions.

    Raises:
        UsageError: an answer is to a rule that does not exist.
    """
    unknown = sorted(set(answers) - set(RULES))
    if unknown:
        raise UsageError(f"{unknown[0]!r} is no rule that can be answered: they are {', '.join(RULES)}")
    found = (check for rule in _CHECKS for check in rule(asked))
    return tuple(_answered(check, answers.get(check.rule)) for check in found)


def _answered(check: Check, answer: bool | None) -> Check:
    if answer is None or check.standing is not Standing.ASKED:
        return check
    return replace(check, standing=Standing.KEPT if answer else Standing.BROKEN, answer=answer)


def _evaluation(asked: Asked) -> Iterator[Check]:
    if split_of(asked.metric) is DataSplit.TRAINING:
        yield Check(
            "held-out",
            Standing.BROKEN,
            f"{asked.metric} is taken on training data by its name: quality is judged on held-out data.",
            serious=True,
        )
        return
    held_out = "" if split_of(asked.metric) is DataSplit.HELD_OUT else " held out from training"
    yield _question(
        "evaluation-data", f"Is {asked.metric} evaluated on the same data{held_out} in every training?"
    )


def _target(asked: Asked) -> Iterator[Check]:
    if asked.target_told:
        yield Check(
            TARGET_FIRST,
            Standing.ASKED,
            "Was the target fixed before the trainings, not chosen from their curves?",
        )
        return
    yield Check(
        TARGET_FIRST,
        Standing.BROKEN,
        "The target was taken from these curves; a target that was fixed before the trainings is stronger.",
    )


def _budget(asked: Asked) -> Iterator[Check]:
    """Equal along any axis that all files tell: a method that is faster per step ends earlier in seconds alone."""
    axes = [axis for axis in CostAxis if all(axis in known_axes(one.table) for one in asked.sources)]
    if not axes or any(run.ends_only for method in asked.methods for run in method.runs):
        return
    equal = [axis for axis in axes if _spread(_ends(asked.sources, axis)) <= SAME_BUDGET]
    if equal:
        yield Check(
            "same-budget", Standing.KEPT, f"All trainings ended at the same budget in {equal[0].value}."
        )
        return
    low, high = min(_ends(asked.sources, axes[0])), max(_ends(asked.sources, axes[0]))
    yield Check(
        "same-budget",
        Standing.BROKEN,
        f"The trainings ended at different budgets, {low:,.6g} to {high:,.6g} {axes[0].value}: the longer ones are "
        "read in the middle of their schedule, which makes them look costlier than they are.",
        serious=True,
    )


def _schedule(asked: Asked) -> Iterator[Check]:
    cut = [source for source in asked.sources if _ended(source) is False]
    if cut:
        yield Check(
            "schedule-ended",
            Standing.BROKEN,
            f"{_names(cut)} stopped before the schedule ended: a point in the middle of a longer training is not "
            "comparable.",
            serious=True,
        )
    elif all(_ended(source) for source in asked.sources):
        yield Check("schedule-ended", Standing.KEPT, "Every training ended with its learning-rate schedule.")
    else:
        unknown = [source for source in asked.sources if _ended(source) is None]
        yield _question(
            "schedule-ended",
            f"Did {_names(unknown)} run to the end of the learning-rate schedule that was made for this budget?",
        )


def _middle(asked: Asked) -> Iterator[Check]:
    if any(not run.ends_only for method in asked.methods for run in method.runs):
        yield Check(
            "ends-only",
            Standing.BROKEN,
            "Qualities below the last are read in the middle of a schedule: full trainings at several budgets, named "
            "like method-steps200-seed1.csv, show what a method does with less.",
        )


def _tuning(asked: Asked) -> Iterator[Check]:
    baseline = asked.methods[0].name
    yield _question(
        "baseline-tuned", f"Was the baseline {baseline} tuned as hard as the others, with as many trials?"
    )


def _hardware(asked: Asked) -> Iterator[Check]:
    if isinstance(asked.cost, CostAxis) and not asked.cost.on_hardware:
        return
    told = [source.hardware for source in asked.sources]
    for name in _HARDWARE:
        values = sorted({str(one[name]) for one in told if one.get(name) is not None})
        if len(values) > 1:
            yield Check(
                "same-hardware",
                Standing.BROKEN,
                f"The trainings ran on different hardware or software, {name}: {' against '.join(values[:_NAMED])}.",
                serious=True,
            )
            return
    if all(told):
        yield Check("same-hardware", Standing.KEPT, "All trainings ran on the same hardware and software.")
    else:
        yield _question(
            "same-hardware",
            "Did all trainings run on the same hardware and software, with nothing beside them?",
        )


def _whole_cost(asked: Asked) -> Iterator[Check]:
    stamped = [source for source in asked.sources if starts_at_first_row(source.table)]
    if asked.cost is CostAxis.SECONDS and stamped:
        yield Check(
            "whole-clock",
            Standing.BROKEN,
            f"The clock of {_names(stamped)} starts at the first row of the file: what was before it is not counted.",
        )
    clock = "waiting for data, warm-up, compilation, evaluation, and " if _is_time(asked.cost) else ""
    yield _question(
        "whole-cost",
        f"Does the cost of every training hold {clock}what scoring, teachers or preparation of the method took?",
    )


def _time_beside(asked: Asked) -> Iterator[Check]:
    if _is_time(asked.cost) or not isinstance(asked.cost, CostAxis):
        return
    if all(cost_column(source.table, CostAxis.SECONDS) is not None for source in asked.sources):
        yield Check(
            "time-beside",
            Standing.KEPT,
            f"These files tell seconds too: look at them beside {asked.cost.value}.",
        )
    else:
        yield Check(
            "time-beside",
            Standing.BROKEN,
            f"Not every file tells seconds: a method that needs fewer {asked.cost.value} may still take longer.",
        )


def _seeds(asked: Asked) -> Iterator[Check]:
    counts = [len(method.runs) for method in asked.methods]
    few = [method for method in asked.methods if len(method.runs) < MIN_SEEDS]
    if few:
        words = ", ".join(f"{one.name} has {len(one.runs)}" for one in few[:_NAMED])
        yield Check(
            "seeds",
            Standing.BROKEN,
            f"{MIN_SEEDS} seeds of every method are asked; {words}: nothing is claimed of it.",
        )
    elif len(counts) > 1:
        yield Check(
            "seeds",
            Standing.KEPT,
            f"Every method has {min(counts)} seeds or more. A method against itself would be called different in "
            f"{chance_of_claim(min(counts)):.0%} of comparisons with so many, by chance.",
        )
    yield from _same_seeds(asked)


def _same_seeds(asked: Asked) -> Iterator[Check]:
    sets = [{run.seed for run in method.runs} for method in asked.methods]
    if any(None in one for one in sets) or all(one == sets[0] for one in sets):
        return
    yield Check(
        "same-seeds",
        Standing.BROKEN,
        "The methods have different seeds: show every seed that was run, so that none is chosen.",
    )


def _evaluations(asked: Asked) -> Iterator[Check]:
    counts = [len(run.curve.cost) for method in asked.methods for run in method.runs]
    if max(counts) > min(counts) * (1 + SAME_BUDGET) + 1:
        yield Check(
            "same-evaluations",
            Standing.BROKEN,
            f"The trainings were evaluated {min(counts)} to {max(counts)} times: who is evaluated more often has more "
            "chances of a best value.",
        )


_CHECKS: tuple[Callable[[Asked], Iterable[Check]], ...] = (
    _evaluation, _schedule, _budget, _middle, _tuning, _hardware, _whole_cost, _time_beside, _seeds, _evaluations,
    _target,
)  # fmt: skip
#: The rules that a user can answer.
RULES = ("evaluation-data", "schedule-ended", "baseline-tuned", "same-hardware", "whole-cost", TARGET_FIRST)


def _question(rule: str, sentence: str) -> Check:
    return Check(rule, Standing.ASKED, sentence, serious=True)


def _is_time(cost: CostAxis | str) -> bool:
    return cost in (CostAxis.SECONDS, CostAxis.ENERGY)


def _ended(source: Source) -> bool | None:
    """Whether the training went to the end of its schedule; None where its file does not tell."""
    planned, steps = source.table.planned_steps, cost_column(source.table, CostAxis.STEPS)
    if planned is not None and steps is not None:
        return float(steps.values.max()) >= planned * (1 - SAME_BUDGET)
    shares = [
        float(column.values[-1]) / float(np.max(column.values))
        for name, column in source.table.columns.items()
        if is_learning_rate(name) and bool(np.all(np.isfinite(column.values))) and np.max(column.values) > 0
    ]
    if not shares or max(shares) >= CONSTANT_SHARE:
        return None
    return max(shares) <= DECAYED_SHARE


def _ends(sources: Sequence[Source], axis: CostAxis) -> list[float]:
    columns = [cost_column(source.table, axis) for source in sources]
    return [float(column.values.max()) for column in columns if column is not None]


def _spread(values: Sequence[float]) -> float:
    return (max(values) - min(values)) / max(values) if max(values) > 0 else 0.0


def _names(sources: Sequence[Source]) -> str:
    names = list(dict.fromkeys(source.label.method for source in sources))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more

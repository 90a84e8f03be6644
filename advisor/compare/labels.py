"""Which method and seed a metric file belongs to, as told by its name and the folders that it lies in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from ...profiler.errors import UsageError

#: File names that say nothing of what was trained: the folder around them does.
_GENERIC = re.compile(
    r"(metrics?|log|logs|history|train(ing)?|results?|trainer_state|events|progress)", re.IGNORECASE
)
_SEED = re.compile(r"(?:^|[-_. ])(?:seed|rng|repeat|rep)[-_= ]?(\d{1,9})(?=$|[-_. ])", re.IGNORECASE)
_ONLY_SEED = re.compile(r"(?:seed|rng|repeat|rep|run|version|s)?[-_= ]?(\d{1,9})", re.IGNORECASE)
_BUDGET = re.compile(
    r"(?:^|[-_. ])(?:budget|epochs|steps)[-_= ]?(\d{1,12}(?:\.\d+)?)(?=$|[-_. ])", re.IGNORECASE
)
_CHECKPOINT = re.compile(r"checkpoint-\d+|lightning_logs|csv_logs|logs?|csv", re.IGNORECASE)
MAX_LABEL = 60


@dataclass(frozen=True)
class Label:
    """Whose training a file tells of.

    Attributes:
        seed: None where the name does not tell.
        budget: tells full trainings of one method and seed apart that ended at different budgets.
    """

    method: str
    seed: int | None = None
    budget: float | None = None


def label_of(path: str) -> Label:
    """The label in a path: ``cosine-seed3.csv``, ``cosine/seed3/metrics.csv``, ``cosine/version_3/metrics.csv``."""
    pure = PurePath(path)
    parts = [*pure.parts[:-1], _stem(pure.name)]
    if _GENERIC.fullmatch(parts[-1]) and len(parts) > 1:
        parts.pop()
    while len(parts) > 1 and _CHECKPOINT.fullmatch(parts[-1]):
        parts.pop()
    own = _parted(parts[-1])
    if own.method:
        return own
    if len(parts) == 1:
        return Label(parts[0][:MAX_LABEL])
    outer = label_of(str(PurePath(*parts[:-1])) + ".x")
    return Label(outer.method, own.seed if own.seed is not None else outer.seed, own.budget or outer.budget)


def told_label(text: str) -> Label:
    """The label that a user gives: ``METHOD`` or ``METHOD:SEED``.

    Raises:
        UsageError: there is no method in it.
    """
    method, _, seed = text.rpartition(":") if re.search(r":\d+$", text) else (text, "", "")
    if not method.strip():
        raise UsageError(
            f"{text!r} names no method: give METHOD=FILE or METHOD:SEED=FILE, as in cosine:3=a.csv"
        )
    return Label(method.strip()[:MAX_LABEL], int(seed) if seed else None)


def _stem(name: str) -> str:
    stem = name.removesuffix(".gz")
    return stem.rpartition(".")[0] or stem


def _parted(text: str) -> Label:
    """Seed and budget taken out of a name; the method is empty where nothing else is left."""
    if (only := _ONLY_SEED.fullmatch(text)) is not None:
        return Label("", int(only.group(1)))
    seed, budget = _SEED.search(text), _BUDGET.search(text)
    rest = _BUDGET.sub("", _SEED.sub("", text)).strip("-_. ")
    return Label(
        rest[:MAX_LABEL],
        int(seed.group(1)) if seed else None,
        float(budget.group(1)) if budget else None,
    )

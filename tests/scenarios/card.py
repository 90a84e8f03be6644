"""The scorecard as text: one table, what it sums to, and which kind was taken for which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median

from .score import FIRST_PRESCRIPTIONS, HEALTHY, Score, kinds

COLUMNS = ("scenario", "truth", "headline", "cause", "where", "remedy", "predicted", "bound", "measured")
TOLERANCE_ABOVE_BOUND = 1.05
GOAL_HEADLINE, GOAL_PLACE, GOAL_REMEDY = 0.95, 0.85, 0.90
GOAL_ALARMS, GOAL_ABOVE_BOUND = 0, 0
GOAL_ERROR = 0.20


def card(scores: Sequence[Score], machine: str) -> str:
    """The whole scorecard, as Markdown."""
    judged = [score for score in scores if score.skipped is None]
    parts = [
        "# Scorecard",
        f"Written by `make scorecard` on {machine}. A tick stands for right, a cross for wrong, a dash for "
        "what does not apply or was not measured. Times are medians of interleaved runs; the bound is what the run was "
        "predicted to gain at most.",
        table(scores),
        summary(judged),
        "## Which kind was taken for which",
        "Rows are true, columns are what the headline said.",
        confusion(judged),
    ]
    skipped = [score for score in scores if score.skipped is not None]
    if skipped:
        parts.append("## Not shown on this machine\n\n" + _bullets(f"{s.name}: {s.skipped}" for s in skipped))
    return "\n\n".join(parts) + "\n"


def table(scores: Iterable[Score]) -> str:
    """One row per scenario."""
    return _table(COLUMNS, [_row(score) for score in scores if score.skipped is None])


def summary(scores: Sequence[Score]) -> str:
    """The rates that the scorecard is read for, each with its goal."""
    healthy = [score for score in scores if score.expected == HEALTHY]
    places = [score for score in scores if score.cause_ok is not None or score.place_ok is not None]
    right = (score.cause_ok is not False and score.place_ok is not False for score in places)
    remedies = [score for score in scores if score.remedy is not None]
    near = (1 <= (score.remedy or 0) <= FIRST_PRESCRIPTIONS for score in remedies)
    alarms = sum(not score.headline_ok for score in healthy)
    lines = [
        f"headline right: {_rate((score.headline_ok for score in scores), GOAL_HEADLINE)}",
        f"cause and where right: {_rate(right, GOAL_PLACE)}",
        f"remedy among the first {FIRST_PRESCRIPTIONS}: {_rate(near, GOAL_REMEDY)}",
        f"alarms on healthy runs: {alarms} of {len(healthy)} (goal {GOAL_ALARMS})",
        f"wrong textbook advice first: {sum(score.first_is_wrong for score in scores)}",
        *_prediction_lines(scores),
    ]
    return _bullets(lines)


def confusion(scores: Iterable[Score]) -> str:
    """Counts of (true kind, headline)."""
    counts = Counter((score.expected, score.found or "failed") for score in scores)
    words = [*kinds(), "failed"]
    rows = [word for word in words if any(true == word for true, _ in counts)]
    columns = [word for word in words if any(found == word for _, found in counts)]
    return _table(
        ("true kind", *columns),
        [(row, *(str(counts[row, column] or "·") for column in columns)) for row in rows],
    )


def _prediction_lines(scores: Sequence[Score]) -> list[str]:
    errors = [error for score in scores if (error := _error(score)) is not None]
    if not errors:
        return ["predictions: none to judge"]
    above = sum(_is_above_bound(score) for score in scores)
    return [
        f"median |predicted / measured − 1|: {median(errors) * 100:.0f} % over {len(errors)} "
        f"(goal at most {GOAL_ERROR * 100:.0f} %)",
        f"measured above the bound by more than 5 %: {above} (goal {GOAL_ABOVE_BOUND})",
    ]


def _error(score: Score) -> float | None:
    """How far the prediction lay from what was measured, as a share of that."""
    if score.predicted is None or score.speedup is None:
        return None
    return abs(score.predicted / score.speedup - 1)


def _is_above_bound(score: Score) -> bool:
    """Whether more was measured than was predicted to be possible."""
    if score.bound is None or score.speedup is None:
        return False
    return score.speedup > TOLERANCE_ABOVE_BOUND * score.bound


def _row(score: Score) -> tuple[str, ...]:
    if score.failed is not None:
        said = (score.name, score.expected, f"failed: {score.failed.splitlines()[0]}")
        return (*said, *["–"] * (len(COLUMNS) - len(said)))
    return (
        score.name,
        score.expected,
        f"{_tick(score.headline_ok)} {score.found}"
        + ("" if score.share is None else f" {score.share * 100:.0f} %"),
        f"{_tick(score.cause_ok)} {score.cause or ''}".strip(),
        f"{_tick(score.place_ok)} {score.place or ''}".strip(),
        _remedy(score),
        _factor(score.predicted),
        _factor(score.bound),
        _measured(score),
    )


def _measured(score: Score) -> str:
    span = f" ({min(score.measured):.2f}–{max(score.measured):.2f})" if len(score.measured) > 1 else ""
    above = ", above the bound" if _is_above_bound(score) else ""
    return f"{_factor(score.speedup)}{span}{above}"


def _remedy(score: Score) -> str:
    warning = " (wrong advice first)" if score.first_is_wrong else ""
    if score.remedy is None:
        return "–" + warning
    return (
        f"{_tick(score.remedy <= FIRST_PRESCRIPTIONS)} #{score.remedy}" if score.remedy else "✗"
    ) + warning


def _factor(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}×"


def _tick(right: bool | None) -> str:
    return "–" if right is None else "✓" if right else "✗"


def _rate(outcomes: Iterable[bool | None], goal: float) -> str:
    flags = [bool(outcome) for outcome in outcomes]
    return f"{sum(flags)} of {len(flags)} ({_percent(sum(flags), len(flags))}, goal {goal * 100:.0f} %)"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *rows)]
    return "\n".join(lines)

"""What a step would take with one thing changed, predicted from the trace; never to be drawn as measured."""

from __future__ import annotations

from dataclasses import dataclass

from ...profiler.report import Report, WhatIf
from . import format as text

#: A change that is predicted to shorten the step by less than this share is left out of the chart.
SHOWN_FROM_SHARE = 0.002


@dataclass(frozen=True)
class WhatIfRow:
    """One change; times in ms per step, ``bound_ms`` removes all exposed time of what is changed."""

    change: str
    predicted_ms: float
    bound_ms: float
    predicted: str
    bound: str
    speedup: str


@dataclass(frozen=True)
class WhatIfView:
    """All changes of one run, the one that brings most first.

    Attributes:
        without_effect: changes that bring next to nothing, by name.
        caption: what the predictions rest on and how well the unchanged replay met the measured step.
    """

    measured_ms: float
    measured: str
    rows: tuple[WhatIfRow, ...]
    without_effect: tuple[str, ...]
    caption: str

    @property
    def rest(self) -> str:
        """The changes without effect in a sentence; empty where there is none."""
        return f"No noticeable gain from: {'; '.join(self.without_effect)}." if self.without_effect else ""


def what_if_view(report: Report) -> WhatIfView | None:
    """The view of a report's what-ifs; None where there are none."""
    if not report.what_ifs:
        return None
    first = report.what_ifs[0]
    ordered = sorted(report.what_ifs, key=lambda found: found.predicted_step_s)
    return WhatIfView(
        measured_ms=first.measured_step_s * 1e3,
        measured=text.duration(first.measured_step_s),
        rows=tuple(_row(found) for found in ordered if _saves(found)),
        without_effect=tuple(found.change for found in ordered if not _saves(found)),
        caption=(
            "Predicted by replaying the trace with one thing changed. Unchanged, the replay misses the measured step "
            f"by {text.percent(abs(first.unexplained_share))}. Nothing here was measured."
        ),
    )


def _saves(found: WhatIf) -> bool:
    return found.predicted_step_s < found.measured_step_s * (1 - SHOWN_FROM_SHARE)


def _row(found: WhatIf) -> WhatIfRow:
    return WhatIfRow(
        change=found.change,
        predicted_ms=found.predicted_step_s * 1e3,
        bound_ms=found.bound_step_s * 1e3,
        predicted=text.duration(found.predicted_step_s),
        bound=text.duration(found.bound_step_s),
        speedup=text.times(found.measured_step_s / found.predicted_step_s)
        if found.predicted_step_s > 0
        else "n/a",
    )

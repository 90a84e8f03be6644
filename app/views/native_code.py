"""Which native functions the lines of Python were in, as a table."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...profiler.diagnosis.finding import short_path
from ...profiler.report import NativeFunction, NativeLine, Report
from . import format as text

#: A function with less of a line's samples is left out, unless it is the line's first.
LEAST_SHARE = 0.05
#: With fewer samples of the training process, how far its shares may be off is said.
MANY_SAMPLES = 100


@dataclass(frozen=True)
class NativeRow:
    """One line of the script, its share of the samples, and the functions below it."""

    process: str
    line: str
    share: str
    functions: str


@dataclass(frozen=True)
class NativeView:
    """The training process's lines first, each process's longest first."""

    rows: tuple[NativeRow, ...]
    caption: str


def native_view(report: Report) -> NativeView | None:
    """The native code that a report tells of; None where none was sampled."""
    found = report.native_stacks
    if found is None:
        return None
    children = f" and of its children ({found.children})" if found.children else ""
    return NativeView(
        rows=tuple(_row(one) for one in found.lines),
        caption=(
            f"{text.count(found.samples, 'sample')} of the training process{children}, by py-spy, {found.rate_hz} a "
            "second since the first step. Shares of a child's lines are of all children's samples in code of the run."
            + _doubt(sum(line.samples for line in found.lines if not line.in_child))
        ),
    )


def _doubt(samples: int) -> str:
    """How far shares of so few samples may be off: two standard errors of a half, which are the widest."""
    if not 0 < samples < MANY_SAMPLES:
        return ""
    return (
        f" So few samples of the training process tell shares to about {math.ceil(100 / math.sqrt(samples))} points;"
        " more steps (`--steps`) give more."
    )


def _row(one: NativeLine) -> NativeRow:
    shown = [function for function in one.functions if function.share >= LEAST_SHARE] or one.functions[:1]
    return NativeRow(
        process="child" if one.in_child else "training",
        line=f"{short_path(one.file)}:{one.line} ({one.function})",
        share=text.percent(one.share),
        functions=", ".join(_function(function) for function in shown),
    )


def _function(one: NativeFunction) -> str:
    where = f" ({one.library})" if one.library and one.library not in one.name else ""
    return f"{text.percent(one.share)} {one.name}{where}"

"""What a report is made of: sections of blocks, which every format writes in its own way. Words and numbers only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..figures.template import Figure
from ..views import format as text
from ..views.advice import PrescriptionView
from ..views.diagnosis import DiagnosisView, FindingView, SetupGroup, StageView
from ..views.diagnosis import Figure as KeyFigure

Row: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Chart:
    """A figure and the same in words; ``draw`` takes whether the ground is dark, which matters if it is ``themed``."""

    words: str
    draw: Callable[[bool], Figure]
    title: str = ""
    themed: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of equal columns; never empty.

    Attributes:
        folded: it repeats or details what stands above it.
        left_out: so many rows more than these there are.
    """

    title: str
    rows: tuple[Row, ...]
    folded: bool = False
    left_out: int = 0


def left_out(rows: int) -> str:
    """What stands below a table that is cut."""
    return f"{text.count(rows, 'more row')} left out here: report.json has all."


@dataclass(frozen=True)
class Stages:
    """The stages of the mean step, largest first."""

    stages: tuple[StageView, ...]


@dataclass(frozen=True)
class KeyFigures:
    """Numbers with their names and what they mean."""

    figures: tuple[KeyFigure, ...]


@dataclass(frozen=True)
class Findings:
    """What was found, headline first."""

    findings: tuple[FindingView, ...]


@dataclass(frozen=True)
class Prescriptions:
    """What to try, in order; ``run`` is what to name in commands, None where its command cannot be run again."""

    prescriptions: tuple[PrescriptionView, ...]
    run: str | None


@dataclass(frozen=True)
class Settings:
    """Settings, group by group."""

    groups: tuple[SetupGroup, ...]


@dataclass(frozen=True)
class Sentences:
    """Sentences, one line each."""

    sentences: tuple[str, ...]


Block: TypeAlias = Chart | Table | Stages | KeyFigures | Findings | Prescriptions | Settings | Sentences


@dataclass(frozen=True)
class Section:
    """A part of a report under a heading of its own.

    Attributes:
        name: of the section in links within a report.
        caption: what the section shows, or why there is nothing.
        aside: a reader who wants the answer can do without it.
    """

    name: str
    title: str
    caption: str
    blocks: tuple[Block, ...]
    aside: bool = False


@dataclass(frozen=True)
class Contents:
    """All of a report: which run, its verdict, what to try first, and the sections."""

    head: DiagnosisView
    first_advice: str | None
    sections: tuple[Section, ...]
    written_by: str

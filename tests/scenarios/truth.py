"""What is known of a scenario by construction: its ``truth.toml``.

A place is given by a text that stands in ``slow.py`` exactly once, not by a number, so that it stays true when the
script changes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from pydantic import BaseModel, ConfigDict, model_validator

from trainrx.profiler.vocabulary import Kind

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

FOLDER = Path(__file__).parent
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


class Needs(BaseModel):
    """What a machine must have to show a scenario."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cores: int = 1
    gpu: bool = False
    modules: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()

    def missing(self) -> str | None:
        """Why this machine cannot show it; None if it can."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if cores < self.cores:
            return f"needs {self.cores} cores, this machine has {cores}"
        absent = [name for name in self.modules if find_spec(name) is None]
        absent += [name for name in self.programs if which(name) is None]
        if absent:
            return f"needs {', '.join(absent)}"
        if self.gpu:
            import torch

            return None if torch.cuda.is_available() else "needs a GPU"
        return None


class Truth(BaseModel):
    """The planted fault of one scenario.

    Attributes:
        title: what is wrong, in a few words.
        kind: the bottleneck; None for a healthy run. ``compute`` is a run that its model fills, which is a note.
        causes: the causes that are true of it; empty where the kind says all.
        lines: texts that each end on one true line of ``slow.py``; empty where no line is to blame.
        rank: the rank to blame.
        remedies: methods of the catalog that are a true change; the first one is what ``fixed.py`` does.
        wrong_first: methods that the textbook names and that must not be the first prescription.
        knob: the switch that makes the change from outside.
        distributed: run under torchrun with two ranks.
        steps: steps to time; more where the fault is rare.
        samples_ratio: samples of a fixed step over samples of a slow one.
        speeds_up: whether ``fixed.py`` has a shorter step; memory faults have not.
        quick: part of the subset that the test suite runs.
        prefix: a command in front of the whole, such as one that sets a limit.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    kind: Kind | None = None
    causes: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    rank: int | None = None
    remedies: tuple[str, ...] = ()
    wrong_first: tuple[str, ...] = ()
    knob: str | None = None
    distributed: bool = False
    steps: int = 40
    samples_ratio: float = 1.0
    speeds_up: bool = True
    quick: bool = False
    prefix: tuple[str, ...] = ()
    needs: Needs = Needs()

    @model_validator(mode="after")
    def _fault_is_whole(self) -> Truth:
        if self.kind is None and (self.causes or self.lines or self.remedies or self.knob):
            raise ValueError("a healthy scenario has no cause, line, remedy or knob")
        return self

    @property
    def expected(self) -> str:
        """The kind as a word for tables."""
        return self.kind.value if self.kind is not None else "healthy"


class Scenario:
    """A folder of ``tests/scenarios``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = FOLDER / name
        self.truth = Truth.model_validate(tomllib.loads((self.path / "truth.toml").read_text()))

    def is_among(self, patterns: Sequence[str]) -> bool:
        """Whether its name matches a pattern such as ``ddp_*``; without patterns every scenario is meant."""
        return not patterns or any(fnmatch(self.name, pattern) for pattern in patterns)

    @property
    def slow(self) -> Path:
        """The script with the fault."""
        return self.path / "slow.py"

    @property
    def fixed(self) -> Path:
        """The script with the right change; a healthy scenario has none."""
        return self.path / "fixed.py"

    def line_numbers(self) -> set[int]:
        """The true lines of ``slow.py``, counted from 1."""
        text = self.slow.read_text()
        return {_line_of(text, marker) for marker in self.truth.lines}


def all_scenarios() -> list[Scenario]:
    """Every scenario, by name."""
    return [Scenario(path.parent.name) for path in sorted(FOLDER.glob("*/truth.toml"))]


def _line_of(text: str, marker: str) -> int:
    """The line on which the only occurrence of a marker ends."""
    if text.count(marker) != 1:
        raise ValueError(f"{marker!r} stands {text.count(marker)} times in slow.py, expected exactly once")
    return text[: text.index(marker) + len(marker)].count("\n") + 1

"""Finds bottlenecks: one rule file per kind, each a pure function of an `Observation`.

A rule file has ``find(observation) -> Finding | None``; every module of this package with one is a rule.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module

from ..observation import Observation
from ..report import Finding
from ..vocabulary import Severity

Rule = Callable[[Observation], Finding | None]


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule of this package."""
    modules = [import_module(f".{info.name}", __name__) for info in pkgutil.iter_modules(__path__)]
    return tuple(module.find for module in modules if hasattr(module, "find"))


def diagnose(observation: Observation) -> list[Finding]:
    """All findings, headline first: findings above a note by exposed time, then notes."""
    found = [finding for rule in rules() if (finding := rule(observation)) is not None]
    return sorted(
        found, key=lambda finding: (finding.severity is Severity.NOTE, -(finding.ms_per_step or 0.0))
    )

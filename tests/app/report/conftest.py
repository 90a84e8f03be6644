"""A report with every part there is, and the same with every text in it turned hostile."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

#: Fields whose words come from a fixed list, or that the report's schema checks.
WORDS = {
    "kind", "family", "severity", "confidence", "name", "status", "basis", "source", "started", "finding", "stage", "activity",
    "equivalence", "grade", "gain_kind",
}  # fmt: skip


@pytest.fixture
def everything(samples: Any) -> Any:
    parts, advised = samples.traced_report("a"), samples.advised_report("a")
    return parts.model_copy(
        update={
            "prescriptions": advised.prescriptions, "trials": advised.trials, "cells": advised.cells,
            "ruled_out": advised.ruled_out, "loader": samples.loader(), "telemetry": samples.telemetry(),
        }
    )  # fmt: skip


@pytest.fixture
def poisoned() -> Callable[[Any, str], Any]:
    """Puts a text in place of every other text of a report."""

    def poison(value: Any, evil: str, key: str = "") -> Any:
        if isinstance(value, dict):
            if key in ("setup", "knobs"):
                return {evil: evil}
            return {name: poison(part, evil, name) for name, part in value.items()}
        if isinstance(value, list):
            return [poison(part, evil, key) for part in value]
        return evil if isinstance(value, str) and key not in WORDS else value

    return lambda report, evil: type(report).model_validate(poison(json.loads(report.to_json()), evil))

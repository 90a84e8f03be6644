"""Copies of batches to the GPU that nothing hides."""

from __future__ import annotations

from collections.abc import Sequence

from ..observation import Observation
from ..report import Crossing, Fact, Finding, Where
from ..vocabulary import Call, Kind, Stage
from .finding import ms, percent, timed_finding
from .thresholds import PAGEABLE_SHARE


def find(observation: Observation) -> Finding | None:
    """Time in which the GPU only waits for its input to be copied; the cause by how that is copied."""
    seconds = observation.seconds(Stage.H2D)
    copies = [one for one in observation.crossings if one.call is Call.TO_DEVICE]
    pageable = _pageable_share(copies)
    if (
        pageable is None
    ):  # of what the loader does not pin nothing is page-locked, unless the script does it itself
        from_pageable = observation.setup.get("loader.pin_memory") is False
    else:
        from_pageable = pageable >= PAGEABLE_SHARE
    how = "from pageable memory" if from_pageable else "while nothing is computed"
    return timed_finding(
        observation,
        Kind.H2D_TRANSFER,
        seconds,
        cause="pageable-memory" if from_pageable else "not-overlapped",
        summary=(
            f"Copying the batch to the GPU takes {ms(seconds)} of every step "
            f"({percent(seconds / observation.step_s)}), {how}."
        ),
        where=tuple(Where(file=one.file, line=one.line, function=one.function) for one in copies[:3]),
        evidence=tuple(_facts(copies, pageable, seconds)),
    )


def _pageable_share(copies: Sequence[Crossing]) -> float | None:
    """Of the bytes whose memory is known, the share that was not page-locked."""
    known = [one for one in copies if one.pinned is not None and one.bytes_per_step]
    total = sum(one.bytes_per_step or 0 for one in known)
    return sum(one.bytes_per_step or 0 for one in known if not one.pinned) / total if total else None


def _facts(copies: Sequence[Crossing], pageable: float | None, seconds: float) -> list[Fact]:
    facts: list[Fact] = []
    counted = [one.bytes_per_step for one in copies if one.bytes_per_step is not None]
    if counted:
        facts.append(Fact(name="copied per step", value=sum(counted), unit="bytes"))
        if seconds > 0:
            rate = sum(counted) / seconds / 1e9
            facts.append(
                Fact(name="copied over exposed time", value=round(rate, 2), unit="GB/s", basis="derived")
            )
    if pageable is not None:
        facts.append(Fact(name="bytes from pageable memory", value=round(pageable, 4), unit="share"))
    waits = [one.non_blocking for one in copies if one.non_blocking is not None]
    if waits:
        facts.append(Fact(name="non_blocking", value=all(waits), basis="setup"))
    return facts

"""The bundled catalog, read once, and reports made by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from trainrx.catalog import Catalog, load_catalog
from trainrx.profiler.report import Finding, Report, RunInfo, StageShare, StepTime
from trainrx.profiler.vocabulary import Confidence, Kind, RunStatus, Severity, Stage

MakeReport = Callable[..., Report]


@pytest.fixture(scope="session")
def bundled() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="session")
def make_finding() -> Callable[..., Finding]:
    def make(kind: Kind, share: float = 0.4, *, cause: str | None = None, **more: Any) -> Finding:
        return Finding(
            kind=kind,
            family=kind.family,
            cause=cause,
            share=share,
            ms_per_step=share * 100,
            severity=more.pop("severity", Severity.HIGH),
            confidence=Confidence.HIGH,
            summary=f"{kind} takes {share:.0%}.",
            **more,
        )

    return make


@pytest.fixture(scope="session")
def make_report(make_finding: Callable[..., Finding]) -> MakeReport:
    """A run with steps of 100 ms; findings are given as (kind, share) or made before."""

    def make(
        *findings: Finding | tuple[Kind, float],
        setup: Mapping[str, object] | None = None,
        stages: Mapping[Stage, float] | None = None,
        **more: Any,
    ) -> Report:
        return Report(
            run=RunInfo(id="r", command=["python", "train.py"], status=RunStatus.FINISHED),
            verdict="",
            setup=dict(setup or {}),
            step_time=StepTime(p50_s=0.1, p95_s=0.11, mean_s=0.1, n=40),
            stages=[
                StageShare(name=stage, seconds_per_step=share * 0.1, share=share)
                for stage, share in (stages or {}).items()
            ],
            findings=[one if isinstance(one, Finding) else make_finding(*one) for one in findings],
            **more,
        )

    return make

"""Observations made by hand, for tests of the rules."""

from collections.abc import Callable
from typing import Any

import pytest

from trainrx.profiler.observation import Observation
from trainrx.profiler.report import HostLine, StepTime
from trainrx.profiler.vocabulary import Activity, Stage

Observe = Callable[..., Observation]
MakeLine = Callable[..., HostLine]
CPU = {"device.kind": "cpu", "cpu.cores": 4, "cpu.threads": 4}


@pytest.fixture(scope="session")
def observe() -> Observe:
    """Builds an observation of a CPU run from stages in milliseconds."""

    def make(
        stages_ms: dict[Stage, float], *, setup: dict[str, Any] | None = None, **facts: Any
    ) -> Observation:
        step_s = sum(stages_ms.values()) / 1e3
        return Observation(
            setup={**CPU, **(setup or {})},
            step_time=StepTime(p50_s=step_s, p95_s=step_s, mean_s=step_s, n=40),
            stages={stage: value / 1e3 for stage, value in stages_ms.items()},
            **facts,
        )

    return make


@pytest.fixture(scope="session")
def make_line() -> MakeLine:
    """Builds a sampled line of the script."""

    def make(
        milliseconds: float,
        *,
        stage: Stage = Stage.HOST,
        line: int = 10,
        activity: Activity | None = None,
        user_code: bool = True,
        samples: int = 20,
    ) -> HostLine:
        return HostLine(
            file="train.py",
            line=line,
            function="main",
            stage=stage,
            seconds_per_step=milliseconds / 1e3,
            share=0.1,
            samples=samples,
            user_code=user_code,
            activity=activity,
        )

    return make

"""A compiled model is compiled again and again, or not any more; or cuDNN searches anew for each shape."""

from __future__ import annotations

from collections import Counter

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Activity, Confidence, Kind, Stage
from .finding import ms, percent, place, places, timed_finding
from .thresholds import COMPILED_SAVES_SHARE

SHOWN_CHECKS = 3


def find(observation: Observation) -> Finding | None:
    """Compilations within the timed steps, when all should be compiled already; else what was given up."""
    return _anew(observation) or _given_up(observation) or _searched(observation)


def _anew(observation: Observation) -> Finding | None:
    compilation = observation.compilation
    if not compilation.seconds:
        return None
    varies = bool(observation.setup.get("batch.variable_length"))
    lines = tuple(
        line for line in observation.lines if line.activity is Activity.COMPILING and line.user_code
    )[:3]
    count = compilation.per_step * observation.step_time.n
    why = ": the inputs change their shape from step to step" if varies else ""
    return timed_finding(
        observation,
        Kind.RECOMPILATION,
        compilation.total_s,
        cause="changing-shapes" if varies else "failing-guards",
        summary=(
            f"torch.compile compiled {count:.0f} times anew in {observation.step_time.n} steps, "
            f"{ms(compilation.total_s)} of every step ({percent(compilation.total_s / observation.step_s)})"
            f"{place(lines)}{why}{_check(observation)}."
        ),
        where=places(lines),
        evidence=(Fact(name="compilations in the timed steps", value=round(count)), *_checks(observation)),
    )


def _check(observation: Observation) -> str:
    """The last check of the compiler's that failed, for the end of a sentence."""
    known = observation.compiled.recompilations
    return f"; its last failed check: {known[-1].reason}" if known else ""


def _checks(observation: Observation) -> tuple[Fact, ...]:
    """The last failed check of each function, those that were compiled anew most often first."""
    last = {one.where: one.reason for one in observation.compiled.recompilations}
    often = Counter(one.where for one in observation.compiled.recompilations)
    return tuple(
        Fact(name=f"failed check of {where.function or 'a function'}", value=last[where])
        for where, _ in often.most_common(SHOWN_CHECKS)
    )


def _given_up(observation: Observation) -> Finding | None:
    """The compiler hit its limit: what it no longer compiles runs as if it was not compiled, whatever that costs."""
    limit = observation.compiled.limit
    if limit is None:
        return None
    seconds = COMPILED_SAVES_SHARE * observation.seconds(Stage.FORWARD, Stage.BACKWARD)
    found = timed_finding(
        observation,
        Kind.RECOMPILATION,
        seconds,
        cause="recompile-limit",
        basis="derived",
        summary=(
            f"torch.compile met more versions of a function than its {limit} allows and runs it uncompiled since: "
            f"perhaps {ms(seconds)} of every step ({percent(seconds / observation.step_s)}), which a compiler commonly "
            f"saves{_check(observation)}."
        ),
        evidence=(Fact(name="limit that was hit", value=limit), *_checks(observation)),
    )
    return None if found is None else found.model_copy(update={"confidence": Confidence.LOW})


def _searched(observation: Observation) -> Finding | None:
    """With ``cudnn.benchmark`` each new shape has algorithms tried for it: what slow steps take above the median."""
    setup = observation.setup
    wanted = ("torch.cudnn_benchmark", "batch.variable_length")
    convolves = "conv" in setup.get("model.has", ())
    if setup.get("device.kind") != "cuda" or not convolves or not all(setup.get(name) for name in wanted):
        return None
    seconds = max(observation.step_time.mean_s - observation.step_time.p50_s, 0.0)
    found = timed_finding(
        observation,
        Kind.RECOMPILATION,
        seconds,
        cause="cudnn-benchmark-varying-shapes",
        basis="derived",
        summary=(
            f"Inputs change their shape and cudnn.benchmark tries algorithms anew for each: the mean step takes "
            f"{ms(seconds)} longer than the median one ({percent(seconds / observation.step_s)})."
        ),
        evidence=tuple(Fact(name=name, value=True, basis="setup") for name in wanted),
    )
    return None if found is None else found.model_copy(update={"confidence": Confidence.LOW})

"""A compiled model is compiled again and again."""

from __future__ import annotations

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Activity, Kind
from .finding import ms, percent, place, places, timed_finding


def find(observation: Observation) -> Finding | None:
    """Compilations within the timed steps, when all should be compiled already."""
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
            f"{place(lines)}{why}."
        ),
        where=places(lines),
        evidence=(Fact(name="compilations in the timed steps", value=round(count)),),
    )

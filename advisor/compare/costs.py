"""What a training costs, and which column of a metric file tells it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

import numpy as np

from ...profiler.ingest.metric_table import Column, MetricTable

#: Numbers above this in a column of times count from 1970, not from the beginning of the training.
EPOCH_STAMP_S = 3e8


class CostAxis(str, Enum):
    """What quality is held against."""

    STEPS = "steps"
    EPOCHS = "epochs"
    SAMPLES = "samples"
    TOKENS = "tokens"
    SECONDS = "seconds"
    FLOPS = "flops"
    ENERGY = "energy"

    @property
    def on_hardware(self) -> bool:
        """It depends on the machine that the training ran on."""
        return self in (CostAxis.SECONDS, CostAxis.ENERGY)

    @property
    def unit(self) -> str:
        """What it is counted in."""
        return {CostAxis.SECONDS: "s", CostAxis.FLOPS: "FLOP", CostAxis.ENERGY: "J"}.get(self, self.value)


#: Names of cumulative columns, the surest first, and what one unit of them is in the axis' unit.
_NAMES: Mapping[CostAxis, tuple[tuple[str, float], ...]] = {
    CostAxis.STEPS: (
        (r"(trainer/)?(global_?)?steps?|_step", 1),
        (r"iter(ation)?s?|updates?|batch(_idx)?", 1),
    ),
    CostAxis.EPOCHS: ((r"(trainer/)?epochs?", 1),),
    CostAxis.SAMPLES: (
        (r"(consumed_|total_|train_)?(samples|examples|images|sequences)(_seen|_consumed)?", 1),
    ),
    CostAxis.TOKENS: ((r"(consumed_|total_|train_|num_(input_)?)?tokens(_seen|_consumed)?", 1),),
    CostAxis.SECONDS: (
        (r"(train(ing)?_|elapsed_|wall_?|total_|relative_?)?(seconds?|time_s|secs?)|elapsed(_s)?", 1),
        (r"(elapsed|train(ing)?|total|wall|relative)[_ ]?time|walltime|_runtime|time", 1),
        (r"(elapsed_|train(ing)?_|total_)?(minutes?|time_min)", 60),
        (r"(elapsed_|train(ing)?_|total_)?(hours?|time_h)|(gpu|device)_hours", 3600),
        (r"_?timestamp|wall time|created_at|date(time)?", 1),
    ),
    CostAxis.FLOPS: (
        (r"(total_|train_|cumulative_)?(flops?|flos)", 1),
        (r"(total_)?gflops?", 1e9),
        (r"(total_)?tflops?", 1e12),
        (r"(total_)?pflops?", 1e15),
    ),
    CostAxis.ENERGY: (
        (r"(total_|cumulative_)?(energy(_j)?|joules?)", 1),
        (r"(total_)?(energy_)?wh", 3600),
        (r"(total_)?(energy_)?kwh|energy_consumed", 3.6e6),
    ),
}


def cost_column(table: MetricTable, axis: CostAxis) -> Column | None:
    """The cost of each row that tells it, in the axis' unit; None where no column is known to.

    Time stamps count from the first row. A column that falls from row to row holds no running total and is passed over,
    except for steps and epochs, which fall where a training was resumed.
    """
    for pattern, scale in _NAMES[axis]:
        for name, column in table.columns.items():
            if re.fullmatch(pattern, name.strip(), re.IGNORECASE) and _is_cost(column, axis):
                return _scaled(column, scale, axis)
    return None


def named_column(table: MetricTable, name: str) -> Column | None:
    """The column called ``name`` as a cost; None where there is none or where it holds no running total."""
    column = table.columns.get(name)
    return column if column is not None and _is_cost(column, None) else None


def known_axes(table: MetricTable) -> tuple[CostAxis, ...]:
    """The axes that a table tells."""
    return tuple(axis for axis in CostAxis if cost_column(table, axis) is not None)


def is_cost_name(name: str) -> bool:
    """Whether a column is called as a cost is."""
    return any(
        re.fullmatch(pattern, name.strip(), re.IGNORECASE)
        for patterns in _NAMES.values()
        for pattern, _ in patterns
    )


def starts_at_first_row(table: MetricTable) -> bool:
    """The table's seconds are time stamps: what was before the first row is not in them."""
    for pattern, _ in _NAMES[CostAxis.SECONDS]:
        for name, column in table.columns.items():
            if re.fullmatch(pattern, name.strip(), re.IGNORECASE) and _is_cost(column, CostAxis.SECONDS):
                return bool(column.values[0] > EPOCH_STAMP_S)
    return False


def _is_cost(column: Column, axis: CostAxis | None) -> bool:
    values = column.values
    if not len(values) or not bool(np.all(np.isfinite(values))) or float(values.min()) < 0:
        return False
    if axis in (CostAxis.STEPS, CostAxis.EPOCHS):
        return float(values.max()) > 0
    return bool(np.all(np.diff(values) >= 0)) and bool(values[-1] > values[0] or len(values) == 1)


def _scaled(column: Column, scale: float, axis: CostAxis) -> Column:
    values = column.values
    is_stamp = axis is CostAxis.SECONDS and scale == 1 and values[0] > EPOCH_STAMP_S
    start = values[0] if is_stamp else 0.0
    return Column(column.rows, (values - start) * scale)

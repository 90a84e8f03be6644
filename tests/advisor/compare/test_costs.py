"""Which column tells a cost, in which unit; what is no running total is passed over."""

from __future__ import annotations

import pytest

from trainrx.advisor.compare.costs import CostAxis, cost_column, known_axes, named_column, starts_at_first_row
from trainrx.profiler.ingest.metric_table import MetricTable, parse_metric_table


def table(text: str) -> MetricTable:
    return parse_metric_table(text.encode(), source="a.csv")


@pytest.mark.parametrize(
    ("name", "axis", "value"),
    [
        ("step", CostAxis.STEPS, 20),
        ("global_step", CostAxis.STEPS, 20),
        ("trainer/global_step", CostAxis.STEPS, 20),
        ("Step", CostAxis.STEPS, 20),
        ("iteration", CostAxis.STEPS, 20),
        ("epoch", CostAxis.EPOCHS, 20),
        ("samples_seen", CostAxis.SAMPLES, 20),
        ("train_tokens", CostAxis.TOKENS, 20),
        ("seconds", CostAxis.SECONDS, 20),
        ("elapsed", CostAxis.SECONDS, 20),
        ("_runtime", CostAxis.SECONDS, 20),
        ("train_minutes", CostAxis.SECONDS, 1200),
        ("gpu_hours", CostAxis.SECONDS, 72000),
        ("total_flos", CostAxis.FLOPS, 20),
        ("total_tflops", CostAxis.FLOPS, 20e12),
        ("energy_j", CostAxis.ENERGY, 20),
        ("energy_kwh", CostAxis.ENERGY, 72e6),
    ],
)
def test_names_of_costs(name: str, axis: CostAxis, value: float) -> None:
    found = cost_column(table(f"{name},acc\n10,0.1\n20,0.2\n"), axis)
    assert found is not None and found.values[-1] == value


@pytest.mark.parametrize(
    "text", ["1764500000,0.1\n1764500060,0.2", "2025-11-30 10:00:00,0.1\n2025-11-30 10:01:00,0.2"]
)
def test_time_stamps_count_from_the_first_row(text: str) -> None:
    found = table(f"timestamp,acc\n{text}\n")
    column = cost_column(found, CostAxis.SECONDS)
    assert column is not None and column.values.tolist() == [0, 60]
    assert starts_at_first_row(found)


@pytest.mark.parametrize(
    ("name", "axis"),
    [("total_flos", CostAxis.FLOPS), ("tokens", CostAxis.TOKENS), ("energy_j", CostAxis.ENERGY)],
)
def test_other_costs_keep_their_first_row_however_large(name: str, axis: CostAxis) -> None:
    found = cost_column(table(f"{name},acc\n1000000000,0.1\n2000000000,0.2\n"), axis)
    assert found is not None and found.values.tolist() == [1e9, 2e9]


def test_times_of_single_epochs_are_no_running_total() -> None:
    found = table("epoch,time,acc\n1,30,0.1\n2,28,0.2\n3,29,0.3\n")
    assert known_axes(found) == (CostAxis.EPOCHS,)
    assert not starts_at_first_row(found)


def test_a_column_can_be_named_as_cost_if_it_grows() -> None:
    found = table("euros,falling,acc\n1,3,0.1\n2,2,0.2\n")
    assert named_column(found, "euros") is not None
    assert named_column(found, "falling") is None and named_column(found, "nothing") is None

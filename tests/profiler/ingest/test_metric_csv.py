"""Metric series from CSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.profiler.errors import InputError
from trainrx.profiler.ingest.metric_csv import read_metric_csv


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "metrics.csv"
    path.write_text(text)
    return path


def test_units_of_nvidia_smi_are_understood(tmp_path: Path) -> None:
    text = "timestamp, index, utilization.gpu [%]\n2025/01/01 10:00:00.000, 0, 50 %\n2025/01/01 10:00:02.500, 0, 70 %\n"
    read = read_metric_csv(written(tmp_path, text))
    (use,) = read.metrics
    assert (read.rows, use.device, use.mean, use.smallest, use.largest) == (2, 0, 60.0, 50.0, 70.0)


def test_devices_in_column_names(tmp_path: Path) -> None:
    read = read_metric_csv(written(tmp_path, "start_time,gpu0_energy,gpu1_energy\n1,10,20\n2,30,40\n"))
    assert {one.device: one.mean for one in read.metrics} == {0: 20.0, 1: 30.0}


def test_missing_values_are_no_zeros(tmp_path: Path) -> None:
    read = read_metric_csv(written(tmp_path, "timestamp,power\n1,\n2,N/A\n3,nan\n4,8\n"))
    assert read.rows == 4
    assert [(one.mean, one.smallest) for one in read.metrics] == [(8.0, 8.0)]


def test_rows_of_devices_are_told_apart_wherever_the_column_stands(tmp_path: Path) -> None:
    text = "timestamp,power.draw [W],gpu_index\n1,100.5 W,0\n1,[N/A],1\n2,200 W,1\n"
    read = read_metric_csv(written(tmp_path, text))
    assert {one.device: one.mean for one in read.metrics} == {0: 100.5, 1: 200.0}


def test_a_table_without_numbers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="without any column of numbers"):
        read_metric_csv(written(tmp_path, "timestamp,name\n1,a\n"))

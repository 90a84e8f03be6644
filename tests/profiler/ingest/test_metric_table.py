"""Metric files as tables: CSV, JSON lines, Lightning, Transformers; damage, limits, and what is left out."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.errors import InputError
from trainrx.profiler.ingest import metric_table
from trainrx.profiler.ingest.metric_table import MetricTable, parse_metric_table, read_metric_table


def parsed(text: str) -> MetricTable:
    return parse_metric_table(text.encode(), source="a")


def test_lightning_writes_training_and_validation_in_rows_of_their_own() -> None:
    table = parsed("epoch,step,train_loss,val_loss\n0,49,1.5,\n0,49,,1.2\n1,99,0.7,\n1,99,,0.6\n")
    assert table.columns["val_loss"].rows.tolist() == [1, 3]
    assert table.columns["val_loss"].values.tolist() == [1.2, 0.6]
    assert table.columns["step"].values.tolist() == [49, 49, 99, 99]


def test_json_lines_with_objects_within_objects() -> None:
    table = parsed('{"step":1,"val":{"loss":2.0,"ok":true},"name":"x"}\n{"step":2,"val":{"loss":1.0}}\n')
    assert list(table.columns) == ["step", "val/loss"]
    assert table.columns["val/loss"].values.tolist() == [2, 1]


def test_a_torn_last_line_is_left_out_and_one_in_the_middle_is_told() -> None:
    assert parsed('{"step":1,"a":1}\n{"step":2,"a":2}\n{"st').columns["a"].values.tolist() == [1, 2]
    with pytest.raises(InputError, match="line 2 cannot be read"):
        parsed('{"step":1}\n{"st\n{"step":2}\n')


def test_a_training_that_broke_keeps_its_nan() -> None:
    values = parsed('{"step":1,"loss":1.0}\n{"step":2,"loss":NaN}\n').columns["loss"].values
    assert values[0] == 1 and math.isnan(values[1])
    assert math.isnan(parsed("step,loss\n1,2\n2,nan\n").columns["loss"].values[1])


def test_transformers_tells_totals_and_the_steps_it_planned() -> None:
    state = {
        "global_step": 100,
        "max_steps": 200,
        "log_history": [
            {"step": 50, "epoch": 0.5, "loss": 2.0, "learning_rate": 1e-4},
            {"step": 50, "epoch": 0.5, "eval_loss": 1.9},
            {"step": 100, "epoch": 1.0, "eval_loss": 1.5},
            {"step": 100, "epoch": 1.0, "total_flos": 1e12, "train_runtime": 40.0, "train_loss": 1.8},
        ],
    }
    table = parsed(json.dumps(state))
    assert table.planned_steps == 200
    assert table.columns["eval_loss"].values.tolist() == [1.9, 1.5]
    assert table.columns["total_flos"].values.tolist() == [5e11, 5e11, 1e12, 1e12]
    assert table.columns["train_seconds"].values.tolist() == [20, 20, 40, 40]
    assert any("spread evenly" in note for note in table.notes)


def test_units_and_stamps_of_a_csv_are_numbers() -> None:
    table = parsed(
        "timestamp,power,memory,name\n2025/01/01 10:00:00.000,70.5 W,4 MiB,4 cats\n2025-01-01T10:00:02.5Z,1,2,3\n"
    )
    assert table.columns["power"].values.tolist() == [70.5, 1]
    assert table.columns["memory"].values.tolist() == [4, 2]
    assert table.columns["name"].values.tolist() == [3]


def test_other_separators_and_a_byte_order_mark() -> None:
    assert parsed("\ufeffstep;acc\n1;0.5\n").columns["acc"].values.tolist() == [0.5]
    assert parsed("step\tacc\n1\t0.5\n").columns["acc"].values.tolist() == [0.5]


def test_a_gzip_file_and_a_damaged_one(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    packed = gzip.compress(b"step,acc\n1,0.5\n2,0.6\n" * 50)
    path.write_bytes(packed)
    assert read_metric_table(path).columns["acc"].values[0] == 0.5
    path.write_bytes(packed[:40])
    with pytest.raises(InputError, match="damaged"):
        read_metric_table(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff" * 100,
        b"name,other\na,b\n",
        b"{",
        b"[1,2,3]",
        b'{"log_history": 7}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"step\n" + b"9" * 200_000,
        b"a,b\n1,nan\n" [:8],
        b'{"log_history": [1, {"step": "x"}], "global_step": 1e999}',
    ],
)  # fmt: skip
def test_what_holds_no_numbers_is_one_clear_sentence(content: bytes) -> None:
    try:
        parse_metric_table(content, source="a")
    except InputError as error:
        assert "\n" not in str(error) and len(str(error)) < 400


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric_table, "MAX_ROWS", 3)
    with pytest.raises(InputError, match="more than 3 rows"):
        parsed("a\n1\n2\n3\n4\n")
    monkeypatch.setattr(metric_table, "LIMIT_BYTES", 4)
    with pytest.raises(InputError, match="larger than"):
        parsed("a\n1\n2\n")


def test_numbers_too_large_for_a_float_are_infinite() -> None:
    values = parsed('{"a":1}\n{"a":1' + "0" * 400 + "}\n").columns["a"].values
    assert math.isinf(values[1])


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        table = parse_metric_table(content, source="a")
    except InputError:
        return
    assert all(len(column.rows) == len(column.values) > 0 for column in table.columns.values())


@given(
    st.dictionaries(
        st.sampled_from(["step", "acc", "lr"]),
        st.floats(allow_nan=False, allow_infinity=False, width=32),
        min_size=1,
    )
)
def test_json_lines_come_back_as_written(row: dict[str, float]) -> None:
    table = parsed(json.dumps(row))
    assert {name: column.values[0] for name, column in table.columns.items()} == row

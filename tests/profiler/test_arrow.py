"""NumPy columns written as Arrow read back the same, and pandas stays out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pyarrow import parquet

from trainrx.profiler.arrow import to_arrow, to_table

TYPES = st.sampled_from([np.bool_, np.int64, np.int32, np.uint8, np.float64])
COLUMNS = TYPES.flatmap(lambda kind: arrays.arrays(kind, st.integers(0, 40))) | st.lists(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
).map(lambda words: np.array(words, dtype=str))


@given(COLUMNS)
def test_a_column_reads_back_as_it_was(column: np.ndarray[Any, Any]) -> None:
    read = to_arrow(column)
    read.validate(full=True)
    assert np.array_equal(
        np.array(read.to_pylist(), dtype=column.dtype), column, equal_nan=column.dtype.kind == "f"
    )


def test_every_other_row_of_a_column_is_a_column() -> None:
    for kind in (np.bool_, np.int64, np.float64, np.str_):
        column = np.arange(9).astype(kind)[::2]
        assert to_arrow(column).to_pylist() == column.tolist()


def test_a_table_is_one_for_pandas(tmp_path: Path) -> None:
    columns = {
        "step": np.arange(3),
        "phase": np.array(["warmup", "timed", "timed"]),
        "outlier": np.array([0, 0, 1], bool),
    }
    parquet.write_table(to_table(columns), tmp_path / "steps.parquet")
    assert pd.read_parquet(tmp_path / "steps.parquet").to_dict("list") == {
        name: column.tolist() for name, column in columns.items()
    }


def test_a_column_of_another_type_is_refused() -> None:
    with pytest.raises(KeyError):
        to_arrow(np.array([1j]))

"""NumPy columns as Arrow arrays, without pandas, which `pyarrow.array` would import: 40 MB and a quarter second."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

Columns = dict[str, np.ndarray[Any, Any]]
_TYPES = {"int64": pa.int64(), "int32": pa.int32(), "uint8": pa.uint8(), "float64": pa.float64()}


def to_arrow(column: np.ndarray[Any, Any]) -> Any:
    """A column of numbers, over its own memory; of truth values or of text, copied.

    Raises:
        KeyError: a column of another type.
    """
    if column.dtype == np.bool_:
        packed = np.packbits(column, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(column), [None, pa.py_buffer(packed)])
    if column.dtype.kind == "U":
        words = [word.encode() for word in column.tolist()]
        ends = np.cumsum([0, *map(len, words)], dtype=np.int32)
        return pa.Array.from_buffers(
            pa.utf8(), len(words), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(words))]
        )
    plain = np.ascontiguousarray(column)
    return pa.Array.from_buffers(_TYPES[plain.dtype.name], len(plain), [None, pa.py_buffer(plain)])


def to_table(columns: Columns) -> Any:
    """An Arrow table of columns of one length."""
    return pa.Table.from_arrays([to_arrow(column) for column in columns.values()], names=list(columns))

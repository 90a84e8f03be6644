"""Reads PyTorch and Chakra execution traces: which operators ran in what order. They hold no device times."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..errors import InputError
from .recordings import ExecutionGraph
from .source import Progress, Source, no_progress

LIMIT_BYTES = 2 << 30
_COLLECTIVE_NAMES = ("nccl:", "record_param_comms", "c10d::")


class _Node(msgspec.Struct):
    name: str = ""


class _File(msgspec.Struct):
    nodes: list[_Node]
    schema: str = ""


def read_execution_trace(path: Path, *, progress: Progress = no_progress) -> ExecutionGraph:
    """Read an execution trace, plain or gzip.

    Raises:
        InputError: it is damaged.
    """
    with Source(path, progress=progress) as source:
        content = source.read_all(limit_bytes=LIMIT_BYTES)
    try:
        file = msgspec.json.decode(content, type=_File)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is a damaged execution trace: {error}") from None
    return ExecutionGraph(
        source=str(path),
        schema=file.schema,
        nodes=len(file.nodes),
        collectives=sum(node.name.startswith(_COLLECTIVE_NAMES) for node in file.nodes),
        notes=(
            "an execution trace has no device times: import the Kineto trace of the same run for a verdict",
        ),
    )

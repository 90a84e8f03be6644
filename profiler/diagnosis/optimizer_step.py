"""The parameter update takes more of the step than it should."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..observation import Observation
from ..report import Fact, Finding
from ..vocabulary import Kind, Stage
from .finding import ms, percent, stage_finding
from .thresholds import DOMINANT_PART, MANY_TENSORS, USED_ROWS_SHARE

_FACTS = (
    "optimizer.name", "optimizer.tensors", "optimizer.parameters", "optimizer.foreach", "optimizer.fused",
    "model.dense_embedding_parameters", "batch.index_values",
)  # fmt: skip


def find(observation: Observation) -> Finding | None:
    """Time in ``Optimizer.step`` and ``zero_grad``."""
    setup = observation.setup
    share = observation.share(Stage.OPTIMIZER)
    cause, detail = _cause(setup)
    return stage_finding(
        observation,
        Kind.OPTIMIZER_STEP,
        Stage.OPTIMIZER,
        cause=cause,
        summary=(
            f"{setup.get('optimizer.name', 'The optimizer')} takes {ms(observation.seconds(Stage.OPTIMIZER))} of every "
            f"step ({percent(share)}) to update the parameters{detail}."
        ),
        evidence=tuple(Fact(name=key, value=setup[key], basis="setup") for key in _FACTS if key in setup),
    )


def _cause(setup: Mapping[str, Any]) -> tuple[str | None, str]:
    rows, tensors = _unused_rows(setup), setup.get("optimizer.tensors")
    if rows is not None:
        return (
            "dense-embedding-gradient",
            f": all {rows:,} rows of an embedding get a gradient, though a batch looks up few of them",
        )
    one_by_one = not setup.get("optimizer.fused") and not setup.get("optimizer.foreach")
    if tensors is not None and tensors >= MANY_TENSORS and one_by_one and setup.get("device.kind") == "cpu":
        return "for-loop-optimizer", f", tensor by tensor over {tensors} of them"
    return None, ""


def _unused_rows(setup: Mapping[str, Any]) -> int | None:
    """Rows of an embedding that fills the model and of which a batch looks up few; None where there is none such."""
    rows, looked_up = setup.get("model.dense_embedding_rows", 0), setup.get("batch.index_values")
    embedded, total = setup.get("model.dense_embedding_parameters", 0), setup.get("optimizer.parameters")
    if not looked_up or not total or embedded < DOMINANT_PART * total:
        return None
    return rows if looked_up <= USED_ROWS_SHARE * rows else None

"""Refines kernel classes by the operator that launched a kernel, where the trace links them.

A convolution that runs as a matrix product has a kernel named so, and an optimizer without fused kernels
launches plain element-wise ones. The operator tells what its kernel is for; names stay decisive for the rest.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from ..ingest.column_values import distinct
from ..ingest.columns import HostKind, Trace
from .idle import launching_rows
from .intervals import contains, union
from .kernels import KINDS, KernelKind

_REFINED: tuple[tuple[re.Pattern[str], KernelKind, tuple[KernelKind, ...]], ...] = (
    (
        re.compile(r"conv(olution|\dd|_transpose|_tbc)|Convolution"),
        KernelKind.CONVOLUTION,
        (KernelKind.MATMUL, KernelKind.OTHER),
    ),
    (
        re.compile(r"scaled_dot_product|flash_attention|ScaledDotProduct.*Backward"),
        KernelKind.ATTENTION,
        (KernelKind.MATMUL, KernelKind.REDUCTION, KernelKind.OTHER),
    ),
    (
        re.compile(r"(batch|layer|group|instance|rms)_norm|(Batch|Layer|Group)Norm.*Backward"),
        KernelKind.NORMALIZATION,
        (KernelKind.REDUCTION, KernelKind.ELEMENTWISE, KernelKind.OTHER),
    ),
    (
        re.compile(r"^Optimizer\.step#"),
        KernelKind.OPTIMIZER,
        (KernelKind.ELEMENTWISE, KernelKind.REDUCTION, KernelKind.OTHER),
    ),
)
"""Operator names, the class their kernels get, and the classes by name that give way to it."""


def refined(trace: Trace, kinds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The classes of `kernels.device_kinds`, refined. Shape (device rows,)."""
    launching = launching_rows(trace)
    linked = np.flatnonzero(launching >= 0)
    result = kinds.copy()
    for pattern, kind, giving_way in _REFINED:
        rows = linked[np.isin(kinds[linked], [KINDS.index(one) for one in giving_way])]
        inside = _launched_inside(trace, pattern, launching[rows])
        result[rows[inside]] = KINDS.index(kind)
    return result


def _launched_inside(
    trace: Trace, pattern: re.Pattern[str], launching: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """For each launching call whether it lies in a range or operator of such a name on its own thread."""
    matches = np.array([pattern.search(name) is not None for name in trace.names], dtype=np.bool_)
    rows = trace.host_rows(HostKind.OP, HostKind.ANNOTATION)
    rows = rows[trace.names_where(matches, trace.host.name[rows])]
    inside = np.zeros(len(launching), dtype=np.bool_)
    for thread in distinct(trace.host.thread[rows]).tolist():
        own = rows[trace.host.thread[rows] == thread]
        spans = union(trace.host.start_ns[own], trace.host.end_ns[own])
        here = trace.host.thread[launching] == thread
        inside |= here & contains(spans, trace.host.start_ns[launching])
    return inside

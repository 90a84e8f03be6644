"""Compute: the device works nearly all the time, so only less or faster work helps."""

from __future__ import annotations

from ...report import Fact, Finding
from ...vocabulary import Kind
from ..thresholds import FULL_PRECISION_SHARE
from .finding import finding, hottest_kernel, percent, share_fact
from .observation import DeviceObservation


def find_in_trace(seen: DeviceObservation) -> list[Finding]:
    """Kernel time, with what the kernels' names tell of precision and matrix units."""
    evidence = [share_fact("kernels other than communication", seen.compute_share)]
    if seen.matrix_unit_share is not None:
        evidence.append(
            share_fact("matrix work on tensor cores, by kernel name", seen.matrix_unit_share, basis="derived")
        )
    evidence += [
        share_fact(f"matrix work in {name}, by kernel name", share, basis="derived")
        for name, share in seen.precision_shares.items()
    ]
    if seen.queue_depth is not None:
        evidence.append(Fact(name="kernels queued on average", value=round(seen.queue_depth, 1)))
    working = [name for name in seen.kernel_shares if name not in ("communication", "copy")]
    where, hottest = hottest_kernel(seen, *working)
    top = max(seen.kernel_shares.items(), key=lambda item: item[1], default=None)
    what = f", most of it in {top[0]} kernels" if top is not None and top[1] > 0 else ""
    return finding(
        Kind.COMPUTE,
        seen.compute_share,
        seen,
        cause=_cause(seen),
        where=where,
        evidence=[*evidence, *hottest],
        summary=f"Compute: the device works {percent(seen.compute_share)} of the time{what}.",
    )


def _cause(seen: DeviceObservation) -> str | None:
    if seen.precision_shares.get("fp32", 0.0) >= FULL_PRECISION_SHARE:
        return "full-precision"
    return None

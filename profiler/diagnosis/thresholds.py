"""Every threshold of the diagnosis in one table, each with where it comes from.

A finding is reported from ``report`` on, is moderate from ``moderate`` and high from ``high`` on. Only
moderate and high findings can be a headline.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..vocabulary import Kind, Severity


@dataclass(frozen=True)
class Levels:
    """From which exposed share of the window on a finding is reported, moderate and high, and why there."""

    report: float
    moderate: float
    high: float
    source: str

    def severity(self, share: float) -> Severity | None:
        """The severity of a share; None below ``report``."""
        if share < self.report:
            return None
        if share < self.moderate:
            return Severity.NOTE
        return Severity.MODERATE if share < self.high else Severity.HIGH


DEVICE_LEVELS: dict[Kind, Levels] = {
    Kind.DATA_LOADING: Levels(
        0.05,
        0.10,
        0.25,
        "PyTorch's TensorBoard plugin advised from 5 % data-loader time on; 25 % of a step is a quarter",
    ),
    Kind.H2D_TRANSFER: Levels(0.05, 0.10, 0.25, "as data-loading, for it hides the same way"),
    Kind.COMMUNICATION: Levels(
        0.05,
        0.10,
        0.25,
        "PyTorch's TensorBoard plugin warned from 10 % communication; exposed time is what costs",
    ),
    Kind.STRAGGLERS: Levels(0.05, 0.10, 0.25, "as communication, of which it is a part"),
    Kind.HOST_SYNC: Levels(
        0.05, 0.15, 0.30, "a few syncs per step for logging cost some percent and are common"
    ),
    Kind.LAUNCH_OVERHEAD: Levels(
        0.10,
        0.30,
        0.50,
        "eager ResNet-50 leaves a V100 idle for some 25 % unnoticed; beyond 30 % CUDA graphs pay",
    ),
    Kind.COMPUTE: Levels(
        0.80, 0.80, 0.95, "above 80 % kernel time all waiting together is worth less than 1.25x"
    ),
    Kind.MEMORY_BANDWIDTH: Levels(
        0.25, 0.60, 0.80, "share of the window in kernels that move more than they compute"
    ),
    Kind.OPTIMIZER_STEP: Levels(0.15, 0.30, 0.50, "a fused optimizer takes below 5 % of most steps"),
    Kind.MEMORY_CAPACITY: Levels(
        0.90, 1.01, 1.01, "above 90 % reserved the allocator begins to retry; it costs no time yet"
    ),
}

SHORT_KERNEL_US = 10.0
"""A launch from Python takes 4 to 10 microseconds, so a device that runs shorter kernels waits for its host.
"""

HIDDEN_COMMUNICATION_SHARE = 0.2
"""From this hidden part of communication on, overlap is at work and the rest is a matter of tuning it."""

PAGEABLE_SHARE = 0.5
"""When more than half of the copied bytes come from pageable memory, pinning is the first thing to change."""

FULL_PRECISION_SHARE = 0.5
"""When more than half of the matrix time whose precision is known runs in 32-bit floats, lower precision is
open."""

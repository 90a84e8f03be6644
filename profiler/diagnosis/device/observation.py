"""What the rules on device traces look at: facts derived from one trace, and from all ranks together.

Rules see nothing else, so they need no trace to be tested. Shares are of the window unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...timeline.kernels import HotKernel
from ...vocabulary import IdleCause


@dataclass(frozen=True)
class RankSkew:
    """How ranks wait for each other in their collectives; shares are of the window, mean over the ranks."""

    matched: int
    late_rank: int | None
    times_last: int
    waiting_share: float
    wire_share: float
    skew_mean_s: float


@dataclass(frozen=True)
class DeviceObservation:
    """Derived facts of a trace. What the file cannot tell is None.

    ``device_active``: work on a device was recorded. ``host_active``: operators or annotations were.
    ``compute_share``, ``communication_share``, ``idle_share`` and what only copies take sum to 1 where the device was
    active.
    ``kernel_shares`` is per kernel class, of the summed kernel time; ``layout_share`` is the part of it that converts
    image layouts. ``hottest_kernels`` has the kernel that takes most time in each of these classes. ``loader`` is
    ``single-process``, ``multi-process`` or None.
    """

    window_s: float
    step_s: float | None
    device_active: bool
    host_active: bool
    compute_share: float = 0.0
    communication_share: float = 0.0
    idle_share: float = 0.0
    idle_causes: Mapping[IdleCause, float] = field(default_factory=dict[IdleCause, float])
    data_wait_share: float | None = None
    loader: str | None = None
    kernels: int = 0
    mean_kernel_us: float | None = None
    launch_delay_median_us: float | None = None
    queue_depth: float | None = None
    kernel_shares: Mapping[str, float] = field(default_factory=dict[str, float])
    layout_share: float = 0.0
    hottest_kernels: Mapping[str, HotKernel] = field(default_factory=dict[str, HotKernel])
    matrix_unit_share: float | None = None
    precision_shares: Mapping[str, float] = field(default_factory=dict[str, float])
    communication_busy_share: float = 0.0
    h2d_exposed_share: float = 0.0
    h2d_bytes: int = 0
    h2d_s: float = 0.0
    h2d_pageable_share: float | None = None
    sync_calls: int = 0
    optimizer_device_share: float | None = None
    peak_allocated_bytes: int | None = None
    peak_reserved_bytes: int | None = None
    device_memory_bytes: int | None = None
    skew: RankSkew | None = None

    @property
    def ms_per_step(self) -> float:
        """Milliseconds of a step, or of the whole window where there are no steps."""
        return (self.window_s if self.step_s is None else self.step_s) * 1000

    @property
    def late_share(self) -> float:
        """Share in which ranks only wait for the late one; 0 without such a rank.

        Which of its collectives other kernels hide is not told apart, so waiting counts as exposed in the proportion
        in which all communication is.
        """
        if self.skew is None or self.skew.late_rank is None:
            return 0.0
        busy = self.communication_busy_share
        exposed_part = self.communication_share / busy if busy > 0 else 1.0
        return min(self.skew.waiting_share * exposed_part, self.communication_share)

    def cause_share(self, *causes: IdleCause) -> float:
        """Idle share of these causes together."""
        return sum(self.idle_causes.get(cause, 0.0) for cause in causes)

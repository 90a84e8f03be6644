"""What exchanging the same gradients in fewer collectives takes: a latency and a rate, as in Hockney's model.

A collective of ``b`` bytes takes ``latency + b / rate``. The rate is not measured here; it is taken at the low end of
what links reach, so that the bytes are not promised away, and latency is what that leaves of the measured time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MIB = 2**20
#: DDP's default bucket, and its first one, which is sent as soon as a few gradients are ready.
BUCKET_BYTES, FIRST_BUCKET_BYTES = 25 * MIB, MIB
#: Bytes per second between processes on CPUs (gloo over sockets), and between GPUs over PCIe 3. Ours, low ends.
CPU_RATE, GPU_RATE = 3e9, 8e9


@dataclass(frozen=True)
class Exchange:
    """The gradient exchange of a step.

    Attributes:
        exposed_s: measured seconds that it takes.
        collectives: how many make it up.
        total_bytes: of all gradients.
        rate: bytes per second.
    """

    exposed_s: float
    collectives: float
    total_bytes: float
    rate: float

    def remaining(self, collectives: int) -> float:
        """The share of the exposed time that is left with so many collectives; 1 at most."""
        if self.exposed_s <= 0 or self.collectives <= 0:
            return 1.0
        moving_s = min(self.total_bytes / self.rate, self.exposed_s)
        latency_s = (self.exposed_s - moving_s) / self.collectives
        return min((moving_s + collectives * latency_s) / self.exposed_s, 1.0)


def default_buckets(total_bytes: float) -> int:
    """How many buckets ``DistributedDataParallel`` makes of so many bytes by itself."""
    return 1 + math.ceil(max(total_bytes - FIRST_BUCKET_BYTES, 0.0) / BUCKET_BYTES)

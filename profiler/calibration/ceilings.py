"""The measured ceilings of a machine, as they are kept in a file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class MatmulRate(_Part):
    """The best rate of a square matrix product."""

    device: str
    dtype: str
    threads: int | None = Field(default=None, description="intra-op threads; None on a device")
    flops_per_s: float = Field(gt=0)


class Rate(_Part):
    """The best rate of moving bytes; ``latency_s`` is that of the smallest transfer, where it was measured."""

    name: str
    bytes_per_s: float = Field(gt=0)
    latency_s: float | None = None


class Ceilings(_Part):
    """All that was measured on one machine with one torch."""

    schema_version: int = SCHEMA_VERSION
    machine: str
    torch: str
    taken: str = Field(description="ISO 8601, UTC")
    seconds: float = Field(description="how long measuring took")
    matmul: list[MatmulRate] = []
    rates: list[Rate] = []
    unavailable: dict[str, str] = {}

    def matmul_rate(self, *, device: str, dtype: str, threads: int | None) -> MatmulRate | None:
        """The ceiling for a device and numeric type; on a CPU the best of up to so many threads.

        Where just that number of threads was not measured, the next higher one bounds it. None where nothing does.
        """
        fitting = [rate for rate in self.matmul if (rate.device, rate.dtype) == (device, dtype)]
        if device == "cpu" and threads is not None:
            bound = min((count for rate in fitting if (count := rate.threads or 0) >= threads), default=0)
            fitting = [rate for rate in fitting if (rate.threads or 0) <= bound]
        return max(fitting, key=lambda rate: rate.flops_per_s, default=None)

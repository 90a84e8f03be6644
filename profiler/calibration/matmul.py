"""The best rate of matrix products: floating-point operations a second, by numeric type and number of threads.

A product of two n × n matrices takes 2 n³ operations (n³ multiplications and as many additions).
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import torch

from ..agent.matmul_precision import matmul_precision
from .ceilings import MatmulRate

CPU_SIZE = 768
DEVICE_SIZE = 8192
REPEATS = 40
#: A type without hardware for it can take seconds a product: no further repeat begins after this.
BUDGET_S = 0.3
TENSOR_FLOAT = "tfloat32"
CPU_TYPES = (torch.float32, torch.bfloat16)
DEVICE_TYPES = (torch.float32, torch.bfloat16, torch.float16)


def matmul_rates(cores: int) -> Iterator[MatmulRate]:
    """The rates of the CPU for 1, 2, 4, … and all cores, and of the first device where there is one."""
    before = torch.get_num_threads()
    try:
        for threads in thread_counts(cores):
            torch.set_num_threads(threads)
            yield from (_rate("cpu", dtype, CPU_SIZE, threads) for dtype in CPU_TYPES)
    finally:
        torch.set_num_threads(before)
    if torch.cuda.is_available():
        yield from (_rate("cuda", dtype, DEVICE_SIZE, None) for dtype in DEVICE_TYPES)
        yield _tensor_float_rate()


def _tensor_float_rate() -> MatmulRate:
    """The rate of 32-bit floats where products may round them to TensorFloat-32."""
    before = matmul_precision(torch)
    torch.set_float32_matmul_precision("high")
    try:
        rate = _rate("cuda", torch.float32, DEVICE_SIZE, None)
    finally:
        torch.set_float32_matmul_precision(before)
    return rate.model_copy(update={"dtype": TENSOR_FLOAT})


def thread_counts(cores: int) -> list[int]:
    """1, 2, 4, … below the number of cores, and that."""
    powers = [2**power for power in range(cores.bit_length()) if 2**power < cores]
    return [*powers, max(cores, 1)]


def _rate(device: str, dtype: torch.dtype, size: int, threads: int | None) -> MatmulRate:
    left, right, out = (torch.ones(size, size, device=device, dtype=dtype) for _ in range(3))
    torch.matmul(left, right, out=out)
    began = time.perf_counter()
    best = min(_seconds(left, right, out, began) for _ in range(REPEATS))
    name = str(dtype).removeprefix("torch.")
    return MatmulRate(device=device, dtype=name, threads=threads, flops_per_s=2 * size**3 / best)


def _seconds(left: torch.Tensor, right: torch.Tensor, out: torch.Tensor, began: float) -> float:
    """Wall seconds of one product; infinite, without one, once the budget is used up."""
    if time.perf_counter() - began > BUDGET_S:
        return float("inf")
    _settle(left)
    start = time.perf_counter()
    torch.matmul(left, right, out=out)
    _settle(left)
    return time.perf_counter() - start


def _settle(tensor: torch.Tensor) -> None:
    if tensor.is_cuda:
        torch.cuda.synchronize()

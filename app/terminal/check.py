"""Prints what can be measured on this machine, and its ceilings."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from ...profiler.calibration import Ceilings
from ...profiler.capabilities import Capability
from .console import console


def print_capabilities(found: Sequence[Capability]) -> None:
    """A row for each thing that trainrx can measure somewhere."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for item in found:
        mark = Text("yes", style="green") if item.available else Text("no", style="yellow")
        table.add_row(mark, item.name, item.detail)
    console().print(table)


def print_ceilings(ceilings: Ceilings) -> None:
    """A row for each ceiling, with what could not be measured below."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("peak")
    table.add_column("", justify="right")
    for product in ceilings.matmul:
        threads = "" if product.threads is None else f", {product.threads} threads"
        table.add_row(
            f"matmul {product.dtype} on {product.device}{threads}",
            f"{product.flops_per_s / 1e9:,.1f} GFLOP/s",
        )
    for rate in ceilings.rates:
        latency = "" if rate.latency_s is None else f", {rate.latency_s * 1e6:,.0f} µs at least"
        table.add_row(rate.name, f"{rate.bytes_per_s / 1e9:,.2f} GB/s{latency}")
    for name, reason in ceilings.unavailable.items():
        table.add_row(name, f"not measured: {reason}")
    console().print(table)

"""Prints what can be measured on this machine."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from ...profiler.capabilities import Capability


def print_capabilities(found: Sequence[Capability]) -> None:
    """A row for each thing that trainrx can measure somewhere."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for item in found:
        mark = "[green]yes[/]" if item.available else "[yellow]no[/]"
        table.add_row(mark, item.name, item.detail)
    Console().print(table)

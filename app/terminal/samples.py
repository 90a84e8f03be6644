"""Prints the list of the runs that come with trainrx."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from ..views.run_list import RunRow
from .console import console


def print_samples(rows: Sequence[RunRow]) -> None:
    """A row for each: its name, what it waits for, and its verdict; below, how to open one."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("name", no_wrap=True)
    table.add_column("waits for", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for row in rows:
        table.add_row(Text(row.id, style="bold"), row.worst, Text(row.verdict))
    shown = console()
    shown.print(table)
    shown.print(
        Text("\nOpen one with `trainrx samples NAME`, or all in the browser with `trainrx samples --ui`.")
    )

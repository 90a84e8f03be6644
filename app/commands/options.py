"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DEFAULT_RUNS = Path("trainrx-runs")

RunsDir = Annotated[
    Path,
    typer.Option("--runs", envvar="TRAINRX_RUNS", help="folder that holds the runs"),
]
AsJson = Annotated[bool, typer.Option("--json", help="print one JSON document on stdout")]

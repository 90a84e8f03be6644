"""The demo, ``python -m trainrx.app.demo``: a real training script on real pictures, recorded and shown.

Nothing in it is planted: the script reads, decodes and augments each picture when asked for it, as many do.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..profiler.errors import TrainrxError
from ..profiler.launch import Limits
from ..profiler.store import RunFolder, find_run
from .commands.options import DEFAULT_RUNS, RunsDir
from .demo_pictures import make_pictures
from .recording import record_and_report
from .serve import serve

SCRIPT = Path(__file__).with_name("demo_script") / "train.py"
DEFAULT_DATA = Path("demo-data")


def demo(
    data: Annotated[Path, typer.Option(help="folder for the pictures")] = DEFAULT_DATA,
    runs: RunsDir = DEFAULT_RUNS,
    steps: Annotated[int, typer.Option(min=1, help="steps to time")] = 40,
    no_ui: Annotated[
        bool, typer.Option("--no-ui", envvar="TRAINRX_DEMO_NO_UI", help="end after the verdict")
    ] = False,
    browser: Annotated[bool, typer.Option(help="open a browser window")] = True,
) -> None:
    """Train a small network on pictures, record the run, and open the dashboard on it."""
    count = make_pictures(data)
    script = [str(SCRIPT), "--data", str(data)]
    typer.echo(
        f"{count} pictures in {data}. Recording the training on them:\n  trainrx profile {' '.join(script)}\n"
    )
    code = record_and_report(script, runs_dir=runs, limits=Limits(steps=steps), as_json=False)
    if code or no_ui:
        raise SystemExit(code)
    raise SystemExit(_show(find_run("last", runs), browser=browser))


def main() -> None:
    """Run the demo; an error becomes one sentence and its exit code."""
    try:
        typer.run(demo)
    except TrainrxError as error:
        sys.stderr.write(f"trainrx: {error}\n")
        sys.exit(error.exit_code)


def _show(run: RunFolder, *, browser: bool) -> int:
    return serve(
        run.path.parent,
        open_browser=browser,
        page="diagnosis",
        query={"run": run.path.name},
        tell=lambda url: typer.echo(f"Dashboard on {url} (Ctrl-C ends it)"),
    )


if __name__ == "__main__":
    main()

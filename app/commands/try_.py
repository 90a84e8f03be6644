"""``trainrx try``: measure changes on the user's own script."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import DEFAULT_RUNS, AsJson, RunsDir


def try_(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN] [KNOB=VALUE]...", show_default=False, help="RUN is `last` if left out"),
    ] = None,
    runs: RunsDir = DEFAULT_RUNS,
    auto: Annotated[
        bool,
        typer.Option("--auto", help="try what is prescribed, one after the other, and keep what is proven"),
    ] = False,
    knobs: Annotated[
        bool, typer.Option("--knobs", help="list the knobs, and why some do not apply to the run")
    ] = False,
    calibration: Annotated[
        bool, typer.Option("--calibration", help="show predicted against measured speed-ups of all runs")
    ] = False,
    pairs: Annotated[int, typer.Option(min=3, help="pairs of runs that are measured at least")] = 3,
    most_pairs: Annotated[int, typer.Option(min=3, help="pairs of runs that are measured at most")] = 10,
    steps: Annotated[
        int | None,
        typer.Option(
            min=3,
            help="steps that are timed in each run: 30, or more where 3 s hold more",
            show_default=False,
        ),
    ] = None,
    warmup: Annotated[int, typer.Option(min=1, help="steps left out of the timing before them")] = 5,
    budget: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="begin no pair that would end later")
    ] = 600.0,
    allow_semantic: Annotated[
        bool, typer.Option("--allow-semantic", help="also time changes that alter what the model learns")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure changes on the unedited script of a recorded run: interleaved pairs, with and without.

    Each measurement runs the script again in its own folder: what it writes there is written over.

    Exit codes: 0 the measurement answers, 1 the script failed, 2 usage, 3 the run cannot be read or run again, 4 the
    change met nothing to act on, or the pairs do not suffice for an answer, 130 it was interrupted.
    """
    from ..trying import Request, list_knobs, run_and_changes, show_calibration, try_auto, try_knobs

    run, changes = run_and_changes(words or [], runs)
    request = Request(
        run=run,
        runs_dir=runs,
        changes=tuple(changes),
        pairs=pairs,
        most_pairs=most_pairs,
        steps=steps,
        warmup=warmup,
        budget_s=budget,
        allow_semantic=allow_semantic,
        as_json=as_json,
    )
    if calibration:
        raise SystemExit(show_calibration(request))
    if knobs:
        raise SystemExit(list_knobs(request))
    raise SystemExit(try_auto(request) if auto else try_knobs(request))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("try")(try_)

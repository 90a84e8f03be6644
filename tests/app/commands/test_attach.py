"""``trainrx attach`` on the command line: what it refuses, and how an estimate is shown."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from trainrx.app.cli import app
from trainrx.app.terminal.report import render
from trainrx.profiler.errors import UsageError
from trainrx.profiler.report import Estimate, EstimatedShare, Report, RunInfo
from trainrx.profiler.vocabulary import RunStatus, Stage


def test_a_process_that_is_not_there_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["attach", str(2**40), "--seconds", "1", "--runs", str(tmp_path)])
    assert isinstance(result.exception, UsageError) and result.exception.exit_code == 2
    assert "no process has the id" in str(result.exception)


@pytest.mark.parametrize(
    "arguments", [["0"], ["12", "--seconds", "0"], ["12", "--seconds", "9999"], ["train.py"]]
)
def test_arguments_out_of_range_are_refused(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, ["attach", *arguments]).exit_code == 2


def test_an_estimate_is_shown_with_intervals_and_no_milliseconds() -> None:
    # GIVEN the report of an attached run
    shares = [
        EstimatedShare(name=Stage.DATA_WAIT, share=0.8, low=0.7, high=0.9, samples=80),
        EstimatedShare(name=Stage.HOST, share=0.2, low=0.1, high=0.3, samples=20),
    ]
    report = Report(
        run=RunInfo(id="a", command=["python"], status=RunStatus.ATTACHED),
        verdict="It waits.",
        step_time_reason="not known",
        estimate=Estimate(method="stacks", seconds=5, samples=100, stages=shares),
    )
    console = Console(width=120, file=StringIO())
    # WHEN it is printed
    with console.capture() as shown:
        console.print(render(report, Path("runs/a")))
    text = shown.get()
    # THEN every share has its interval, is marked as an estimate, and nothing is told in milliseconds
    assert "estimated from 100 sampled stacks over 5 s" in text and "≈ 80 %" in text and "70 to 90 %" in text
    assert " ms" not in text and "sampled from outside" in text

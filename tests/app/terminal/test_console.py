"""What runs bring is printed as it is: no markup, no emoji, and no code that a terminal would obey."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.table import Table
from rich.text import Text

from trainrx.advisor.compare.runs import compare
from trainrx.app.terminal.compare import print_comparisons
from trainrx.app.terminal.console import console
from trainrx.app.terminal.report import print_report
from trainrx.profiler.report import Where

HOSTILE = ["exp[old]/train.py", "KeyError: [images]", "[/x]", "[red]loud[/red]", ":warning:"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_no_markup_alone_and_in_a_table(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("heading")
    table.add_row(text)
    for shown in (text, table, Text(text)):
        console().print(shown)
        assert text in capsys.readouterr().out


@pytest.mark.parametrize("code", ["\x1b[2J", "\x1b]0;title\x07", "\x9b2J", "\u202egpj", "\x00"])
def test_no_text_reaches_the_terminal_as_a_code(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("heading")
    table.add_row(f"a{code}b")
    for shown in (f"a{code}b", table, Text(f"a{code}b")):
        console().print(shown)
        printed = capsys.readouterr().out
        assert code[0] not in printed and "a" in printed


def test_a_style_of_our_own_is_still_one() -> None:
    shown = console()
    segments = list(shown.render(Text("loud", style="bold red")))
    assert segments[0].text == "loud" and segments[0].style is not None and segments[0].style.bold


def test_paths_and_verdicts_of_a_foreign_run_are_printed_whole(
    samples: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    # GIVEN a run whose names hold brackets, and whose verdict would clear the screen
    where = [Where(file="exp[old]/train.py", line=3, function="[/step]")]
    found = samples.finding().model_copy(update={"where": where})
    report = samples.full_report(findings=[found], verdict="Data loading\x1b[2J: [images]")

    # WHEN it is printed
    print_report(report, Path("runs/[a]"))

    # THEN brackets stay, and the code does not
    printed = capsys.readouterr().out
    assert "exp[old]/train.py" in "".join(printed.split())
    assert "[images]" in printed and "\x1b" not in printed


def test_settings_of_compared_runs_are_no_markup(samples: Any, capsys: pytest.CaptureFixture[str]) -> None:
    before = samples.full_report(setup={"cuda.visible": "[0]"})
    after = samples.full_report(setup={"cuda.visible": "[/x]"})
    print_comparisons([compare(before, after, [0.1] * 9, [0.1] * 9)])
    printed = capsys.readouterr().out
    assert "[0]" in printed and "[/x]" in printed
    # AND no change is no decrease
    assert "±0 ms" in printed and "−0 ms" not in printed

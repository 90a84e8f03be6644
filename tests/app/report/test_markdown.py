"""The Markdown report: the answer first, tables that hold, and text that calls nobody."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from trainrx.app.report.contents import contents
from trainrx.app.report.markdown import MARK, MAX_ROWS, code, markdown, plain
from trainrx.app.stored import open_run

GITHUB = MarkdownIt("gfm-like", {"linkify": False})


def written(runs: Path, samples: Any, report: Any, **more: Any) -> str:
    return markdown(contents(open_run(samples.store(runs, "a", report=report, **more))))


def test_verdict_findings_and_advice_stand_outside_the_folds(runs: Path, samples: Any) -> None:
    text = written(runs, samples, samples.advised_report("a"), steps=samples.step_table())
    assert text.startswith(MARK)
    before = text.partition("<details>")[0]
    for said in ("The training loop waits", "| data wait |", "`u/train.py:12 in load`", "throughput model", "bound 2.50×",
                 "trainrx try a loader.num_workers=2", "It did not pay here."):  # fmt: skip
        assert said in before, said
    assert text.count("<details>") == text.count("</details>") > 2


def test_tables_are_tables(runs: Path, samples: Any) -> None:
    page = GITHUB.render(written(runs, samples, samples.traced_report("a")))
    assert page.count("<table>") >= 4


def test_long_tables_are_cut(runs: Path, samples: Any) -> None:
    report = samples.full_report("a")
    report = report.model_copy(update={"host_lines": [report.host_lines[0]] * (MAX_ROWS + 5)})
    assert "5 more rows left out" in written(runs, samples, report)


HOSTILE = [
    "<script>alert(1)</script>", "[a](http://evil.example)", "![](http://evil.example/x.png)", "# no heading", "- no item",
    "1. no item", "a | b", "`code`", "**bold**", "&lt;b&gt;", "a\n\n# b", "---", "$x$", "~~gone~~", "    indented", "\\",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    shown = GITHUB.render(plain(text))
    assert re.sub(r"<!-- -->", "", shown).count("<") == 2, shown
    assert shown.startswith("<p>")


@given(st.text(alphabet="ab1.-+=#*_`~<>[]()!|\\&$:/@ \n", max_size=20))
def test_any_text_is_one_plain_paragraph(text: str) -> None:
    shown = GITHUB.render(plain(text)).replace("<!-- -->", "")
    assert shown.count("<") in (0, 2), shown


def test_nobody_is_called() -> None:
    assert plain("@someone") == "@<!-- -->someone"
    assert plain("fixes #12") == "fixes \\#<!-- -->12"
    assert "://" not in plain("http://evil.example")
    assert "www." not in plain("see www.evil.example")


@given(st.text(alphabet="a` |\\\n", max_size=12))
def test_code_stays_code(text: str) -> None:
    shown = GITHUB.renderInline(code(text))
    assert (shown.count("<code>"), shown.startswith("<code>"), shown.endswith("</code>")) == (1, True, True)


def test_a_hostile_run_has_no_markup_of_its_own(runs: Path, samples: Any) -> None:
    evil = "<img src=x>`</details># @you [x](http://evil.example)\n\n# gone"
    finding = samples.finding().model_copy(update={"summary": evil, "cause": evil})
    advice = samples.prescription(title=evil, how=f"```\n{evil}", basis=evil)
    report = samples.full_report(
        "a", verdict=evil, findings=[finding], prescriptions=[advice], setup={evil: evil}
    )
    kept = samples.manifest("a", note=evil).model_copy(update={"command": ["python", evil]})
    page = GITHUB.render(written(runs, samples, report, kept=kept))
    assert "<img" not in page
    assert "<a " not in page
    assert "<h1>" not in page
    assert page.count("<details>") == page.count("</details>")

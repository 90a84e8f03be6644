"""The advice page in its states: no runs, nothing to prescribe, full, narrowed, damaged, evil."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import trainrx.app
from trainrx.advisor.trial.store import TrialFile, TrialFolder

ENTRY = Path(trainrx.app.__file__).parent / "pages" / "navigation.py"


@pytest.fixture
def page(runs: Path) -> AppTest:
    app = AppTest.from_file(str(ENTRY), default_timeout=30)
    app.switch_page("advice.py")
    return app


def opened(page: AppTest, run: str, **query: str) -> AppTest:
    for name, value in {"run": run, **query}.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def html(page: AppTest) -> str:
    return "\n".join(element.body for element in page.html if "<style>" not in element.body)


def test_empty_says_what_to_type(page: AppTest) -> None:
    page.run()
    assert not page.exception
    assert "trainrx profile train.py" in page.info[0].value


def test_full_shows_prescriptions_cells_and_what_was_ruled_out(
    page: AppTest, runs: Path, samples: Any
) -> None:
    samples.store(runs, "a", report=samples.advised_report("a"))
    opened(page, "a")
    assert [heading.value for heading in page.subheader] == ["What to try", "Where else to look"]
    labels = [box.label.replace("\\", "") for box in page.expander]
    assert labels[0].startswith("**1. DataLoader worker processes, predicted 1.80×")
    assert labels[-1] == "Ruled out here: 1"
    assert page.dataframe[-1].value.to_dict("records") == [
        {"method": "Pinned host memory", "for": "data-loading", "ruled out because": "needs a GPU"}
    ]
    assert [block.value for block in page.code][:2] == [
        "DataLoader(..., num_workers=2)",
        "trainrx try a loader.num_workers=2",
    ]
    shown = html(page)
    assert "It did not pay here." in shown
    assert shown.index("no gain on a slow disk") < shown.index("2.07× on 8 GPUs")
    assert 'href="methods?method=augmix"' in shown
    assert "Trial 1: faster" in shown
    assert "<code>loader.num_workers</code> on the &lt;cluster&gt;?" in shown


def test_why_a_cell_is_to_be_avoided_and_what_is_not_shown_can_be_read_without_a_mouse(
    page: AppTest, runs: Path, samples: Any
) -> None:
    samples.store(runs, "a", report=samples.advised_report("a"))
    shown = html(opened(page, "a"))
    text = re.sub(r"<[^>]*>", " ", shown)
    assert re.search(r"avoid: input-pipeline\s+augmix\s+and 6 more\s+it makes data loading worse", text)
    assert "And more cells: 4 of function, 2 to avoid. The catalog has them all." in text


def test_the_address_narrows_the_list(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "a", report=samples.advised_report("a"))
    opened(page, "a", learning="semantic")
    assert next(box.label.replace("\\", "") for box in page.expander).startswith("**2. Data diet")


def test_nothing_to_prescribe_says_why(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "a", report=samples.full_report("a", findings=[]))
    opened(page, "a")
    assert "no rule found" in page.info[0].value
    assert not page.subheader


def test_a_damaged_run_is_one_sentence(page: AppTest, runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a")
    (run.path / "run.json").write_text("{")
    assert "run.json is damaged" in html(opened(page, "a"))


def test_text_of_a_run_is_never_markup(page: AppTest, runs: Path, samples: Any) -> None:
    evil = '<img src="http://evil.example/x"><script>alert(1)</script>'
    report = samples.advised_report("a")
    cells = [
        cell.model_copy(update={"methods": [evil], "reason": evil, "subcomponent": evil})
        for cell in report.cells
    ]
    bad = samples.prescription(title=evil, basis=evil, risk=evil, asks=[evil], how=evil)
    samples.store(runs, "a", report=report.model_copy(update={"prescriptions": [bad], "cells": cells}))
    opened(page, "a")
    assert "<script>" not in html(page)
    assert "<img" not in html(page)


def test_no_badge_and_no_choice_of_a_report_is_a_picture(page: AppTest, runs: Path, samples: Any) -> None:
    evil = "![](https://evil.example/x.png)"
    bad = samples.prescription(equivalence=evil, effort=evil, title=evil)
    samples.store(runs, "a", report=samples.advised_report("a", prescriptions=[bad]))
    opened(page, "a")
    shown = [element.value for element in (*page.markdown, *page.caption)]
    shown += [box.label for box in page.expander]
    shown += [option.content for option in page.button_group(key="learning").proto.options]
    assert any("evil" in words for words in shown)
    assert not [words for words in shown if "![" in words]


def test_trials_on_disk_count_where_the_report_lacks_them(page: AppTest, runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a", report=samples.advised_report("a", trials=[]))
    (run.path / "trials" / "1").mkdir(parents=True)
    TrialFolder(run.path / "trials" / "1").write(
        TrialFile(summary=samples.trial(), command=["train.py"], cwd=None, steps=30, warmup=5)
    )
    opened(page, "a")
    assert "Trial 1: faster" in html(page)

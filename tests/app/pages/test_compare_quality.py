"""Quality against cost on the compare page: empty, stored and uploaded files, damaged ones, target, questions, address."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import trainrx.app
from trainrx.app.bundled import SAMPLES

ENTRY = Path(trainrx.app.__file__).parent / "pages" / "navigation.py"


@pytest.fixture
def page(runs: Path) -> AppTest:
    app = AppTest.from_file(str(ENTRY), default_timeout=60)
    app.switch_page("compare.py")
    app.query_params["part"] = "quality"
    return app


def opened(page: AppTest) -> AppTest:
    page.run()
    assert not page.exception
    return page


def html(page: AppTest) -> str:
    return "\n".join(element.body for element in page.html if "<style>" not in element.body)


def content(pace: float, name: str = "val_loss") -> str:
    rows = [f"{step},{step / 10},{3 * math.exp(-step * pace / 100):.6f}" for step in range(10, 310, 10)]
    return f"step,seconds,{name}\n" + "\n".join(rows)


@pytest.fixture
def curves(runs: Path) -> Path:
    """Two methods with three seeds each beside the runs."""
    folder = runs / "curves"
    folder.mkdir()
    for name, pace in (("base", 1.0), ("new", 2.0)):
        for seed in range(3):
            (folder / f"{name}-seed{seed}.csv").write_text(content(pace * (1 + 0.03 * seed)))
    return folder


def test_an_empty_page_says_how_to_fill_it(page: AppTest, runs: Path) -> None:
    opened(page)
    assert "No metric files yet" in page.info[0].value
    assert "METHOD-seedN" in page.code[0].value
    assert page.query_params["part"] == "quality"


def test_stored_files_are_compared_at_once(page: AppTest, curves: Path) -> None:
    shown = html(opened(page))
    assert "new reaches val_loss" in shown and "less time than base" in shown
    assert [heading.value for heading in page.subheader] == [
        "Speed-up at equal quality",
        "Where trainings ended",
        "Rules of a fair comparison",
    ]
    assert page.dataframe[-1].value["method"].tolist() == ["base", "new"]


def test_cost_and_baseline_are_part_of_the_address(page: AppTest, curves: Path) -> None:
    page.query_params["cost"] = "steps"
    page.query_params["baseline"] = "new"
    shown = html(opened(page))
    assert "base needs 2.0" in shown and "steps" in page.dataframe[-1].value.columns[3] + str(
        page.dataframe[-1].value.iloc[0].to_dict()
    )


def test_the_target_moves_the_numbers(page: AppTest, curves: Path) -> None:
    opened(page)
    page.slider[0].set_value(1.0).run()
    assert not page.exception
    assert "cost to 1" in page.dataframe[-1].value.columns


def test_an_answer_no_takes_the_number_away(page: AppTest, curves: Path) -> None:
    opened(page)
    (answer,) = [group for group in page.button_group if group.key == "answer-baseline-tuned"]
    answer.set_value("no").run()
    assert not page.exception
    assert "No headline number" in html(page) and "You said no." in html(page)


def test_a_damaged_file_is_one_sentence_and_the_others_are_compared(page: AppTest, curves: Path) -> None:
    (curves / "bad-seed1.csv").write_bytes(b"\x00\xff<script>alert(1)</script>")
    shown = html(opened(page))
    assert "holds no column of numbers" in shown and "<script>" not in shown
    assert "new reaches val_loss" in shown


def test_a_name_that_is_markup_is_only_a_name(page: AppTest, curves: Path) -> None:
    (curves / "<img src=x>-seed1.csv").write_text(content(3.0))
    assert "<img" not in html(opened(page))


def test_a_metric_whose_name_does_not_tell_is_asked_about(page: AppTest, runs: Path) -> None:
    (runs / "curves").mkdir()
    for name in "ab":
        (runs / "curves" / f"{name}-seed1.csv").write_text(content(1.0, "quality"))
    opened(page)
    (better,) = [group for group in page.button_group if group.key == "better-quality"]
    assert "Which way does quality get better?" in better.label
    assert not page.subheader


def test_files_that_share_nothing_say_so(page: AppTest, runs: Path) -> None:
    (runs / "curves").mkdir()
    (runs / "curves" / "a.csv").write_text("step,val_loss\n1,2\n2,1\n")
    (runs / "curves" / "b.csv").write_text("step,val_acc\n1,0.2\n2,0.4\n")
    shown = html(opened(page))
    assert "share no column that may hold a quality" in shown and "--" not in shown.replace("--rx-tone", "")


def test_the_other_part_is_one_click_away(page: AppTest, curves: Path) -> None:
    opened(page)
    (part,) = [group for group in page.button_group if group.key == "part"]
    part.set_value("steps").run()
    assert not page.exception
    assert "needs two runs" in page.info[0].value
    assert "part" not in page.query_params


def test_nobody_is_asked_to_put_files_into_the_package(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINRX_RUNS", str(SAMPLES))
    opened(page)
    assert "Upload some above: one file" in page.info[0].value and str(SAMPLES) not in page.info[0].value

"""The page of runs in its states: none, some, damaged, newer, searched, clicked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import trainrx.app

ENTRY = Path(trainrx.app.__file__).parent / "pages" / "navigation.py"


@pytest.fixture
def page(runs: Path) -> AppTest:
    return AppTest.from_file(str(ENTRY), default_timeout=30)


def test_empty_says_what_to_type(page: AppTest, runs: Path) -> None:
    page.run()
    assert not page.exception
    assert "No runs yet" in page.info[0].value
    assert page.code[0].value == "trainrx profile train.py"


def test_empty_shows_what_comes_with_trainrx_and_a_click_opens_it(page: AppTest, runs: Path) -> None:
    page.run()
    table = page.dataframe[0].value
    assert table["worst"].tolist() == [
        "data loading",
        "compute",
        "memory",
        "communication",
        "beside the loop",
    ]
    page.session_state["samples"] = {"selection": {"rows": [], "columns": [], "cells": [(3, "verdict")]}}
    page.run()
    assert not page.exception
    assert page.query_params["run"] == "communication"
    assert any("keeps the other ranks waiting" in element.body for element in page.html)
    # AND the box of runs leads to its siblings
    assert page.selectbox[0].options[0] == "data-loading"


def test_a_run_of_ones_own_goes_before_one_that_comes_with_trainrx(
    page: AppTest, runs: Path, samples: Any
) -> None:
    samples.store(runs, "memory", report=samples.full_report("memory"))
    page.switch_page("diagnosis.py")
    page.query_params["run"] = "memory"
    page.run()
    assert any(samples.VERDICT in element.body for element in page.html)


def test_what_comes_with_trainrx_cannot_be_tried(page: AppTest, runs: Path) -> None:
    for name in ("advice.py", "trials.py"):
        page.switch_page(name)
        page.query_params["run"] = "data-loading"
        page.run()
        assert not page.exception
        assert not [button for button in page.button if button.key == "start"]
        assert not [block for block in page.code if block.value.startswith("trainrx try")]


def test_a_folder_that_does_not_exist_is_empty(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINRX_RUNS", "/nowhere/at/all")
    page.run()
    assert not page.exception
    assert "No runs yet" in page.info[0].value


def test_a_click_opens_the_run_that_was_shown_there(page: AppTest, runs: Path, samples: Any) -> None:
    # GIVEN a list of two
    for name in ("20260101-a", "20260102-b"):
        samples.store(runs, name, report=samples.full_report(name))
    page.run()
    # WHEN the first one is clicked just as a newer one comes
    samples.store(runs, "20260103-c", report=samples.full_report("20260103-c"))
    page.session_state["runs"] = {"selection": {"rows": [], "columns": [], "cells": [(0, "verdict")]}}
    page.run()
    # THEN it is the one that was clicked
    assert page.query_params["run"] == "20260102-b"


def test_full_newest_first(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "20260101-a", report=samples.full_report("20260101-a"))
    samples.store(runs, "20260102-b", kept=samples.recording_manifest("20260102-b"))
    page.run()
    assert not page.exception
    table = page.dataframe[0].value
    assert table["id"].tolist() == ["20260102-b", "20260101-a"]
    assert table["status"].tolist() == ["recording", "finished"]
    assert table["verdict"].iloc[1] == samples.VERDICT
    assert "2 of 2 runs" in page.caption[0].value


def test_damaged_and_newer_runs_are_listed_with_their_reason(page: AppTest, runs: Path, samples: Any) -> None:
    damaged, newer = samples.store(runs, "1"), samples.store(runs, "2")
    (damaged.path / "run.json").write_bytes(b"\xff\x00")
    kept = json.loads((newer.path / "run.json").read_text())
    (newer.path / "run.json").write_text(json.dumps({**kept, "schema_version": 99}))
    page.run()
    assert not page.exception
    verdicts = page.dataframe[0].value["verdict"].tolist()
    assert "upgrade trainrx" in verdicts[0]
    assert "damaged" in verdicts[1]


def test_a_search_narrows_and_can_find_nothing(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "1-a", report=samples.full_report("1-a"))
    samples.store(runs, "2-b", report=samples.full_report("2-b", findings=[], verdict="Nothing dominates."))
    page.run()
    page.text_input(key="q").set_value("nothing").run()
    assert page.dataframe[0].value["id"].tolist() == ["2-b"]
    page.text_input(key="q").set_value("no such run").run()
    assert not page.dataframe
    assert "No run matches" in page.info[0].value


def test_a_filter_keeps_what_waits_for_it(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "1-a", report=samples.full_report("1-a"))
    samples.store(runs, "2-b", report=samples.full_report("2-b", findings=[]))
    page.run()
    page.button_group(key="waits").set_value(["data loading"]).run()
    assert page.dataframe[0].value["id"].tolist() == ["1-a"]


def test_a_click_opens_the_diagnosis(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "1-a", report=samples.full_report("1-a"))
    samples.store(runs, "2-b", report=samples.full_report("2-b", verdict="The other one."))
    page.run()
    page.session_state["runs"] = {"selection": {"rows": [], "columns": [], "cells": [(1, "verdict")]}}
    page.run()
    assert not page.exception
    assert page.query_params["run"] == "1-a"
    assert any(samples.VERDICT in element.body for element in page.html)


def test_a_run_that_changed_is_read_again(page: AppTest, runs: Path, samples: Any) -> None:
    run = samples.store(runs, "1-a")
    page.run()
    assert "Not analysed yet" in page.dataframe[0].value["verdict"].iloc[0]
    run.write_report(samples.full_report("1-a"))
    page.run()
    assert page.dataframe[0].value["verdict"].iloc[0] == samples.VERDICT

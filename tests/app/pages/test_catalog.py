"""The methods page in its states: full, filtered, empty, a card by link, a broken method file."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import trainrx.app

PAGE = Path(trainrx.app.__file__).parent / "pages" / "catalog.py"


@pytest.fixture
def page() -> AppTest:
    return AppTest.from_file(str(PAGE), default_timeout=30)


def words(page: AppTest) -> str:
    kinds = (page.markdown, page.caption, page.info, page.warning, page.error)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def test_full(page: AppTest) -> None:
    page.run()
    assert not page.exception
    assert "565 methods" in words(page) or "methods" in words(page)
    assert len(page.dataframe[0].value) >= 560
    assert "no forecast for your run" in words(page)


def test_a_link_holds_every_wish(page: AppTest) -> None:
    page.query_params.update({"relieves": "data-loading", "tier": "core", "q": "worker"})
    page.run()
    assert not page.exception
    table = page.dataframe[0].value
    assert 0 < len(table) < 20
    assert "match the filters" in words(page)


def test_a_link_with_an_unknown_word_is_dropped(page: AppTest) -> None:
    page.query_params["relieves"] = "hunger"
    page.run()
    assert not page.exception
    assert len(page.dataframe[0].value) >= 560


def test_nothing_found_is_said(page: AppTest) -> None:
    page.query_params["q"] = "no method is called this"
    page.run()
    assert "No method matches all filters" in words(page)


def test_a_link_opens_a_card_with_negatives_first(page: AppTest) -> None:
    page.query_params["method"] = "torch-compile-default"
    page.run()
    assert not page.exception
    assert "It did not pay here" in words(page)
    assert "hardware\\: not stated" in words(page)
    assert page.dataframe[1].value["verdict"].iloc[0] == "negative"


def test_an_unknown_method_in_a_link_is_dropped(page: AppTest) -> None:
    page.query_params["method"] = "no-such-method"
    page.run()
    assert not page.exception
    assert len(page.dataframe) == 1


def test_a_cell_of_the_matrix_narrows_the_list(page: AppTest) -> None:
    # A chart's click cannot be driven in AppTest, so the wishes that it sets are set here.
    page.run()
    page.selectbox(key="part").set_value("data.derived-data")
    page.selectbox(key="action").set_value("reorder")
    page.run()
    assert page.dataframe[0].value["method"].tolist() == ["Length bucketing / group by length"]


@pytest.mark.parametrize("view", ["Matrix", "Tree", "Definitions"])
def test_every_view_opens_by_link(page: AppTest, view: str) -> None:
    page.query_params["view"] = view
    page.run()
    assert not page.exception
    assert ("the survey says so" in words(page)) == (view == "Definitions")


def test_a_broken_method_file_is_one_sentence(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.yaml").write_text("id: bad\ncolour: red\n")
    monkeypatch.setenv("TRAINRX_METHODS", str(tmp_path))
    page.run()
    assert not page.exception
    assert "bad.yaml: field" in page.error[0].value.replace("\\", "")
    assert not page.dataframe


def test_a_missing_folder_is_one_sentence(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINRX_METHODS", str(tmp_path / "absent"))
    page.run()
    assert "is no folder" in page.error[0].value

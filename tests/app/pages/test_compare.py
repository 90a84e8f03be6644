"""The compare page: too few runs, two runs by address and by box, unfair pairs, damaged runs, imported traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import trainrx.app

ENTRY = Path(trainrx.app.__file__).parent / "pages" / "navigation.py"
TRACES = Path(__file__).resolve().parents[3] / ".." / "shared" / "traces" / "pytorch__kineto"


@pytest.fixture
def page(runs: Path) -> AppTest:
    app = AppTest.from_file(str(ENTRY), default_timeout=60)
    app.switch_page("compare.py")
    return app


def opened(page: AppTest, pair: str | None = None) -> AppTest:
    if pair is not None:
        page.query_params["runs"] = pair
    page.run()
    assert not page.exception
    return page


def html(page: AppTest) -> str:
    return "\n".join(element.body for element in page.html if "<style>" not in element.body)


def test_one_run_is_too_few(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "a", report=samples.full_report("a"))
    assert "needs two runs" in opened(page).info[0].value


def test_without_an_address_the_newest_two_are_compared_older_first(
    page: AppTest, runs: Path, samples: Any
) -> None:
    for name in "123":
        samples.store(runs, name, report=samples.full_report(name), steps=samples.step_table(40))
    opened(page)
    assert page.query_params["runs"] == "2,3"
    assert [heading.value for heading in page.subheader] == [
        "Stages",
        "Step times",
        "What differs in the setup",
        "Rules of a fair comparison that these runs break",
    ]
    assert "No evidence of a difference" in html(page)


def test_a_box_changes_the_address(page: AppTest, runs: Path, samples: Any) -> None:
    for name in "123":
        samples.store(runs, name, report=samples.full_report(name), steps=samples.step_table(40))
    opened(page, "2,3")
    page.selectbox[0].select("1").run()
    assert not page.exception
    assert page.query_params["runs"] == "1,3"


def test_an_unfair_pair_shows_the_broken_rule_and_both_devices(
    page: AppTest, runs: Path, samples: Any
) -> None:
    samples.store(runs, "a", report=samples.traced_report("a", setup={"device.kind": "cuda"}))
    samples.store(runs, "b", report=samples.full_report("b"))
    shown = html(opened(page, "a,b"))
    assert "No headline number" in shown
    assert "Forbids a headline number: same hardware" in shown
    assert "second run n/a: this run used no GPU" in [
        caption.value.replace("\\", "") for caption in page.caption
    ]


def test_the_same_run_twice_is_said(page: AppTest, runs: Path, samples: Any) -> None:
    for name in "ab":
        samples.store(runs, name, report=samples.full_report(name))
    assert "same run twice" in opened(page, "a,a").info[0].value


@pytest.mark.parametrize("pair", ["a,nothing", "../secret,a", "<img src=x>,a"])
def test_a_name_that_is_no_run_is_refused(page: AppTest, runs: Path, samples: Any, pair: str) -> None:
    for name in "ab":
        samples.store(runs, name, report=samples.full_report(name))
    shown = html(opened(page, pair))
    assert "there is no run called" in shown
    assert "<img" not in shown


def test_a_damaged_run_is_one_sentence(page: AppTest, runs: Path, samples: Any) -> None:
    for name in "abc":
        run = samples.store(runs, name, report=samples.full_report(name))
    (run.path / "run.json").write_text("{")
    assert "run.json is damaged" in html(opened(page, "a,c"))


@pytest.mark.skipif(not TRACES.is_dir(), reason="the shared traces are not on this machine")
def test_a_trace_without_workers_against_one_with_four(page: AppTest, runs: Path) -> None:
    from trainrx.app.importing import import_and_prescribe

    # GIVEN the two traces of one network
    for name in ("num_workers_0.worker0.1623143089861", "num_workers_4.worker0.1623212756351"):
        import_and_prescribe([TRACES / f"resnet50_{name}.pt.trace.json.gz"], runs, keep_columns=False)
    # WHEN they are compared THEN both are there, and what changed between them
    shown = html(opened(page))
    assert "1.39× as fast" in shown
    assert "the device is idle in the single-process loader" in shown
    assert "Nothing dominates" in shown
    assert "What the device did" in [heading.value for heading in page.subheader]
    settings = page.dataframe[0].value.set_index("setting")
    assert tuple(settings.loc["loader"]) == ("single-process", "multi-process")

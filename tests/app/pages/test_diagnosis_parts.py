"""The parts of the diagnosis page that only some runs have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import trainrx.app

ENTRY = Path(trainrx.app.__file__).parent / "pages" / "navigation.py"


@pytest.fixture
def page(runs: Path) -> AppTest:
    app = AppTest.from_file(str(ENTRY), default_timeout=30)
    app.switch_page("diagnosis.py")
    return app


def opened(page: AppTest, run: str) -> AppTest:
    page.query_params["run"] = run
    page.run()
    assert not page.exception
    return page


def headings(page: AppTest) -> list[str]:
    return [heading.value for heading in page.subheader]


def test_a_traced_run_shows_device_what_ifs_ranks_and_memory(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "a", report=samples.traced_report("a"))
    opened(page, "a")
    assert headings(page) == [
        "Where a step goes", "What the device did", "Findings", "What if", "Lines of Python", "Ranks",
        "Device memory", "Setup",
    ]  # fmt: skip
    assert any("Rank 1 is late" in element.value for element in page.markdown)
    # WHEN another rank's steps are chosen THEN the page draws them
    page.selectbox(key="device-rank").select_index(1).run()
    assert not page.exception


def test_a_run_on_a_gpu_shows_its_clock_what_crosses_and_what_fills_it(
    page: AppTest, runs: Path, samples: Any
) -> None:
    samples.store(runs, "a", report=samples.gpu_report("a"))
    opened(page, "a")
    assert [one for one in headings(page) if "GPU" in one] == [
        "The same step on the GPU", "Between host and GPU", "What fills the GPU's memory",
    ]  # fmt: skip
    assert any("5.0 ms ahead" in caption.value.replace("\\", "") for caption in page.caption)


def test_a_recorded_run_shows_loader_and_machine(page: AppTest, runs: Path, samples: Any) -> None:
    report = samples.full_report("a", loader=samples.loader(), telemetry=samples.telemetry())
    samples.store(runs, "a", report=report)
    opened(page, "a")
    assert headings(page)[-3:] == ["How batches are made", "The machine during the run", "Setup"]
    assert "75 %" in [metric.value for metric in page.metric]


EVIL = "![](https://evil.example/x.png)"


@pytest.mark.parametrize("traced", [True, False])
def test_no_word_of_a_run_makes_the_browser_fetch_something(
    page: AppTest, runs: Path, samples: Any, traced: bool
) -> None:
    # GIVEN a report that someone else wrote
    machine = samples.telemetry().model_copy(
        update={"devices": [], "devices_reason": EVIL, "host_reason": EVIL}
    )
    changes: dict[str, Any] = {"device": None, "device_reason": EVIL, "telemetry": machine}
    report = (samples.traced_report if traced else samples.full_report)("a", **changes)
    what_ifs = [one.model_copy(update={"change": EVIL}) for one in report.what_ifs]
    samples.store(runs, "a", report=report.model_copy(update={"what_ifs": what_ifs}))

    # WHEN it is shown
    opened(page, "a")

    # THEN none of its words is a picture
    shown = [element.value for element in (*page.markdown, *page.caption, *page.subheader, *page.title)]
    assert any("evil" in words for words in shown)
    assert not [words for words in shown if "![" in words]


def test_an_attached_run_shows_its_estimate_and_no_step_time(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "a", report=samples.attached_report("a"))
    opened(page, "a")
    assert headings(page) == ["Where the time goes, estimated", "Findings", "Setup"]
    assert not page.metric


def test_kernels_without_a_device_view_say_why(page: AppTest, runs: Path, samples: Any) -> None:
    report = samples.traced_report("a", device=None, device_reason="the trace has no host side")
    samples.store(runs, "a", report=report)
    opened(page, "a")
    assert "n/a: the trace has no host side" in [caption.value.replace("\\", "") for caption in page.caption]

"""The diagnosis page in its states: none, full, going on, without steps, damaged, newer, named wrongly."""

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
    app = AppTest.from_file(str(ENTRY), default_timeout=30)
    app.switch_page("diagnosis.py")
    return app


def opened(page: AppTest, run: str) -> AppTest:
    page.query_params["run"] = run
    page.run()
    assert not page.exception
    return page


def html(page: AppTest) -> str:
    return "\n".join(element.body for element in page.html if "<style>" not in element.body)


def headings(page: AppTest) -> list[str]:
    return [heading.value for heading in page.subheader]


def test_empty_says_what_to_type(page: AppTest) -> None:
    page.run()
    assert not page.exception
    assert "trainrx profile train.py" in page.info[0].value


def test_full_shows_the_verdict_before_anything_else(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "a", report=samples.full_report("a"), steps=samples.step_table())
    opened(page, "a")
    kinds = [element.type for element in page.main]
    first_html = next(e for e in page.html if "<style>" not in e.body)
    assert samples.VERDICT in first_html.body
    assert "plotly_chart" not in kinds[: kinds.index("html") + 1]
    assert headings(page) == ["Where a step goes", "Steps over time", "Findings", "Lines of Python", "Setup"]
    assert [metric.value for metric in page.metric] == [
        "99.0 ms",
        "120.0 ms",
        "10",
        "data wait",
        "0.4 %",
    ]
    for basis in ("measured", "derived", "setup"):
        assert f'<li class="{basis}">' in html(page)
    assert [button.label for button in page.download_button] == [
        "Report as one HTML file",
        "report.json",
        "Steps as CSV",
    ]


def test_no_figure_is_painted_better_or_worse(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "a", report=samples.full_report("a"))
    opened(page, "a")
    assert {metric.proto.color for metric in page.metric} == {2}, "2 is grey"


def test_without_a_name_the_newest_is_opened_and_the_address_becomes_a_link(
    page: AppTest, runs: Path, samples: Any
) -> None:
    samples.store(runs, "1", report=samples.full_report("1"))
    samples.store(runs, "2", report=samples.full_report("2", verdict="The newest."))
    page.run()
    assert "The newest." in html(page)
    assert page.query_params["run"] == "2"


def test_the_box_switches_to_another_run(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "1", report=samples.full_report("1", verdict="The older."))
    samples.store(runs, "2", report=samples.full_report("2", verdict="The newest."))
    opened(page, "2")
    page.selectbox[0].select("1").run()
    assert not page.exception
    assert "The older." in html(page)
    assert page.query_params["run"] == "1"


def test_a_run_going_on_is_followed(
    page: AppTest, runs: Path, samples: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainrx.app.pages.parts.stored.REST_PER_ANALYSIS", 0.0)
    run = samples.store(runs, "a", kept=samples.recording_manifest("a"))
    opened(page, "a")
    assert "Recording has begun: 0 steps seen" in html(page)
    samples.write_recording(run, 8)
    page.run()
    assert "So far, over 6 timed steps:" in html(page)
    samples.write_recording(run, 12)
    page.run()
    assert "So far, over 10 timed steps:" in html(page)
    # WHEN it ends THEN the page shows what was stored
    run.write_report(samples.full_report("a"))
    run.write_manifest(samples.manifest("a"))
    page.run()
    assert not page.exception
    assert "So far" not in html(page)


def test_a_run_going_on_is_analysed_only_when_its_files_changed(
    page: AppTest, runs: Path, samples: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import trainrx.app.pages.parts.stored as stored

    calls: list[str] = []
    real = stored.open_run
    monkeypatch.setattr(stored, "REST_PER_ANALYSIS", 0.0)
    monkeypatch.setattr(stored, "open_run", lambda run: (calls.append(run.path.name), real(run))[1])
    run = samples.store(runs, "a", kept=samples.recording_manifest("a"))
    samples.write_recording(run, 8)
    opened(page, "a")
    page.run()
    assert len(calls) == 1
    samples.write_recording(run, 9)
    page.run()
    assert len(calls) == 2


def test_a_run_without_steps_says_why_and_shows_no_empty_chart(
    page: AppTest, runs: Path, samples: Any
) -> None:
    reason = "No step was recorded: the command never imported torch."
    report = samples.full_report(
        "a", step_time=None, step_time_reason=reason, verdict=reason, stages=[], findings=[], host_lines=[]
    )
    samples.store(runs, "a", report=report, steps=samples.step_table().iloc[:0])
    opened(page, "a")
    assert reason in html(page)
    assert headings(page) == ["Setup"]
    assert {metric.value for metric in page.metric[:3]} == {"n/a"}


def test_a_damaged_run_is_one_sentence(page: AppTest, runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a")
    (run.path / "run.json").write_text("{")
    assert "run.json is damaged" in html(opened(page, "a"))


def test_a_newer_run_is_one_sentence(page: AppTest, runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a")
    kept = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps({**kept, "schema_version": 99}))
    assert "upgrade trainrx" in html(opened(page, "a"))


@pytest.mark.parametrize("name", ["../secret", "/etc", "%2e%2e/secret", "nothing"])
def test_a_name_that_is_no_run_is_refused(page: AppTest, runs: Path, samples: Any, name: str) -> None:
    samples.store(runs, "a", report=samples.full_report("a"))
    samples.store(runs.parent, "secret", report=samples.full_report("secret", verdict="Not for the page."))
    opened(page, name)
    assert "there is no run called" in html(page)
    assert "Not for the page." not in html(page)


def test_text_of_a_run_is_never_markup(page: AppTest, runs: Path, samples: Any) -> None:
    evil = '<img src="http://evil.example/x"><script>alert(1)</script>'
    finding = samples.finding().model_copy(update={"summary": evil, "cause": evil})
    report = samples.full_report("a", verdict=evil, findings=[finding], setup={evil: evil})
    samples.store(runs, "a", report=report, kept=samples.manifest("a", note=evil))
    opened(page, "a")
    assert "<script>" not in html(page)
    assert "<img" not in html(page)


def test_a_name_from_the_address_is_never_markup(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "a", report=samples.full_report("a"))
    opened(page, '<img src="http://evil.example/x">')
    assert "<img" not in html(page)

"""The trials page: none, some, going on, imported; and who may start one."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from streamlit.testing.v1 import AppTest

import trainrx.app
from trainrx.advisor.trial.store import TrialFile, TrialFolder
from trainrx.app import background_trial
from trainrx.app.background_trial import BackgroundTrial
from trainrx.app.permission import ADDRESS_VARIABLE, TOKEN_VARIABLE
from trainrx.profiler.errors import UsageError
from trainrx.profiler.store import RunFolder

ENTRY = Path(trainrx.app.__file__).parent / "pages" / "navigation.py"
Started = list[tuple[list[str], float]]


@pytest.fixture
def page(runs: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ADDRESS_VARIABLE, "0.0.0.0")
    monkeypatch.setenv(TOKEN_VARIABLE, "secret")
    app = AppTest.from_file(str(ENTRY), default_timeout=30)
    app.switch_page("trials.py")
    return app


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """What the page asked to be started; nothing is."""
    calls: Started = []
    monkeypatch.setattr(
        background_trial, "start", lambda run, words, budget_s: calls.append((list(words), budget_s))
    )
    return calls


def opened(page: AppTest, run: str = "a", token: str | None = "secret") -> AppTest:
    page.query_params["run"] = run
    if token is not None:
        page.query_params["token"] = token
    page.run()
    assert not page.exception
    return page


def keep(run: RunFolder, summary: Any) -> None:
    folder = TrialFolder(run.path / "trials" / summary.id)
    folder.path.mkdir(parents=True)
    folder.write(TrialFile(summary=summary, command=["train.py"], cwd=None, steps=30, warmup=5))


def note_going_on(run: RunFolder) -> None:
    """A trial whose process is this very one."""
    me = psutil.Process()
    found = BackgroundTrial(
        words=["loader.num_workers=2"], pid=me.pid, process_started=me.create_time(), started_s=time.time()
    )
    (run.path / "trials").mkdir()
    (run.path / "trials" / "process.json").write_text(found.model_dump_json())
    (run.path / "trials" / "process.log").write_text("trainrx: unchanged 92.44 ms per step\n")


def test_empty_says_what_to_type(page: AppTest) -> None:
    page.run()
    assert not page.exception
    assert "trainrx profile train.py" in page.info[0].value


def test_without_trials_there_is_a_form_and_nothing_else(page: AppTest, runs: Path, samples: Any) -> None:
    samples.store(runs, "a", report=samples.advised_report("a"))
    opened(page)
    assert "None yet." in [caption.value for caption in page.caption]
    change = page.selectbox(key="change")
    assert change.options[0].startswith("autopilot:")
    assert change.options[1].startswith("loader.num_workers: ")
    assert "prescribed, exact" in change.options[1]
    assert page.text_input[0].value == "2"


def test_the_form_shows_the_command_that_the_button_starts_and_where(
    page: AppTest, runs: Path, samples: Any
) -> None:
    kept = samples.manifest("a").model_copy(
        update={"command": ["sh", "-c", "echo \u202e; rm -r x"], "cwd": "/home/a b"}
    )
    samples.store(runs, "a", report=samples.advised_report("a"), kept=kept)
    opened(page)
    assert "cd '/home/a b'\nsh -c 'echo \ufffd; rm -r x'" in [block.value for block in page.code]
    assert any("written over" in caption.value for caption in page.caption)


def test_trials_are_listed_newest_first_beside_what_was_predicted(
    page: AppTest, runs: Path, samples: Any
) -> None:
    run = samples.store(runs, "a", report=samples.advised_report("a"))
    keep(run, samples.trial())
    keep(
        run,
        samples.trial(id="2", speedup=None, verdict="failed", reason="out of memory", predicted_speedup=None),
    )
    opened(page)
    table = page.dataframe[0].value
    assert list(table["trial"]) == ["2", "1"]
    assert list(table["measured"]) == ["not measured", "1.70× (1.60 to 1.80)"]
    assert list(table["predicted"]) == ["not predicted", "1.80× (1.20 to 2.20)"]
    assert list(table["why"]) == ["out of memory", ""]
    assert any("Predictions scored" in caption.value.replace("\\", "") for caption in page.caption)


def test_an_imported_run_cannot_be_tried(page: AppTest, runs: Path, samples: Any) -> None:
    report = samples.full_report("a")
    imported = report.run.model_copy(update={"source": "kineto"})
    samples.store(runs, "a", report=report.model_copy(update={"run": imported}))
    opened(page)
    assert "Only a run that trainrx recorded" in page.info[0].value
    assert not page.button


def test_start_asks_for_what_was_chosen(page: AppTest, runs: Path, samples: Any, started: Started) -> None:
    samples.store(runs, "a", report=samples.advised_report("a"))
    opened(page)
    page.text_input[0].set_value("4").run()
    page.selectbox(key="budget").select("1 minute").run()
    page.button(key="start").click().run()
    assert not page.exception
    assert started == [(["loader.num_workers=4"], 60.0)]
    # WHEN the autopilot is chosen THEN it has no value
    page.selectbox(key="change").select_index(0).run()
    page.button(key="start").click().run()
    assert started[-1][0] == ["--auto"]


def test_a_refusal_is_one_sentence(
    page: AppTest, runs: Path, samples: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise UsageError("loader.num_workers: it must be a whole number")

    monkeypatch.setattr(background_trial, "start", refuse)
    samples.store(runs, "a", report=samples.advised_report("a"))
    opened(page)
    page.button(key="start").click().run()
    assert not page.exception
    assert "must be a whole number" in page.error[0].value.replace("\\", "")


def test_the_token_leaves_the_address_and_stays_with_the_session(
    page: AppTest, runs: Path, samples: Any
) -> None:
    samples.store(runs, "a", report=samples.advised_report("a"))
    opened(page)
    assert "token" not in page.query_params
    page.run()
    assert page.button(key="start")


@pytest.mark.parametrize("token", [None, "", "guessed"])
def test_without_the_token_there_is_no_button(
    page: AppTest, runs: Path, samples: Any, started: Started, token: str | None
) -> None:
    samples.store(runs, "a", report=samples.advised_report("a"))
    opened(page, token=token)
    assert "the link with the token" in page.info[0].value.replace("\\", "")
    assert not page.button
    assert started == []


def test_a_click_without_permission_starts_nothing(
    page: AppTest, runs: Path, samples: Any, started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples.store(runs, "a", report=samples.advised_report("a"))
    opened(page)
    # GIVEN a page with a button WHEN the server's token is another one by the time of the click
    monkeypatch.setenv(TOKEN_VARIABLE, "new secret")
    page.button(key="start").click().run()
    assert started == []
    assert not page.button


def test_a_server_that_others_reach_shows_and_starts_nothing(
    page: AppTest, runs: Path, samples: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE)
    samples.store(runs, "a", report=samples.advised_report("a"))
    opened(page)
    assert "can be reached from other machines" in page.info[0].value
    assert not page.button


def test_a_trial_going_on_is_found_again_followed_and_cancelled(
    page: AppTest, runs: Path, samples: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled: list[str] = []
    monkeypatch.setattr(background_trial, "cancel", lambda run: cancelled.append(run.path.name))
    run = samples.store(runs, "a", report=samples.advised_report("a"))
    note_going_on(run)
    opened(page)
    assert any("Measuring" in element.value for element in page.markdown)
    assert page.code[0].value == "trainrx: unchanged 92.44 ms per step"
    page.button(key="cancel").click().run()
    assert cancelled == ["a"]


def test_without_the_token_a_trial_is_followed_but_not_cancelled(
    page: AppTest, runs: Path, samples: Any
) -> None:
    run = samples.store(runs, "a", report=samples.advised_report("a"))
    note_going_on(run)
    opened(page, token=None)
    assert any("Measuring" in element.value for element in page.markdown)
    assert not page.button


def test_what_the_last_trial_printed_stays_to_be_read(page: AppTest, runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a", report=samples.advised_report("a"))
    note_going_on(run)
    path = run.path / "trials" / "process.json"
    over = BackgroundTrial.model_validate_json(path.read_bytes()).model_copy(update={"process_started": 1.0})
    path.write_text(over.model_dump_json())
    opened(page)
    assert "What the last trial printed" in page.expander[0].label
    assert page.button(key="start")

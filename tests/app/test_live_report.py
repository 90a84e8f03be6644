"""The report of a run going on: asked for when there is something new, by a process that leaves nothing behind."""

import io
import time
from pathlib import Path

import pytest

from trainrx.app.live_report import BUDGET, INTERVAL_S, NICENESS, LiveReport, serve
from trainrx.profiler.progress import Progress
from trainrx.profiler.store import Manifest, RunFolder
from trainrx.profiler.vocabulary import RunStatus


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path)
    folder.write_manifest(
        Manifest(id="run", command=["train.py"], cwd="/", started="2026-01-01", status=RunStatus.FINISHED)
    )
    return folder


def progress(steps: int) -> Progress:
    return Progress(seconds=1.0, steps=steps, last_step_s=0.01, ended=None)


class Asked(LiveReport):
    """Counts questions and answers at once, without a process."""

    def __init__(self, run: RunFolder, cost_s: float) -> None:
        self.now, self.questions, self._cost_s = 0.0, 0, cost_s
        super().__init__(run, clock=lambda: self.now)

    def _ask(self, moment: float) -> None:
        self.questions += 1
        self._asked_at = moment

    def _hear(self, moment: float) -> None:
        self._asked_at = None
        self._may_ask_at = moment + max(INTERVAL_S, self._cost_s / BUDGET)


@pytest.mark.parametrize(("cost_s", "questions"), [(0.01, 20), (1.0, 5)])
def test_it_asks_every_few_seconds_and_the_less_often_the_more_it_costs(
    run: RunFolder, cost_s: float, questions: int
) -> None:
    # GIVEN a run that makes a step each 100 ms WHEN 100 seconds pass
    live = Asked(run, cost_s)
    for tick in range(1000):
        live.now = tick / 10
        live.update(progress(tick + 1))
    # THEN it asked every 5 seconds, or so seldom that it takes a twentieth of a core
    assert live.questions == pytest.approx(questions, abs=1)


def test_without_new_steps_it_asks_nothing(run: RunFolder) -> None:
    live = Asked(run, 0.01)
    for tick in range(290):
        live.now = tick / 10
        live.update(progress(7))
    assert live.questions == 1


def test_a_run_that_stands_still_is_asked_about_once_more(run: RunFolder) -> None:
    live = Asked(run, 0.01)
    for tick in range(5000):
        live.now = tick / 10
        live.update(progress(7))
    assert live.questions == 2
    live.update(progress(8))
    assert live.questions == 3
    assert Asked(run, 0.01).update(progress(0)) is None


def test_each_question_is_answered_with_its_cost_even_where_the_run_is_damaged(run: RunFolder) -> None:
    answers = io.BytesIO()
    serve(run, io.BytesIO(b"\n"), answers)
    assert run.report().run.id == "run"
    (run.path / "run.json").write_text("{")
    serve(run, io.BytesIO(b"\n\n"), answers)
    assert len(answers.getvalue().splitlines()) == 3
    assert all(float(line) >= 0 for line in answers.getvalue().splitlines())


def test_its_process_has_the_lowest_priority_and_is_gone_in_the_end(run: RunFolder) -> None:
    # GIVEN a run WHEN a report is asked for
    with LiveReport(run) as live:
        live.update(progress(1))
        process = live._process
        assert process is not None
        import psutil

        deadline = time.monotonic() + 60
        while live._asked_at is not None and time.monotonic() < deadline:
            live.update(progress(1))
            time.sleep(0.05)
        # THEN it is written by a process that yields to all others, and which ends with the block
        assert psutil.Process(process.pid).nice() == NICENESS
    assert run.report().run.id == "run"
    assert process.poll() is not None
    live.update(progress(9))
    assert live._process is None


def test_a_process_that_dies_is_not_asked_again(run: RunFolder) -> None:
    with LiveReport(run) as live:
        live.update(progress(1))
        assert live._process is not None
        live._process.kill()
        live._process.wait()
        live.update(progress(2))
        live.update(progress(3))
        assert live._is_over

"""The deep window: opened and closed at steps, told to the caller, given up after a fault."""

import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainrx.profiler.agent.format import STEP, STEP_TRACED
from trainrx.profiler.agent.hooks import profiling
from trainrx.profiler.agent.options import Options
from trainrx.profiler.agent.recorder import Recorder, StopTraining
from trainrx.profiler.agent.window import TraceWindow


class Profiler:
    """Stands in for ``torch.profiler.profile``."""

    def __init__(self, log: list[str], fault: str | None) -> None:
        self._log, self._fault = log, fault

    def _do(self, what: str) -> None:
        self._log.append(what)
        if what == self._fault:
            raise RuntimeError(f"no {what}")

    def start(self) -> None:
        self._do("start")

    def stop(self) -> None:
        self._do("stop")

    def export_chrome_trace(self, path: str) -> None:
        self._do("export")


class Folder:
    path = "nowhere"

    def __init__(self) -> None:
        self.facts: list[tuple[str, dict[str, Any]]] = []
        self.faults: list[BaseException] = []

    def fact(self, name: str, **values: Any) -> None:
        self.facts.append((name, values))

    def fault(self, error: BaseException) -> None:
        self.faults.append(error)

    def write_spans(self, spans: Any) -> int:
        return 0

    def write_device(self, records: Any) -> None: ...


class Mark:
    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return fake_torch(monkeypatch)


def fake_torch(monkeypatch: pytest.MonkeyPatch, *, fault: str | None = None, busy: bool = False) -> list[str]:
    log: list[str] = []
    profiler = SimpleNamespace(
        profile=lambda **options: Profiler(log, fault),
        record_function=Mark,
        ProfilerActivity=SimpleNamespace(CPU=0, CUDA=1),
    )
    torch = SimpleNamespace(
        profiler=profiler,
        autograd=SimpleNamespace(_profiler_enabled=lambda: busy),
        cuda=SimpleNamespace(is_initialized=lambda: False),
        version=SimpleNamespace(cuda=None, hip=None),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    return log


def a_recorder(steps: int | None = 4) -> Recorder:
    recorder = Recorder(Options(run_dir="/nowhere", steps=steps, warmup=1, traced_steps=2))
    recorder.thread = threading.get_ident()
    recorder.folder = Folder()  # type: ignore[assignment]
    recorder.window = TraceWindow(first=3, steps=2)
    recorder.stop_at = None if steps is None else 5
    return recorder


def train(recorder: Recorder, steps: int) -> None:
    for at in range(steps):
        recorder.loading_begins(10 * at)
        recorder.update_begins(1, 10 * at + 5)
        recorder.update_ends(1, 10 * at + 6)


def codes(recorder: Recorder) -> list[int]:
    return [span[0] for span in recorder.spans if span[0] in (STEP, STEP_TRACED)]


def test_its_steps_are_told_apart_and_what_it_costs_belongs_to_no_step(log: list[str]) -> None:
    recorder = a_recorder(steps=None)
    train(recorder, 9)
    assert codes(recorder) == [STEP] * 3 + [STEP_TRACED] * 2 + [STEP] * 3
    assert log == ["start", "stop", "export"]
    # the steps after opening and after closing begin when that is over, not where the step before them ended
    steps = [span for span in recorder.spans if span[0] in (STEP, STEP_TRACED)]
    starts = [span[1] for span in steps]
    ends = [span[2] for span in steps]
    assert [start == end for start, end in zip(starts[1:], ends, strict=False)] == [
        True, True, False, True, False, True, True,
    ]  # fmt: skip


def test_it_is_written_before_the_script_is_ended(log: list[str]) -> None:
    recorder = a_recorder()
    with pytest.raises(StopTraining):
        train(recorder, 9)
    assert log == ["start", "stop", "export"]
    assert recorder.folder.facts[-1] == ("end", {"reason": "stopped", "steps": 5})  # type: ignore[union-attr]


def test_it_stays_away_from_a_profiler_of_the_scripts_own(monkeypatch: pytest.MonkeyPatch) -> None:
    log = fake_torch(monkeypatch, busy=True)
    recorder = a_recorder(steps=None)
    train(recorder, 9)
    assert not log and codes(recorder) == [STEP] * 8
    assert "profiler of its own" in str(recorder.folder.facts)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fault", "told"),
    [("start", "opened"), ("stop", "written"), ("export", "written")],
    ids=lambda word: word,
)
def test_its_fault_is_told_and_costs_the_window_alone(
    monkeypatch: pytest.MonkeyPatch, fault: str, told: str
) -> None:
    fake_torch(monkeypatch, fault=fault)
    recorder = a_recorder(steps=None)
    train(recorder, 9)
    assert recorder.is_on and len(codes(recorder)) == 8
    notes = [values["text"] for name, values in recorder.folder.facts if name == "note"]  # type: ignore[union-attr]
    assert notes == [f"the deep window could not be {told}: RuntimeError('no {fault}')"]


@pytest.mark.parametrize(
    ("wait", "told", "traced"),
    [(4, "given up", 1), (3, "left out", 0)],
    ids=["begins within", "was prepared before"],
)
def test_a_script_that_profiles_itself_on_a_schedule_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wait: int, told: str, traced: int
) -> None:
    # GIVEN torch's real profiler, which the script has waiting when the window opens after three steps
    import torch

    module = torch.autograd.profiler
    for name in (*profiling.BEGINNINGS, profiling.END):
        monkeypatch.setattr(module, name, getattr(module, name))
    recorder = a_recorder(steps=None)
    recorder.folder.path = str(tmp_path)  # type: ignore[union-attr]
    profiling.install(module, recorder)
    seen: list[int] = []
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=torch.profiler.schedule(wait=wait, warmup=1, active=2, repeat=1),
        on_trace_ready=lambda profiler: seen.append(len(profiler.events())),
    ) as profiler:
        # WHEN it trains and profiles
        for _ in range(10):
            train(recorder, 1)
            torch.ones(2).sum()
            profiler.step()
    # THEN its profiler saw what it asked for, and the recording went on without the window
    assert len(seen) == 1 and seen[0] > 0
    assert recorder.is_on and codes(recorder) == [STEP] * 3 + [STEP_TRACED] * traced + [STEP] * (6 - traced)
    assert told in str(recorder.folder.facts)  # type: ignore[union-attr]
    assert list(tmp_path.iterdir()) == []


def test_a_fault_while_it_is_open_stops_it_from_the_thread_that_opened_it(log: list[str]) -> None:
    recorder = a_recorder(steps=None)
    train(recorder, 4)
    recorder.fail(OSError("disk full"))
    other = threading.Thread(target=recorder.admits)
    other.start()
    other.join()
    assert log == ["start"]
    assert not recorder.admits()
    assert log == ["start", "stop"]


def test_a_window_that_cannot_be_written_still_lets_the_run_end_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_torch(monkeypatch, fault="export")
    recorder = a_recorder()
    recorder.stop_at = 4
    with pytest.raises(StopTraining):
        train(recorder, 9)
    names = [name for name, _ in recorder.folder.facts]  # type: ignore[union-attr]
    assert names[-2:] == ["note", "end"] and not recorder.failed

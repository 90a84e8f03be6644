"""Where a step ends, told to a recorder call by call as the hooks do, without torch and without a clock."""

import threading
from collections.abc import Callable

import pytest

from trainrx.profiler.agent.format import STEP, STEP_TRACED
from trainrx.profiler.agent.options import Options
from trainrx.profiler.agent.recorder import Recorder, StopTraining


def a_recorder(**options: object) -> Recorder:
    recorder = Recorder(Options(run_dir="/nowhere", traced_steps=0, **options))  # type: ignore[arg-type]
    recorder.thread = threading.get_ident()
    return recorder


def tell(recorder: Recorder, loop: str) -> list[tuple[int, int, int]]:
    """Play a loop, a word each 10 ns, and give the steps as ``(start, end, fetches)``.

    ``L`` an iterator is made, ``D`` a batch fetched, ``E`` the loader found exhausted, ``F`` a forward, ``B`` backward,
    ``O1`` the first optimizer steps.
    """
    for at, word in enumerate(loop.split()):
        start = 10 * at
        if word == "L":
            recorder.loading_begins(start)
        elif word in ("D", "E"):
            recorder.loading_begins(start)
            recorder.fetches += word == "D"
        elif word in ("F", "B"):
            recorder.work_begins(start)
        else:
            recorder.update_begins(int(word[1:]), start)
            recorder.update_ends(int(word[1:]), start + 9)
    return [
        (start, end, fetches) for code, start, end, fetches in recorder.spans if code in (STEP, STEP_TRACED)
    ]


@pytest.mark.parametrize(
    ("loop", "steps"),
    [
        pytest.param("L D F B O1 D F B O1 D F B O1", [(0, 50, 1), (50, 90, 1)], id="plain"),
        pytest.param("L D F B D F B O1 D F B D F B O1 D", [(0, 80, 2), (80, 150, 2)], id="accumulation"),
        pytest.param("L D F B O1 F B O2 D F B O1 F B O2 D", [(0, 80, 1), (80, 150, 1)], id="two optimizers"),
        pytest.param("F B O1 F B O1 F B O1", [(0, 29, 0), (29, 59, 0)], id="no loader"),
        pytest.param("F B O1 F B O2 F B O1 F B O2", [(0, 59, 0)], id="two optimizers, no loader"),
        pytest.param("L D F B O1 F B O1 D F B O1", [(0, 49, 1), (49, 80, 0)], id="two updates of one batch"),
        pytest.param(
            "L D F B O1 E L D F B O1 D", [(0, 50, 1), (50, 110, 1)], id="a loader made anew each epoch"
        ),
        pytest.param("L D D F B O1 D F B O1 D", [(0, 60, 2), (60, 100, 1)], id="a prefetcher"),
        pytest.param("L D F B O1 L D F D F E D F B O1 D", [(0, 50, 1), (50, 150, 3)], id="evaluation"),
        pytest.param("L D F D F E", [], id="no update"),
        pytest.param("L E", [], id="an empty loader"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_steps(loop: str, steps: list[tuple[int, int, int]]) -> None:
    assert tell(a_recorder(), loop) == steps


def test_the_script_is_ended_after_the_last_step_wanted() -> None:
    recorder = a_recorder(steps=3, warmup=2)
    with pytest.raises(StopTraining) as end:
        tell(recorder, "D F B O1 " * 20)
    assert (end.value.code, recorder.steps, recorder.is_on) == (0, 5, False)


def test_without_a_number_of_steps_nothing_is_ended() -> None:
    recorder = a_recorder(steps=None, warmup=2)
    assert len(tell(recorder, "D F B O1 " * 200)) == 199


def test_another_thread_is_recorded_instead_until_one_updates() -> None:
    recorder = a_recorder()
    recorder.folder = object()  # type: ignore[assignment]
    here = threading.get_ident()
    recorder.thread = here + 1
    assert not recorder.admits()
    assert recorder.rebind()
    assert recorder.thread == here
    recorder.update_ends(1, 5)
    assert not recorder.rebind()


def test_a_forked_child_starts_afresh_but_keeps_what_the_hooks_hold() -> None:
    # GIVEN a recorder in the middle of a run
    recorder = a_recorder(steps=40)
    held, wrappers = recorder.spans, recorder.wrappers
    tell(recorder, "L D F B O1 D F B O1 D")
    recorder.traced = recorder.inside = True
    recorder.number(threading.Thread(), "loader", lambda thing: {"type": "loader"})
    # WHEN its process forks
    recorder.forget_parent()
    # THEN the child knows nothing of it, and the hooks still write to its queue
    assert (recorder.thread, recorder.folder, recorder.steps, recorder.inside, recorder.traced) == (
        None, None, 0, False, False,
    )  # fmt: skip
    assert recorder.spans is held and not held
    assert recorder.wrappers is wrappers
    assert recorder.number(threading.Thread(), "optimizer", lambda thing: {"type": "x"}) == 1


def test_a_switched_off_recorder_stays_off_in_a_forked_child() -> None:
    recorder = a_recorder()
    recorder.switch_off()
    recorder.forget_parent()
    assert not recorder.is_on and not recorder.admits()


@pytest.mark.parametrize("fault", [OSError("disk full"), RecursionError(), MemoryError()])
def test_a_fault_switches_off_and_raises_nothing(fault: BaseException) -> None:
    class Broken:
        def fault(self, error: BaseException) -> None:
            raise error

    recorder = a_recorder()
    recorder.folder = Broken()  # type: ignore[assignment]
    recorder.fail(fault)
    assert recorder.failed and not recorder.is_on and not recorder.admits()


def test_things_alike_keep_their_number_and_are_told_once() -> None:
    told: list[dict[str, object]] = []

    class Folder:
        def fact(self, name: str, **values: object) -> None:
            told.append(values)

    class Thing:
        def __init__(self, kind: str) -> None:
            self.kind = kind

    def describe(thing: Thing) -> dict[str, object]:
        return {"kind": thing.kind}

    recorder = a_recorder()
    recorder.folder = Folder()  # type: ignore[assignment]
    number: Callable[[Thing], int] = lambda thing: recorder.number(thing, "loader", describe)  # noqa: E731
    first, alike, other = Thing("a"), Thing("a"), Thing("b")
    assert [number(first), number(alike), number(other), number(first)] == [1, 1, 2, 1]
    assert [fact["kind"] for fact in told] == ["a", "b"]


def test_a_thing_that_cannot_be_described_is_told_with_the_reason() -> None:
    told: list[dict[str, object]] = []

    class Folder:
        def fact(self, name: str, **values: object) -> None:
            told.append(values)

    def describe(thing: object) -> dict[str, object]:
        raise AttributeError("no param_groups")

    recorder = a_recorder()
    recorder.folder = Folder()  # type: ignore[assignment]
    assert recorder.number(threading.Thread(), "optimizer", describe) == 1
    assert "no param_groups" in str(told[0]["undescribed"])

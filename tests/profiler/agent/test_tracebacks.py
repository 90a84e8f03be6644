"""What Python prints about the script shows no frame of the agent's."""

import sys
import traceback
import warnings

import pytest

from trainrx.profiler.agent import tracebacks


def agent_code(source: str) -> dict[str, object]:
    """Functions compiled as if they stood in a file of the agent's."""
    names: dict[str, object] = {"warnings": warnings}
    exec(compile(source, tracebacks._HERE + "/hooks/imagined.py", "exec"), names)
    return names


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test installs is gone after it."""
    for name in ("walk_tb", "_walk_tb_with_full_positions"):
        if hasattr(traceback, name):
            monkeypatch.setattr(traceback, name, getattr(traceback, name))


WRAPPER = "def wrapper(function, *args):\n    return function(*args)\n"


def fail() -> None:
    raise ValueError("the script's own")


def test_the_agents_frames_are_left_out_of_a_traceback() -> None:
    wrapper = agent_code(WRAPPER)["wrapper"]
    try:
        wrapper(wrapper, wrapper, fail)  # type: ignore[operator]
    except ValueError as error:
        shown = tracebacks.without_agent(error.__traceback__)
        assert len(traceback.extract_tb(error.__traceback__)) == 5
    assert [frame.name for frame in traceback.extract_tb(shown)] == [
        "test_the_agents_frames_are_left_out_of_a_traceback",
        "fail",
    ]


def test_what_a_script_prints_of_an_error_has_no_frame_of_the_agents() -> None:
    # GIVEN the module that scripts print tracebacks with
    wrapper = agent_code(WRAPPER)["wrapper"]
    tracebacks.hide_from_printing()
    try:
        wrapper(fail)  # type: ignore[operator]
    except ValueError as error:
        # WHEN it is asked in any of its ways THEN the agent's file is in none
        said = [
            traceback.format_exc(),
            "".join(traceback.format_tb(error.__traceback__)),
            "".join(traceback.TracebackException.from_exception(error).format()),
            str(list(traceback.walk_tb(error.__traceback__))),
        ]
    assert all("imagined.py" not in text and "in fail" in text for text in said[:3])
    assert "imagined.py" not in said[3]


def test_a_traceback_of_the_agent_alone_is_empty() -> None:
    assert tracebacks.without_agent(None) is None


def test_the_excepthook_of_the_script_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def own(*error: object) -> None: ...

    monkeypatch.setattr(sys, "excepthook", own)
    tracebacks.install()
    assert sys.excepthook is own


def test_linked_errors_are_filtered_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    tracebacks.install()
    wrapper = agent_code(WRAPPER)["wrapper"]
    try:
        try:
            wrapper(fail)  # type: ignore[operator]
        except ValueError as cause:
            raise RuntimeError("in turn") from cause
    except RuntimeError as error:
        sys.excepthook(RuntimeError, error, error.__traceback__)
    printed = capsys.readouterr().err
    assert "the script's own" in printed and "in turn" in printed
    assert "imagined.py" not in printed


def test_a_warning_below_a_wrapper_names_the_callers_line() -> None:
    wrapper = agent_code(WRAPPER)["wrapper"]
    tracebacks.unseen(wrapper)  # type: ignore[arg-type]

    def warn() -> None:
        warnings.warn("look", stacklevel=2)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wrapper(warn)  # type: ignore[operator]
    assert caught[0].filename == __file__

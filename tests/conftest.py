"""Scripts run with and without the recorder, for tests of what recording promises."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from trainrx.profiler.launch import Limits

WHOLE = Limits(steps=None, warmup=2, traced_steps=0, seconds=None, patience_s=None)


@dataclass(frozen=True)
class Output:
    """What a script printed and how it ended."""

    stdout: str
    stderr: str
    exit_code: int | None


#: Tests of these places let scripts train for real and judge what was measured. On a machine whose cores are lent to
#: others a stall of a second can lead one astray, so it may try a second time; a fault fails twice.
TRAINING = (
    "advisor/trial", "app/commands/test_try.py", "app/pages/test_journey_browser.py", "app/test_demo.py", "app/test_profile_command.py", "frameworks",
    "profiler/agent", "profiler/attach", "profiler/telemetry", "profiler/test_launch.py", "profiler/test_loader_costs.py", "profiler/test_native_stacks.py",
    "scenarios",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Grant the tests of `TRAINING` a second try."""
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).as_posix().startswith(TRAINING):
            item.add_marker(pytest.mark.flaky(reruns=1))


WriteScript = Callable[..., Path]
RunPlain = Callable[..., Output]
RunRecorded = Callable[..., "tuple[Output, Path]"]


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts of the tests compute on one thread, so that a busy machine does not stretch their compute."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def write_script(tmp_path: Path) -> WriteScript:
    """Writes a script from indented text."""

    def write(text: str, name: str = "train.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return path

    return write


@pytest.fixture
def run_plain() -> RunPlain:
    """Runs a script without the recorder."""

    def run(script: Path, *args: str) -> Output:
        done = subprocess.run([sys.executable, str(script), *args], capture_output=True, text=True)
        return Output(done.stdout, done.stderr, done.returncode)

    return run


@pytest.fixture
def run_recorded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> RunRecorded:
    """Runs a script under the recorder, in this process; the script's own output is all that is captured."""

    def run(script: Path, *args: str, limits: Limits = WHOLE) -> tuple[Output, Path]:
        from trainrx.profiler.launch import python_command, record

        capfd.readouterr()
        folder = record(python_command([str(script), *args]), runs_dir=tmp_path / "runs", limits=limits)
        printed = capfd.readouterr()
        return Output(printed.out, printed.err, folder.manifest.exit_code), folder.path

    return run

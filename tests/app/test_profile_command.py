"""``trainrx profile`` and ``trainrx show`` as a user calls them: what they print, where, and their exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from trainrx.app import analysing
from trainrx.app.cli import main
from trainrx.app.recording import _analyse_and_store
from trainrx.profiler import analysis
from trainrx.profiler.errors import UsageError
from trainrx.profiler.progress import ProgressReader
from trainrx.profiler.report import SCHEMA_VERSION, Report
from trainrx.profiler.store import RunFolder, list_runs
from trainrx.profiler.vocabulary import RunStatus

Cli = Callable[..., "tuple[int, str, str]"]
COMMAND = [sys.executable, "-c", "from trainrx.app.cli import main; main()"]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Calls the command line in this process; gives exit code, stdout and stderr, with those of the script."""
    monkeypatch.setenv("TRAINRX_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("COLUMNS", "200")

    def call(*args: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["trainrx", *args])
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        sys.stdout.flush()
        printed = capfd.readouterr()
        return int(end.value.code or 0), printed.out, printed.err

    return call


def one_sentence(printed: str) -> bool:
    return printed.startswith("trainrx: ") and printed.count("\n") == 1


def test_a_plain_loop_that_waits_for_its_dataset(cli: Cli, write_script) -> None:
    script = write_script(
        """
        import time, torch
        from torch.utils.data import DataLoader, Dataset

        class Slow(Dataset):
            def __len__(self):
                return 1000
            def __getitem__(self, index):
                time.sleep(0.004)
                return torch.ones(4)

        model = torch.nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        for x in DataLoader(Slow(), 8):
            loss = model(x).square().sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("loss", loss.item())
        """
    )
    code, stdout, stderr = cli("profile", "--json", "--steps", "20", "--light", str(script))
    report = json.loads(stdout)
    shares = {stage["name"]: stage["share"] for stage in report["stages"]}
    assert code == 0 and report["run"]["status"] == "stopped" and "loss" in stderr
    assert report["findings"][0]["kind"] == "data-loading" and report["findings"][0]["share"] > 0.7
    assert report["findings"][0]["where"][0]["line"] == 9
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-3)
    assert report["step_time"]["n"] == 20
    assert 0 < report["recorder"]["overhead_share"] < 0.2


def test_saving_in_every_step(cli: Cli, write_script, tmp_path: Path) -> None:
    script = write_script(
        """
        import sys, torch
        model = torch.nn.Linear(4, 4)
        state = {"weights": torch.ones(3_000_000)}
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        for _ in range(25):
            model(torch.ones(1, 4)).sum().backward()
            optimizer.step()
            torch.save(state, sys.argv[1])
        """
    )
    code, stdout, _ = cli("profile", "--json", "--full", "--light", str(script), str(tmp_path / "weights.pt"))
    headline = json.loads(stdout)["findings"][0]
    assert (code, headline["kind"], headline["severity"]) == (0, "checkpoint-io", "high")
    assert headline["where"][0]["file"] == str(script) and headline["where"][0]["line"] == 9


def test_sleeping_between_steps_in_the_terminal(cli: Cli, write_script) -> None:
    script = write_script(
        """
        import time, torch
        model = torch.nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        while True:
            model(torch.ones(1, 4)).sum().backward()
            optimizer.step()
            time.sleep(0.03)
        """
    )
    code, stdout, stderr = cli("profile", "--steps", "12", str(script))
    assert (code, stdout) == (0, "")
    verdict = next(line for line in stderr.splitlines() if "Python code between the stages" in line)
    assert "train.py:8" in verdict
    assert "host-python" in stderr and "recorder: cost about" in stderr and "folder: " in stderr
    (run,) = list_runs(Path(os.environ["TRAINRX_RUNS"]))
    assert (run.path / "ranks" / "0" / "trace.json.gz").is_file()
    code, stdout, stderr = cli("show")
    assert (code, stderr) == (0, "") and "train.py:8" in stdout


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["profile", "no-such.py"], "no such script: no-such.py"),
        (["profile", "-m"], "name of a module"),
        (["profile", "--"], "no command was given"),
        (["profile", "--", "no-such-program"], "cannot start no-such-program"),
    ],
)
def test_what_cannot_be_recorded_is_one_sentence(cli: Cli, args: list[str], says: str) -> None:
    code, stdout, stderr = cli(*args)
    assert (code, stdout) == (2, "")
    assert one_sentence(stderr.splitlines(keepends=True)[-1]) and says in stderr


def test_runs_that_cannot_be_written_are_one_sentence(cli: Cli, write_script, tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file in the folder's place")
    code, stdout, stderr = cli("profile", str(write_script("print('never run')\n")))
    assert (code, stdout) == (2, "") and one_sentence(stderr) and "--runs DIR" in stderr


@pytest.mark.parametrize(
    "words", [[], ["profile"], ["profile", "--steps", "0", "x.py"], ["profile", "--bogus", "x.py"]]
)
def test_a_wrong_call_is_usage(cli: Cli, words: list[str]) -> None:
    assert cli(*words)[0] == 2


TELLING = "import sys\nprint(sys.argv[1:])\nsys.exit(int(sys.argv[1]))\n"


def test_the_scripts_own_exit_code_is_in_the_report(cli: Cli, write_script) -> None:
    code, stdout, stderr = cli("profile", "--json", str(write_script(TELLING)), "3", "--steps", "x")
    report = json.loads(stdout)
    assert (code, report["run"]["exit_code"], report["run"]["status"]) == (1, 3, "failed")
    assert "['3', '--steps', 'x']" in stderr


def test_a_script_without_training_is_not_enough_evidence(cli: Cli, write_script) -> None:
    code, stdout, stderr = cli(
        "profile", "--light", "--steps=3", "--", sys.executable, str(write_script(TELLING)), "0"
    )
    assert code == 4 and stdout == "['0']\n"
    assert "never imported torch" in stderr


def test_a_module_is_run_with_its_arguments(cli: Cli, write_script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(write_script(TELLING, "mine/telling.py").parent))
    code, stdout, _ = cli("profile", "--runs", os.environ["TRAINRX_RUNS"], "-m", "telling", "0", "--json")
    assert code == 4 and stdout == "['0', '--json']\n"


@pytest.mark.parametrize(
    ("file", "change", "says"),
    [
        ("run.json", lambda text: text[: len(text) // 2], "run.json is damaged"),
        (
            "run.json",
            lambda text: text.replace('"schema_version": 1', '"schema_version": 99'),
            "upgrade trainrx",
        ),
    ],
)
def test_a_damaged_or_newer_run_is_one_sentence(
    cli: Cli, write_script, file: str, change: Any, says: str
) -> None:
    assert SCHEMA_VERSION == 1
    cli("profile", str(write_script(TELLING)), "0")
    path = list_runs(Path(os.environ["TRAINRX_RUNS"]))[0].path / file
    path.write_text(change(path.read_text()))
    for args in (["show"], ["show", "--json"]):
        code, stdout, stderr = cli(*args)
        assert (code, stdout) == (3, "") and one_sentence(stderr) and says in stderr


def test_a_damaged_report_is_made_anew_and_said(cli: Cli, write_script) -> None:
    cli("profile", str(write_script(TELLING)), "0")
    path = list_runs(Path(os.environ["TRAINRX_RUNS"]))[0].path / "report.json"
    path.write_text(path.read_text()[:99])
    code, stdout, stderr = cli("show", "--json")
    assert code == 0 and "never imported torch" in json.loads(stdout)["verdict"]
    assert one_sentence(stderr) and "report.json is damaged" in stderr and "analysed anew" in stderr


@pytest.mark.parametrize("name", ["no-such-run", "last", "\x1b[2J", "x" * 5000])
def test_a_run_that_is_not_there_is_one_sentence(cli: Cli, name: str) -> None:
    code, stdout, stderr = cli("show", name)
    assert (code, stdout) == (3, "") and one_sentence(stderr)


def test_a_full_disk_still_tells_the_verdict(cli: Cli, write_script, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(run: RunFolder, steps: object) -> None:
        raise UsageError("cannot write steps.parquet: No space left on device")

    monkeypatch.setattr(RunFolder, "write_steps", full)
    code, _, stderr = cli("profile", str(write_script(TELLING)), "0")
    assert code == 4 and "No space left on device" in stderr and "never imported torch" in stderr


def test_on_a_full_disk_a_run_is_analysed_once_and_its_advice_is_told(
    tmp_path: Path, samples: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a recorded run on a disk that takes no more
    run = samples.store(tmp_path, "a", kept=samples.manifest("a", options={"warmup": 2}))
    samples.write_recording(run, 12)
    analysed: list[RunFolder] = []

    def counted(folder: RunFolder) -> Any:
        analysed.append(folder)
        return analysis.analyse(folder)

    def full(folder: RunFolder, report: object) -> None:
        raise UsageError("cannot write report.json: No space left on device")

    monkeypatch.setattr(analysing, "analyse", counted)
    monkeypatch.setattr(RunFolder, "write_report", full)

    # WHEN it is analysed
    report = _analyse_and_store(run)

    # THEN that happens once, and what to try is told all the same
    assert report.findings and report.prescriptions
    assert analysed == [run]


ENDLESS = """
    import time, torch
    from torch.utils.data import DataLoader, Dataset

    class Endless(Dataset):
        def __len__(self):
            return 10**6
        def __getitem__(self, index):
            time.sleep(0.005)
            return torch.ones(4)

    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for x in DataLoader(Endless(), 4, num_workers=1):
        model(x).sum().backward()
        optimizer.step()
"""


def start(script: Path, runs: Path, **options: Any) -> tuple[subprocess.Popen[bytes], RunFolder]:
    """The command line in a session of its own, once it has recorded some steps."""
    process = subprocess.Popen(
        [*COMMAND, "profile", "--full", "--light", "--runs", str(runs), str(script)],
        start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )  # fmt: skip
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = list_runs(runs)
        if found and ProgressReader(found[0].path).read(0).steps >= 8:
            return process, found[0]
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    raise AssertionError(process.communicate())


def live_report(run: RunFolder) -> Report:
    """The first report of a run that goes on."""
    end = time.monotonic() + 60
    while not (run.path / "report.json").exists():
        assert time.monotonic() < end, "no report was written while the run went on"
        time.sleep(0.05)
    return run.report()


def members(session: int) -> list[int]:
    """Processes of a session that still run."""
    found = []
    for pid in psutil.pids():
        try:
            if os.getsid(pid) == session and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                found.append(pid)
        except (ProcessLookupError, psutil.Error):
            continue
    return found


def test_a_run_is_reported_while_it_goes_on_and_ctrl_c_leaves_no_process(
    cli: Cli, write_script, tmp_path: Path
) -> None:
    process, run = start(write_script(ENDLESS), tmp_path / "runs")
    try:
        live = live_report(run)
    finally:
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0 and b"interrupted" in stderr
    assert members(process.pid) == []
    assert live.run.status is RunStatus.RECORDING and live.step_time is not None
    report = run.report()
    assert report.run.status is RunStatus.INTERRUPTED and report.run.steps_recorded >= 8
    assert report.step_time is not None


def test_a_killed_recorder_leaves_what_it_had(cli: Cli, write_script, tmp_path: Path) -> None:
    process, run = start(write_script(ENDLESS), tmp_path / "runs")
    process.kill()
    process.wait()
    try:
        code, stdout, _ = cli("show", "--json", str(run.path))
        assert code == 0
        report = json.loads(stdout)
        assert report["run"]["status"] == "lost" and report["step_time"]["n"] > 0
        assert "the recorder was killed before it could finish" in cli("show", str(run.path))[1]
        assert not (run.path / "report.json").exists()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

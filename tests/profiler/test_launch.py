"""Starting, following and ending a command; scripts here import no torch, so that they take no time."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trainrx.profiler import launch
from trainrx.profiler.analysis import analyse
from trainrx.profiler.errors import UsageError
from trainrx.profiler.launch import Limits, Setting, python_command, record
from trainrx.profiler.store import RunFolder
from trainrx.profiler.vocabulary import RunStatus

SHORT = Limits(steps=5, warmup=1, traced_steps=0, seconds=1.0, patience_s=0.5)


def test_a_script_runs_in_this_python(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.touch()
    assert python_command([str(script), "--lr", "1"]) == [sys.executable, str(script), "--lr", "1"]
    assert python_command(["-m", "pkg.train"]) == [sys.executable, "-m", "pkg.train"]


@pytest.mark.parametrize(
    ("words", "says"), [(["no/such.py"], "no such script"), (["-m"], "name of a module")]
)
def test_what_cannot_be_run_is_one_sentence(words: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        python_command(words)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["/usr/bin/python3.11", "/a/train.py", "x"], "train"),
        (["python", "-m", "train"], "train"),
        (["torchrun", "train.py"], "torchrun"),
        (["-x"], "command"),
        (["python"], "python"),
    ],
)
def test_a_run_is_named_after_its_script(command: list[str], name: str) -> None:
    assert launch._name(command) == name


@pytest.mark.parametrize("command", [[], ["no-such-program-anywhere"], [""], ["/"]])
def test_a_command_that_cannot_be_started_is_one_sentence(tmp_path: Path, command: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        record(command, runs_dir=tmp_path, limits=SHORT)
    assert "\n" not in str(caught.value)


def test_the_environment_keeps_what_the_user_set(write_script, run_plain, run_recorded, monkeypatch) -> None:
    # GIVEN a script that tells what it sees of its Python, and modules on the user's PYTHONPATH
    own = write_script("VALUE = 12\n", "mine/own_module.py").parent
    monkeypatch.setenv("PYTHONPATH", str(own))
    script = write_script(
        """
        import sys, own_module
        print(own_module.VALUE, sys.path, sys.argv, sys.flags, sys.excepthook.__name__)
        print(sys.stdin.read())
        sys.exit(3)
        """
    )
    # WHEN it is recorded THEN it sees the same
    output, folder = run_recorded(script, "--a", "b")
    assert output == run_plain(script, "--a", "b")
    manifest = RunFolder(folder).manifest
    assert (manifest.status, manifest.exit_code) == (RunStatus.FAILED, 3)


def test_the_users_own_sitecustomize_still_runs(write_script, run_plain, run_recorded, monkeypatch) -> None:
    own = write_script(
        "import sys\nsys.own_was_here = (__name__, __file__)\n", "mine/sitecustomize.py"
    ).parent
    monkeypatch.setenv("PYTHONPATH", str(own))
    script = write_script("import sys, sitecustomize\nprint(sys.own_was_here, sitecustomize.__file__)\n")
    output, _ = run_recorded(script)
    assert output == run_plain(script)
    assert "mine/sitecustomize.py" in output.stdout


def test_an_error_in_the_users_sitecustomize_is_told_as_ever(
    write_script, run_plain, run_recorded, monkeypatch
) -> None:
    own = write_script("raise RuntimeError('the site is broken')\n", "mine/sitecustomize.py").parent
    monkeypatch.setenv("PYTHONPATH", str(own))
    script = write_script("print('on it goes')\n")
    output, _ = run_recorded(script)
    assert output == run_plain(script)
    assert "the site is broken" in output.stderr


@pytest.mark.parametrize("options", ["{", "{}", "[1]", '{"run_dir": 5}', '{"run_dir": "/no/such", "new": 1}'])
def test_options_that_make_no_sense_leave_the_program_alone(options: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(launch.BOOTSTRAP), "TRAINRX_AGENT": options}
    done = subprocess.run(
        [sys.executable, "-c", "print('fine')"], env=environment, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr, done.returncode) == ("fine\n", "", 0)


def test_a_script_that_fails_before_torch_is_told_so(write_script, run_plain, run_recorded) -> None:
    script = write_script("def f():\n    raise KeyError('config')\nf()\n")
    output, folder = run_recorded(script)
    assert output == run_plain(script)
    report = analyse(RunFolder(folder)).report
    assert (
        report.verdict == "The command failed with exit code 1 before a step was over: see what it printed."
    )
    assert report.run.exit_code == 1


def test_a_script_that_never_imports_torch_is_told_so(write_script, run_recorded) -> None:
    # its folder holds the word that a lazy test for multiprocessing would stumble over
    script = write_script("print('no training here')\n", "multiprocessing_demo/train.py")
    _, folder = run_recorded(script)
    assert "never imported torch" in analyse(RunFolder(folder)).report.verdict


def test_a_python_that_ignores_the_recorder_is_told_so(tmp_path: Path) -> None:
    run = record([sys.executable, "-I", "-c", "pass"], runs_dir=tmp_path, limits=SHORT)
    assert "ignores PYTHONPATH" in analyse(run).report.verdict


def test_a_script_without_steps_is_stopped_after_some_patience(write_script, run_recorded) -> None:
    script = write_script("import time\nprint('waiting', flush=True)\ntime.sleep(60)\n")
    output, folder = run_recorded(script, limits=SHORT)
    report = analyse(RunFolder(folder)).report
    assert (output.stdout, output.exit_code) == ("waiting\n", -signal.SIGTERM)
    assert report.run.status is RunStatus.STOPPED
    assert any("--patience" in note for note in report.recorder.notes)


def test_a_script_whose_steps_cease_is_stopped_after_some_patience(write_script, run_recorded) -> None:
    # GIVEN a script that stands still after its first step
    script = write_script(
        """
        import json, os, pathlib, struct, time
        rank = pathlib.Path(json.loads(os.environ["TRAINRX_AGENT"])["run_dir"], "ranks", "0")
        rank.mkdir(parents=True)
        (rank / "spans.bin").write_bytes(struct.pack("<4q", 30, 5, 9, 0))
        time.sleep(60)
        """
    )
    # WHEN recorded THEN nobody waits for its next step for ever
    output, folder = run_recorded(script, limits=SHORT)
    manifest = RunFolder(folder).manifest
    assert (output.exit_code, manifest.status) == (-signal.SIGTERM, RunStatus.STOPPED)
    assert "no further step was seen" in (manifest.note or "")


def test_a_script_that_will_not_end_is_killed_with_all_it_started(
    write_script, run_recorded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # GIVEN a script that heeds no SIGTERM, with a child that does not either
    monkeypatch.setattr(launch, "GRACE_S", 0.2)
    monkeypatch.setattr(launch, "KILL_S", 0.3)
    script = write_script(
        """
        import os, pathlib, signal, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
        time.sleep(60)
        """
    )
    # WHEN nobody waits for it any longer
    output, folder = run_recorded(script, str(tmp_path / "pid"), limits=SHORT)
    # THEN both are gone, and its exit code is the true one
    assert output.exit_code == -signal.SIGKILL
    assert RunFolder(folder).manifest.status is RunStatus.STOPPED
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_what_a_shell_leaves_behind_is_stopped_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # GIVEN a shell that runs one thing for as long as it takes, and has started another one that is meant to stay
    monkeypatch.chdir(tmp_path)
    shell = "sleep 60 & echo $! > script; setsid sleep 60 & echo $! > service; touch ready; wait"
    # WHEN it is stopped for want of steps
    run = record(["sh", "-c", shell], runs_dir=tmp_path, limits=SHORT)
    # THEN the script has ended with it, and the run says that it was stopped
    assert (tmp_path / "ready").exists() and run.manifest.status is RunStatus.STOPPED
    pids = [int((tmp_path / name).read_text()) for name in ("script", "service")]
    try:
        assert [is_alive(pid) for pid in pids] == [False, True]
    finally:
        os.kill(pids[1], signal.SIGKILL)


def is_alive(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().split()[2] != "Z"


def test_a_helper_process_that_ends_does_not_end_the_script(write_script, run_recorded, monkeypatch) -> None:
    # GIVEN a script that starts a helper, which leaves a finished recording beside the training
    monkeypatch.setattr(launch, "GRACE_S", 0.2)
    script = write_script(
        """
        import json, os, pathlib, time
        ranks = pathlib.Path(json.loads(os.environ["TRAINRX_AGENT"])["run_dir"], "ranks")
        for name, end in ("0", '{"fact": "end", "reason": "exit"}\\n'), ("1", ""):
            (ranks / name).mkdir(parents=True)
            (ranks / name / "facts.jsonl").write_text(end)
        time.sleep(1)
        print("trained to the end")
        """
    )
    # WHEN the script goes on for longer than the grace THEN nobody stops it
    output, folder = run_recorded(script)
    assert (output.stdout, output.exit_code) == ("trained to the end\n", 0)
    assert RunFolder(folder).manifest.status is RunStatus.FINISHED


def test_the_manifest_tells_what_was_run(write_script, run_recorded) -> None:
    script = write_script("print('hello')\n")
    _, folder = run_recorded(script, "--lr", "0.1")
    manifest = json.loads((folder / "run.json").read_text())
    assert manifest["command"][1:] == [str(script), "--lr", "0.1"]
    assert manifest["versions"]["trainrx"] and manifest["launcher_pid"] == os.getpid()
    assert not list(folder.glob(".*"))


def test_the_commit_is_that_of_the_folder_the_command_runs_in(tmp_path: Path) -> None:
    # GIVEN a repository elsewhere
    repository = tmp_path / "repository"
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=b"]
    for words in (["git", "init", "-q", str(repository)], [*git, "commit", "-q", "--allow-empty", "-m", "c"]):
        subprocess.run(words, check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    # WHEN a command runs there THEN its commit is noted
    run = record(["true"], runs_dir=tmp_path, limits=SHORT, setting=Setting(cwd=repository))
    assert run.manifest.git == {"commit": head.strip(), "dirty": False}


#: A script that takes a while to clean up.
CLEANING_UP = """
    import pathlib, sys, time
    here = pathlib.Path(sys.argv[1])
    try:
        (here / "ready").touch()
        time.sleep(60)
    except KeyboardInterrupt:
        time.sleep(0.6)
        (here / "saved").touch()
        raise
"""
RECORDING = """
import sys, pathlib
from trainrx.profiler import launch
script, here, launch.FORWARD_S = *sys.argv[1:3], float(sys.argv[3])
launch.record([sys.executable, script, here], runs_dir=pathlib.Path(here, "runs"), limits=launch.Limits())
"""


def test_ctrl_c_reaches_the_script_once(write_script, tmp_path: Path) -> None:
    # GIVEN a recorder and its script in one process group, and a script that takes a while to clean up
    script = write_script(CLEANING_UP)
    recorder = subprocess.Popen(
        [sys.executable, "-c", RECORDING, str(script), str(tmp_path), "2.0"],
        start_new_session=True,
        stderr=subprocess.PIPE,
    )
    wait_for(tmp_path / "ready")
    # WHEN the group is interrupted
    os.killpg(recorder.pid, signal.SIGINT)
    _, printed = recorder.communicate(timeout=30)
    # THEN the script's clean-up was not interrupted in its turn, and the run says how it ended
    assert (tmp_path / "saved").exists()
    assert recorder.returncode == 0 and printed.count(b"KeyboardInterrupt") == 1
    (run,) = (tmp_path / "runs").iterdir()
    assert RunFolder(run).manifest.status is RunStatus.INTERRUPTED
    with pytest.raises(ProcessLookupError):
        os.killpg(recorder.pid, 0)


def test_ctrl_c_in_a_terminal_reaches_the_script_once_whatever_its_input_is(
    write_script, tmp_path: Path
) -> None:
    # GIVEN a recorder in a terminal whose input is none, and which passes an interrupt on before the clean-up is over
    script = write_script(CLEANING_UP)
    keyboard, terminal = os.openpty()
    code = f"import fcntl, termios\nfcntl.ioctl({terminal}, termios.TIOCSCTTY, 0)\n{RECORDING}"
    recorder = subprocess.Popen(
        [sys.executable, "-c", code, str(script), str(tmp_path), "0.2"],
        start_new_session=True,
        pass_fds=(terminal,),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    wait_for(tmp_path / "ready")
    # WHEN Ctrl-C is pressed
    os.write(keyboard, b"\x03")
    _, printed = recorder.communicate(timeout=30)
    os.close(keyboard)
    os.close(terminal)
    # THEN the terminal has told the script, and nobody else did in its turn
    assert (tmp_path / "saved").exists()
    assert printed.count(b"KeyboardInterrupt") == 1


def wait_for(path: Path, timeout_s: float = 30.0) -> None:
    end = time.monotonic() + timeout_s
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.02)

"""Starts a command with the agent in it, follows it, stops it, and closes the run's books.

The command keeps its own stdin, stdout and stderr. Nothing of it is changed but three environment variables
at most: ``PYTHONPATH``, the agent's options, and where steps are traced ``KINETO_LOG_LEVEL``, unless that is set.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import psutil

from .agent import format as layout
from .agent.options import Options
from .calibration import machine_key
from .compute import MACHINE
from .errors import UsageError
from .native_stacks import native_stacks_of
from .progress import STOPPED, Progress, ProgressReader
from .rank_watch import RankWatch
from .store import Manifest, RunFolder, create_run
from .telemetry import telemetry_of
from .vocabulary import RunStatus

BOOTSTRAP = Path(__file__).resolve().parent / "agent" / "bootstrap"
POLL_S = 0.1
#: How long a script may take to end by itself after it was stopped or interrupted.
GRACE_S = 20.0
KILL_S = 5.0
#: Ctrl-C reaches the script beside us; it is passed on only where the script has not heeded it for so long.
FORWARD_S = 2.0
#: Kineto announces each window on stderr below this log level; stderr belongs to the script.
QUIET_KINETO = "99"
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Limits:
    """When recording ends.

    Attributes:
        steps: timed steps; None records to the end of the script.
        warmup: steps left out of the timing before them.
        traced_steps: steps of the deep window after them; 0 leaves it out.
        seconds: stop after this time once a few steps are timed; None for no limit.
        patience_s: give up if no step was seen for so long, from the start or from the last one; None waits for ever.
        timeout_s: terminate the command after so long, whatever it does; None never does.
    """

    steps: int | None = 40
    warmup: int = 5
    traced_steps: int = 3
    seconds: float | None = 120.0
    patience_s: float | None = 120.0
    timeout_s: float | None = None


def python_command(script: Sequence[str]) -> list[str]:
    """The command for a script path or ``-m module`` with its arguments, in this Python.

    Raises:
        UsageError: the script does not exist.
    """
    if script[0] == "-m":
        if len(script) < 2:
            raise UsageError("-m needs the name of a module, as in `trainrx profile -m package.train`")
        return [sys.executable, *script]
    if not Path(script[0]).is_file():
        raise UsageError(
            f"no such script: {script[0]} (to run a command, put it after --, as in `-- torchrun …`)"
        )
    return [sys.executable, *script]


@dataclass(frozen=True)
class Setting:
    """What is changed about a command, and how it is tied to this process.

    Attributes:
        knobs: changes to put on, by name.
        losses: note the losses of the steps.
        own_session: the command gets a session of its own, so that a terminal's interrupt reaches this process alone,
            and dies with this process even where that is killed.
        cwd: the folder the command runs in; None for this one.
    """

    knobs: Mapping[str, str] = field(default_factory=dict[str, str])
    losses: bool = False
    own_session: bool = False
    cwd: Path | None = None


def record(
    command: Sequence[str],
    *,
    runs_dir: Path,
    limits: Limits,
    setting: Setting = Setting(),
    native_stacks: bool = False,
    stdout: IO[Any] | int | None = None,
    stderr: IO[Any] | int | None = None,
    on_start: Callable[[RunFolder], None] = lambda run: None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> RunFolder:
    """Run a command to its end, or until enough steps are recorded.

    Args:
        command: program and arguments.
        runs_dir: where the run's folder is made.
        limits: when to stop.
        setting: what is changed about the command.
        native_stacks: have py-spy sample the native code of the first training process and its children, too.
        stdout, stderr: where the command's output goes; None leaves it as it is.
        on_start: called once the run's folder exists.
        on_progress: called a few times a second.

    Raises:
        UsageError: the folder cannot be written or the command cannot be started.
    """
    if not command:
        raise UsageError("no command was given: put a script, `-m module` or `-- command` after the options")
    run = create_run(runs_dir, name=_name(command))
    manifest = _manifest(run, command, limits, setting)
    run.write_manifest(manifest)
    on_start(run)
    options = Options(
        run_dir=str(run.path.resolve()),
        steps=limits.steps,
        warmup=limits.warmup,
        traced_steps=limits.traced_steps,
        knobs=dict(setting.knobs),
        losses=setting.losses,
        die_with_parent=setting.own_session,
    )
    try:
        process = _start(command, options, setting, stdout, stderr)
    except OSError as error:
        run.release_reserve()
        run.write_manifest(manifest.model_copy(update={"status": RunStatus.FAILED, "note": str(error)}))
        raise UsageError(f"cannot start {command[0]}: {error.strerror}") from None
    with ExitStack() as beside:
        beside.enter_context(telemetry_of(process.pid, run.path))
        sample_native = beside.enter_context(native_stacks_of(run.path)) if native_stacks else None

        def tell(progress: Progress) -> None:
            if sample_native is not None and progress.steps:
                sample_native()
            on_progress(progress)

        ended = _Follower(run, process, limits, tell, own_session=setting.own_session).follow()
    run.release_reserve()
    run.write_manifest(manifest.model_copy(update=ended))
    return run


def _start(
    command: Sequence[str],
    options: Options,
    setting: Setting,
    stdout: IO[Any] | int | None,
    stderr: IO[Any] | int | None,
) -> subprocess.Popen[Any]:
    return subprocess.Popen(
        command,
        env=_environment(options),
        stdout=stdout,
        stderr=stderr,
        cwd=setting.cwd,
        start_new_session=setting.own_session,
        preexec_fn=_tied_to_this_process() if setting.own_session else None,  # noqa: PLW1509 - only calls prctl
    )


def start_with_knobs(command: Sequence[str], knobs: Mapping[str, str], folder: Path) -> subprocess.Popen[Any]:
    """Start a command with changes on and without recording; ``folder`` takes what becomes of the changes.

    Raises:
        UsageError: the command cannot be started.
    """
    try:
        return subprocess.Popen(command, env=environment_with_knobs(knobs, folder))
    except OSError as error:
        raise UsageError(f"cannot start {command[0]}: {error.strerror}") from None


def environment_with_knobs(knobs: Mapping[str, str], folder: Path | None = None) -> dict[str, str]:
    """The environment in which Python puts the changes on by itself."""
    run_dir = "" if folder is None else str(folder.resolve())
    return _environment(Options(run_dir=run_dir, record=False, traced_steps=0, knobs=dict(knobs)))


class _Follower:
    """Watches one child process."""

    def __init__(
        self,
        run: RunFolder,
        process: subprocess.Popen[Any],
        limits: Limits,
        on_progress: Callable[[Progress], None],
        *,
        own_session: bool,
    ) -> None:
        self._own_session = own_session
        self._run = run
        self._process = process
        self._limits = limits
        self._on_progress = on_progress
        self._reader = ProgressReader(run.path)
        self._ranks = RankWatch(run.path)
        self._started = time.monotonic()
        self._first_step: float | None = None
        self._last_step = self._started
        self._steps = 0
        self._ending_since: float | None = None
        self._interrupted = False
        self._may_forward = False
        self._left_behind: list[psutil.Process] = []
        self._note: str | None = None

    def follow(self) -> dict[str, Any]:
        """Wait for the child; returns the manifest's fields that its end decides."""
        previous = signal.signal(signal.SIGTERM, self._on_terminate)
        try:
            while self._process.poll() is None:
                try:
                    self._tick()
                    self._ranks.wait(POLL_S)
                except KeyboardInterrupt:
                    self._interrupt()
        finally:
            signal.signal(signal.SIGTERM, previous)
            if self._process.poll() is None:
                _end_tree(self._process)
            _end(self._left_behind, GRACE_S)
            if self._own_session:
                _kill_session(self._process.pid)
            self._ranks.close()
        return self._outcome(self._process.returncode)

    def _tick(self) -> None:
        moment = time.monotonic()
        progress = self._reader.read(moment - self._started)
        self._on_progress(progress)
        if progress.steps > self._steps:
            self._steps, self._last_step = progress.steps, moment
        if progress.steps and self._first_step is None:
            self._first_step = moment
        timeout = self._limits.timeout_s
        if timeout is not None and moment - self._started > timeout:
            self._note = f"the command did not end within {timeout:.0f} s and was terminated"
            _end_tree(self._process)
        elif self._ending_since is None:
            if progress.ended == STOPPED:
                self._ending_since = moment
            elif self._is_patient(moment) and self._first_step is not None:
                self._watch_time(progress, moment - self._first_step)
        elif self._may_forward and moment - self._ending_since > FORWARD_S:
            self._may_forward = False
            self._process.send_signal(signal.SIGINT)
        elif moment - self._ending_since > GRACE_S:
            self._note = (
                self._note or f"the script did not end by itself within {GRACE_S:.0f} s and was terminated"
            )
            _end_tree(self._process)

    def _is_patient(self, moment: float) -> bool:
        """False once no step was seen for too long, from the start or the last one: then the script is told to end."""
        patience = self._limits.patience_s
        if patience is None or moment - self._last_step <= patience:
            return True
        seen = "no further step was" if self._steps else "no step was"
        self._note = f"{seen} seen in {patience:.0f} s, so the script was stopped (--patience waits longer)"
        self._ending_since = moment
        self._terminate()
        return False

    def _watch_time(self, progress: Progress, seconds: float) -> None:
        """Past the time limit, tell all ranks one step to stop at, a little ahead of where they are."""
        limit = self._limits.seconds
        enough = self._limits.warmup + 3
        stop_file = self._run.path / layout.STOP_FILE
        if limit is None or seconds < limit or progress.steps < enough or stop_file.exists():
            return
        ahead = 2 + int(1.0 / max(progress.last_step_s, 0.01))
        temporary = stop_file.with_suffix(".part")
        temporary.write_text(str(progress.steps + ahead))
        temporary.replace(stop_file)

    def _interrupt(self) -> None:
        if self._interrupted:
            _end_tree(self._process)
            return
        self._interrupted = True
        self._ending_since = time.monotonic()
        if self._own_session:
            self._process.send_signal(signal.SIGINT)
        else:
            self._may_forward = not _terminal_interrupts_our_group()

    def _on_terminate(self, number: int, frame: object) -> None:
        self._interrupted = True
        self._ending_since = time.monotonic()
        self._terminate()

    def _terminate(self) -> None:
        """Ask the command to end as it sees fit; what it leaves behind is asked once it is over.

        A shell ends without a word to what it runs; a launcher, or a script with workers, ends those itself. What was
        given a session of its own is meant to stay, such as a service that still has something to send.
        """
        self._left_behind = _session_of(self._process.pid)
        self._process.terminate()

    def _outcome(self, code: int) -> dict[str, Any]:
        ended = self._reader.read(0.0).ended
        if self._interrupted:
            status = RunStatus.INTERRUPTED
        elif self._note is not None or ended == STOPPED:
            status = RunStatus.STOPPED
        else:
            status = RunStatus.FINISHED if code == 0 else RunStatus.FAILED
        return {"status": status, "exit_code": code, "note": self._note}


def _end_tree(root: subprocess.Popen[Any]) -> None:
    """Terminate a process and all that it has started; kill what stays."""
    victims = _descendants(root.pid)
    for victim in victims:
        _quietly(victim.terminate)
    root.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        root.wait(KILL_S)  # not psutil's wait, which would take the exit code away from us
    _end(victims, KILL_S)
    root.kill()
    root.wait()


def _end(processes: Sequence[psutil.Process], patience_s: float) -> None:
    """Terminate processes, and kill those that stay."""
    for process in processes:
        _quietly(process.terminate)
    end = time.monotonic() + patience_s
    while any(map(_is_alive, processes)) and time.monotonic() < end:
        time.sleep(POLL_S)
    for process in processes:
        _quietly(process.kill)


def _is_alive(process: psutil.Process) -> bool:
    """Whether it still runs; one that has ended may stay in the list of processes where nobody collects it."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _session_of(leader: int) -> list[psutil.Process]:
    """The descendants of a process that are of its session."""
    session = _session(leader)
    return [process for process in _descendants(leader) if _session(process.pid) == session]


def _session(pid: int) -> int | None:
    """A process's session; None once it is gone."""
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _terminal_interrupts_our_group() -> bool:
    """Whether a terminal's Ctrl-C reaches this process group, and so the command by itself, whatever its stdin is."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _kill_session(leader: int) -> None:
    """Kill what is left of the group of a process that led its own session and is over."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _quietly(action: Callable[[], None]) -> None:
    try:
        action()
    except psutil.Error:
        return


def _tied_to_this_process() -> Callable[[], None] | None:
    """What the child does before it becomes the command: it asks to be killed when this process dies (Linux)."""
    if sys.platform != "linux":
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(128 + signal.SIGKILL)

    return tie


def _environment(options: Options) -> dict[str, str]:
    environment = dict(os.environ)
    present = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join([str(BOOTSTRAP), *([present] if present else [])])
    environment[layout.OPTIONS_VARIABLE] = options.to_environment()
    if options.traced_steps:
        environment.setdefault("KINETO_LOG_LEVEL", QUIET_KINETO)
    return environment


def _manifest(run: RunFolder, command: Sequence[str], limits: Limits, setting: Setting) -> Manifest:
    return Manifest(
        id=run.path.name,
        command=list(command),
        cwd=str(setting.cwd or Path.cwd()),
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        status=RunStatus.RECORDING,
        launcher_pid=os.getpid(),
        launcher_started=psutil.Process().create_time(),
        options={
            "steps": limits.steps,
            "warmup": limits.warmup,
            "traced_steps": limits.traced_steps,
            "seconds": limits.seconds,
            "knobs": dict(setting.knobs),
        },
        versions={"trainrx": version("trainrx"), "python": sys.version.split()[0], MACHINE: machine_key()},
        git=_git_state(setting.cwd),
    )


def _git_state(cwd: Path | None) -> dict[str, Any]:
    """Commit and cleanness of the folder the command runs in; empty where there is no git."""
    try:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=cwd, capture_output=True, text=True, timeout=5, check=True
        )
        status = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no"], cwd=cwd,
            capture_output=True, text=True, timeout=5, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return {}
    return {"commit": head.stdout.strip(), "dirty": bool(status.stdout.strip())}


def _name(command: Sequence[str]) -> str:
    """What a run is called after: the script or module, not the interpreter."""
    words = [Path(word).stem for word in command if not word.startswith("-")]
    named_python = len(words) > 1 and words[0].startswith("python")
    return words[1] if named_python else next(iter(words), "command")

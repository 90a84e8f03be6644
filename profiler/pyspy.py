"""Runs py-spy on a process tree and reads what it sampled: main threads only, in the order of time.

py-spy's ``record`` writes one row per sample and thread in the speedscope format, which, unlike its folded stacks,
keeps the order of samples and needs no guessing where a file name ends.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import msgspec

from .errors import InputError, NotEnoughEvidence, UsageError
from .facts import printable
from .recording import MAX_FRAMES, Frame

Stack = tuple[Frame, ...]

#: Beyond the seconds that were asked for, py-spy may take so long to find its way in and to write.
GRACE_S = 30.0
MAX_BYTES = 512 * 1024 * 1024
_THREAD_NAME = re.compile(r'Process (?P<pid>\d+) Thread (?P<thread>\S+)(?: "(?P<name>.*)")?')
_MAIN = "MainThread"


@dataclass(frozen=True)
class MainThread:
    """The sampled main thread of one process; each stack has its innermost frame first."""

    pid: int
    stacks: tuple[Stack, ...]


class _Frame(msgspec.Struct):
    name: str
    file: str | None = None
    line: int | None = None


class _Shared(msgspec.Struct):
    frames: list[_Frame]


class _Profile(msgspec.Struct):
    name: str
    samples: list[list[int]]


class _Document(msgspec.Struct):
    shared: _Shared
    profiles: list[_Profile]


def command(pid: int, *, rate_hz: int, output: Path) -> list[str]:
    """What samples a process and its descendants until they end.

    Raises:
        UsageError: py-spy is not installed.
    """
    return [
        str(_program()), "record", "--pid", str(pid), "--rate", str(rate_hz), "--format", "speedscope", "--output",
        str(output), "--idle", "--threads", "--subprocesses", "--full-filenames",
    ]  # fmt: skip


def sample(pid: int, *, seconds: int, rate_hz: int, output: Path) -> list[MainThread]:
    """Sample a process and its descendants; the raw samples stay in ``output``.

    Raises:
        UsageError: the system does not permit it, or the process is no Python.
        NotEnoughEvidence: the process ended before a sample was taken.
    """
    asked = [*command(pid, rate_hz=rate_hz, output=output), "--duration", str(seconds)]
    try:
        done = subprocess.run(
            asked, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds + GRACE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotEnoughEvidence(
            f"py-spy gave no samples of process {pid} within {seconds + GRACE_S:.0f} s: try again with more --seconds"
        ) from None
    if not output.is_file():
        raise refusal(pid, done.stderr.decode("utf-8", "replace"))
    return read_samples(output)


def read_samples(path: Path) -> list[MainThread]:
    """The main threads in a speedscope file of py-spy.

    Raises:
        InputError: the file is too large or damaged.
    """
    if path.stat().st_size > MAX_BYTES:
        raise InputError(f"{path} is larger than {MAX_BYTES >> 20} MB: sample for fewer --seconds")
    try:
        document = msgspec.json.decode(path.read_bytes(), type=_Document)
    except msgspec.DecodeError as error:
        raise InputError(f"{path} is not what py-spy writes: {error}") from None
    frames = [
        Frame(printable(frame.file or ""), frame.line or 0, printable(frame.name))
        for frame in document.shared.frames
    ]
    threads = [_main_thread(profile, frames) for profile in document.profiles]
    return [thread for thread in threads if thread is not None]


def _main_thread(profile: _Profile, frames: list[Frame]) -> MainThread | None:
    match = _THREAD_NAME.match(profile.name)
    if match is None or not (match["thread"] == match["pid"] or match["name"] == _MAIN):
        return None
    known: dict[tuple[int, ...], Stack] = {}
    return MainThread(int(match["pid"]), tuple(_stack(tuple(s), frames, known) for s in profile.samples))


def _stack(numbers: tuple[int, ...], frames: list[Frame], known: dict[tuple[int, ...], Stack]) -> Stack:
    """A sample's frames, innermost first; the file has the outermost first."""
    found = known.get(numbers)
    if found is None:
        inner = numbers[-MAX_FRAMES:][::-1]
        found = tuple(frames[number] for number in inner if 0 <= number < len(frames))
        known[numbers] = found
    return found


def _program() -> Path:
    """The py-spy that was installed as a dependency, wherever the environment keeps its scripts."""
    try:
        listed = files("py-spy") or []
    except PackageNotFoundError:
        listed = []
    for entry in listed:
        path = Path(str(entry.locate()))
        if path.stem == "py-spy" and path.is_file():
            return path.resolve()
    raise UsageError("py-spy is not installed beside trainrx: `pip install py-spy`")


def refusal(pid: int, said: str) -> UsageError | NotEnoughEvidence:
    """What became of sampling, from what py-spy said of it."""
    lowered = said.lower()
    if "permission denied" in lowered or "operation not permitted" in lowered or "eperm" in lowered:
        return UsageError(
            f"the system does not permit reading process {pid}: run this as root, in a container with the SYS_PTRACE "
            "capability, or set kernel.yama.ptrace_scope to 0"
        )
    if "python version" in lowered or "no python" in lowered or "libpython" in lowered:
        return UsageError(f"process {pid} is no Python process: give the id of the training process itself")
    if "check that the process is running" in lowered or "no such process" in lowered:
        return NotEnoughEvidence(f"process {pid} ended before it could be sampled: nothing can be said of it")
    reason = next((line.strip() for line in said.splitlines() if line.strip()), "it gave no reason")
    return UsageError(f"py-spy could not read process {pid}: {printable(reason)}")

"""Native code below the lines of Python, if asked for: py-spy samples a training process and its children from beside.

The recorder's own sampler sees Python only. py-spy also names the C, C++ or CUDA function that a line is in, and sees
children that the recorder is not in. For that it pauses them at each sample, so that steps become longer: a run with it
is for finding out what a line does, not for timing it.
"""

from __future__ import annotations

import re
import signal
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from .errors import TrainrxError
from .facts import whole
from .pyspy import MainThread, Stack, command, read_samples, refusal
from .recording import Frame, read_ranks
from .report import NativeFunction, NativeLine, NativeStacks
from .timeline.frames import name_stack

STACKS_FILE = "native.json"
#: Why there are no stacks, in one sentence.
REASON_FILE = "native.txt"
NOT_ASKED = "not asked for: `trainrx profile --native` has py-spy sample them"
_PAUSES = (
    "py-spy paused the processes at each sample of native stacks: the steps of this run are longer for it."
)
RATE_HZ = 20
#: How long py-spy may take to write once the processes are gone, and once it was asked to end.
GRACE_S = 20.0
MAX_LINES = 12
MAX_FUNCTIONS = 4
#: The name of what no native function was below.
PYTHON_ITSELF = "Python itself"
#: Where the work of a child of `multiprocessing` begins.
_BEGINNING = "multiprocessing/process.py"
_ADDRESS = re.compile(r"0x[0-9a-f]+$")
_ARGUMENTS = re.compile(r"[<(].*")


@contextmanager
def native_stacks_of(run_dir: Path) -> Generator[Callable[[], None]]:
    """Sample the run's first training process and its children once asked to, until the block ends.

    Yields what to call when the first step was seen; further calls do nothing.
    """
    sampler = _Sampler(run_dir)
    try:
        yield sampler.start
    finally:
        sampler.end()


class _Sampler:
    """One py-spy beside a run; whatever goes wrong with it becomes the reason that there are no stacks."""

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self._pid: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as py-spy lives
        self._over = False

    def start(self) -> None:
        if self._over or self._process is not None:
            return
        recordings = read_ranks(self._run_dir)
        self._pid = whole(recordings[0].process, "pid") if recordings else None
        if self._pid is None:
            return
        output = self._run_dir / STACKS_FILE
        try:
            asked = [*command(self._pid, rate_hz=RATE_HZ, output=output), "--native"]
            self._process = subprocess.Popen(
                asked,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                start_new_session=True,  # a terminal's Ctrl-C is the script's; py-spy ends with what it samples
            )
        except (TrainrxError, OSError) as error:
            self._give_up(str(error))

    def end(self) -> None:
        if self._process is not None:
            _ended(self._process)
            if not (self._run_dir / STACKS_FILE).is_file():
                self._said.seek(0)
                said = self._said.read().decode("utf-8", "replace")
                self._give_up(str(refusal(self._pid or 0, said)))
        elif not self._over:
            self._give_up("no step was seen to begin at")
        self._said.close()

    def _give_up(self, reason: str) -> None:
        self._over = True
        try:
            (self._run_dir / REASON_FILE).write_text(reason, encoding="utf-8")
        except OSError:
            return  # a full disk is told of elsewhere


def _ended(process: subprocess.Popen[bytes]) -> None:
    """Wait until py-spy has written, as it does once what it samples is gone; then ask it, then make it end."""
    deadline = time.monotonic() + GRACE_S
    for ask in (None, signal.SIGINT, signal.SIGKILL):
        if ask is not None:
            process.send_signal(ask)
        try:
            process.wait(max(deadline - time.monotonic(), 1.0))
        except subprocess.TimeoutExpired:
            continue
        return


def read_native_stacks(
    run_dir: Path, process: Mapping[str, object]
) -> tuple[NativeStacks | None, str | None]:
    """What py-spy sampled beside a run, or why there is nothing.

    Args:
        run_dir: the run's folder.
        process: facts of the first training process: its id, and where the agent and the standard library lie.
    """
    stacks, reason = run_dir / STACKS_FILE, run_dir / REASON_FILE
    if not stacks.is_file():
        told = reason.read_text("utf-8", "replace")[:1000] if reason.is_file() else None
        return None, NOT_ASKED if told is None else f"py-spy took none: {told}"
    try:
        threads = read_samples(stacks)
    except TrainrxError as error:
        return None, str(error)
    found = fold(threads, process)
    return (found, None) if found.samples else (None, "py-spy took no sample: the run was over too soon")


def native_note(reason: str | None) -> str | None:
    """What the reader of a report needs to know of native stacks: their cost, or why there are none if asked for."""
    if reason is None:
        return _PAUSES
    return (
        None
        if reason == NOT_ASKED
        else f"Lines are by the recorder's own sampler, without native code: {reason}."
    )


def fold(threads: Sequence[MainThread], process: Mapping[str, object]) -> NativeStacks:
    """Samples by the line of the user's code they were in, and by the native function innermost in each."""
    own = whole(process, "pid")
    counts: defaultdict[tuple[bool, Frame], Counter[tuple[str, str]]] = defaultdict(Counter)
    totals: Counter[bool] = Counter()
    for thread in threads:
        in_child = thread.pid != own
        for stack, samples in Counter(thread.stacks).items():
            frames = [frame for frame in stack if is_python(frame)]
            named = name_stack(_own_frames(frames) if in_child else frames, process)
            if named is None or (in_child and not named[1]):
                continue  # a child that waits for work
            totals[in_child] += samples
            counts[in_child, named[0]][innermost(stack)] += samples
    lines = [_line(*key, functions, totals[key[0]]) for key, functions in counts.items()]
    lines.sort(key=lambda line: (line.in_child, -line.samples))
    kept: Counter[bool] = Counter()
    top: list[NativeLine] = []
    for line in lines:
        kept[line.in_child] += 1
        if kept[line.in_child] <= MAX_LINES:
            top.append(line)
    children = sum(thread.pid != own for thread in threads)
    return NativeStacks(rate_hz=RATE_HZ, samples=sum(totals.values()), children=children, lines=top)


def _own_frames(frames: Sequence[Frame]) -> Sequence[Frame]:
    """A child's frames, without those that a fork copied: they are the parent's, from where it made the child."""
    begun = (place for place, frame in enumerate(frames) if frame.file.endswith(_BEGINNING))
    return frames[: next(begun, len(frames))]


def _line(in_child: bool, frame: Frame, functions: Counter[tuple[str, str]], total: int) -> NativeLine:
    samples = sum(functions.values())
    return NativeLine(
        file=frame.file,
        line=frame.line,
        function=frame.function,
        in_child=in_child,
        share=samples / total,
        samples=samples,
        functions=[
            NativeFunction(name=name, library=library, share=count / samples)
            for (name, library), count in functions.most_common(MAX_FUNCTIONS)
        ],
    )


def is_python(frame: Frame) -> bool:
    """Whether a frame is one of Python's; a native one lies in a library, or has no line."""
    return frame.line > 0 and PurePosixPath(frame.file).suffix in (".py", "")


def innermost(stack: Stack) -> tuple[str, str]:
    """The innermost native function of a stack that has a name, without its arguments, and its library.

    Where none has, the name is the library's; where Python itself is innermost, both say so.
    """
    native: list[Frame] = []
    for frame in stack:
        if is_python(frame):
            break
        native.append(frame)
    if not native:
        return PYTHON_ITSELF, ""
    named = next((frame for frame in native if not _ADDRESS.match(frame.function)), None)
    library = PurePosixPath((named or native[0]).file).name
    if named is None:
        return f"in {library}", library
    words = _ARGUMENTS.sub("", named.function.replace("(anonymous namespace)::", "")).split()
    return (words[-1] if words else named.function), library

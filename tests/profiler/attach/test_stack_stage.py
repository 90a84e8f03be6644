"""The stage of a stack: told from torch's own frames, which are those of the torch that is installed."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from trainrx.profiler.attach.estimating import is_making_batch, is_worker, loading_lines, sort_out
from trainrx.profiler.attach.findings import estimated_findings
from trainrx.profiler.attach.stack_stage import is_by_hand, stage_of
from trainrx.profiler.pyspy import MainThread, Stack
from trainrx.profiler.recording import Frame
from trainrx.profiler.report import Estimate, EstimatedLine, EstimatedShare
from trainrx.profiler.vocabulary import Kind, Stage


def stack_here() -> Stack:
    """The stack of the caller, innermost first, as py-spy tells it."""
    frame = sys._getframe(1)
    frames: list[Frame] = []
    while frame is not None:
        code = frame.f_code
        frames.append(Frame(code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(frames)


class Seen:
    """Keeps the stack that was there when it was called."""

    stack: Stack = ()

    def look(self, *_: Any) -> None:
        self.stack = stack_here()


class Model(torch.nn.Module):
    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.seen = seen

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.look()
        return x * self.weight


class Looking(torch.autograd.Function):
    seen: Seen

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        Looking.seen.look()
        return grad


class Samples(Dataset[torch.Tensor]):
    def __init__(self, seen: Seen) -> None:
        self.seen = seen

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> torch.Tensor:
        self.seen.look()
        return torch.ones(2)


def forward(seen: Seen) -> None:
    Model(seen)(torch.ones(2))


def backward(seen: Seen) -> None:
    Looking.seen = seen
    Looking.apply(torch.ones(2, requires_grad=True)).sum().backward()


def recomputed(seen: Seen) -> None:
    from torch.utils.checkpoint import checkpoint

    model = Model(seen)
    out = checkpoint(model, torch.ones(2, requires_grad=True), use_reentrant=False)
    seen.stack = ()
    out.sum().backward()


def update(seen: Seen) -> None:
    class Watched(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            seen.look()
            return super().step(closure)

    Watched([torch.nn.Parameter(torch.ones(2))], lr=0.1).step()


def fetch(seen: Seen) -> None:
    next(iter(DataLoader(Samples(seen), batch_size=2)))


def transform_that_is_a_module(seen: Seen) -> None:
    class Transformed(Samples):
        def __getitem__(self, index: int) -> torch.Tensor:
            return Model(seen)(torch.ones(2))

    next(iter(DataLoader(Transformed(seen), batch_size=2)))


def save(seen: Seen) -> None:
    class Slow:
        def __reduce__(self) -> tuple[Any, ...]:
            seen.look()
            return (int, ())

    torch.save({"slow": Slow()}, Path("/dev/null"))


@torch.no_grad()
def _evaluate(seen: Seen) -> None:
    Model(seen)(torch.ones(2))


def evaluate(seen: Seen) -> None:
    _evaluate(seen)


@torch.no_grad()
def _average_weights(seen: Seen) -> None:
    seen.look()


def gradient_free_helper(seen: Seen) -> None:
    _average_weights(seen)


def host(seen: Seen) -> None:
    seen.look()


@pytest.mark.parametrize(
    ("work", "stage"),
    [
        (forward, Stage.FORWARD),
        (backward, Stage.BACKWARD),
        (recomputed, Stage.BACKWARD),
        (update, Stage.OPTIMIZER),
        (fetch, Stage.DATA_WAIT),
        (transform_that_is_a_module, Stage.DATA_WAIT),
        (save, Stage.CHECKPOINT),
        (evaluate, Stage.EVALUATION),
        (gradient_free_helper, Stage.HOST),
        (host, Stage.HOST),
    ],
)
def test_a_stage_is_told_from_torchs_own_frames(work: Callable[[Seen], None], stage: Stage) -> None:
    # GIVEN work of one stage that looks at its own stack
    seen = Seen()
    work(seen)
    # THEN that stack tells the stage, whether function names carry their classes (3.11 on) or not
    assert seen.stack and stage_of(seen.stack) is stage
    bare = tuple(Frame(frame.file, frame.line, frame.function.rpartition(".")[2]) for frame in seen.stack)
    assert stage_of(bare) is stage


@pytest.mark.parametrize(
    ("line", "stage"),
    [
        ("batch = batch.to(device, non_blocking=True)", Stage.H2D),
        ("x, y = x.cuda(), y.cuda()", Stage.H2D),
        ("x = x.to(torch.float64)", Stage.HOST),
        ("total = sum(values)", Stage.HOST),
    ],
)
def test_a_copy_is_told_by_its_source_line(tmp_path: Path, line: str, stage: Stage) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"import torch\n{line}\n")
    assert stage_of((Frame(str(script), 2, "<module>"),)) is stage


def test_a_file_that_cannot_be_read_is_host() -> None:
    assert stage_of((Frame("/not/there.py", 2, "<module>"),)) is Stage.HOST
    assert stage_of(()) is Stage.HOST


def frames(*places: str) -> Stack:
    """Frames from ``file:function`` texts, innermost first."""
    return tuple(Frame(place.partition(":")[0], 7, place.partition(":")[2]) for place in places)


TORCH = "/env/lib/python3.12/site-packages/torch"
WORKER = frames(
    "/home/me/data.py:__getitem__", f"{TORCH}/utils/data/_utils/fetch.py:fetch",
    f"{TORCH}/utils/data/_utils/worker.py:_worker_loop", f"{TORCH}/utils/data/dataloader.py:__iter__",
    "/home/me/train.py:<module>",
)  # fmt: skip
IDLE_WORKER = WORKER[2:]
TRAINING = frames(f"{TORCH}/nn/modules/module.py:_call_impl", "/home/me/train.py:<module>")
LAUNCHER = frames("/env/lib/python3.12/subprocess.py:wait", "/env/bin/torchrun:<module>")


def test_a_tree_is_sorted_into_training_and_workers() -> None:
    # GIVEN a launcher, two ranks and a forked worker, whose outer frames are those of its parent
    threads = [MainThread(1, (LAUNCHER,) * 3), MainThread(9, (TRAINING,) * 3), MainThread(5, (TRAINING,) * 3)]
    workers = [MainThread(7, (WORKER, IDLE_WORKER))]
    # WHEN they are told apart THEN the launcher trains nothing, and the process asked for comes first
    assert [thread.pid for thread in sort_out([*threads, *workers], 9).training] == [9, 5]
    assert [thread.pid for thread in sort_out([*threads, *workers], 1).training] == [5, 9]
    assert sort_out([*threads, *workers], 1).workers == tuple(workers)


def test_a_worker_is_busy_while_it_fetches() -> None:
    assert is_worker(IDLE_WORKER) and not is_making_batch(IDLE_WORKER) and is_making_batch(WORKER)
    lines = loading_lines([MainThread(7, (WORKER, WORKER, IDLE_WORKER))])
    assert [(line.file, line.samples, line.share) for line in lines] == [("/home/me/data.py", 2, 1.0)]


def test_library_code_that_makes_batches_names_no_line_of_the_training_loop() -> None:
    collating = frames(f"{TORCH}/utils/data/_utils/collate.py:default_collate", *(
        f"{frame.file}:{frame.function}" for frame in WORKER[1:]
    ))  # fmt: skip
    assert loading_lines([MainThread(7, (collating,))]) == []


def _all_marks() -> Iterator[str]:
    from trainrx.profiler.attach.stack_stage import _MARKS

    root = Path(torch.__file__).parent.parent
    for mark in _MARKS:
        if mark.file.startswith("torch/"):
            yield from (f"{mark.file} {name}" for name in mark.functions or ("",))
            assert (root / mark.file).is_file(), f"this torch has no {mark.file}"


def test_every_torch_file_that_marks_a_stage_exists() -> None:
    assert len(list(_all_marks())) > 10


def test_batches_that_a_function_makes_by_hand_are_waited_for() -> None:
    # GIVEN a stack within a function of the script that makes a batch, and one within other Python
    loop = (Frame("/home/me/train.py", 30, "main"), Frame("/home/me/train.py", 40, "<module>"))
    making = (Frame("/home/me/words.py", 4, "number_of"), Frame("/home/me/train.py", 12, "get_batch"), *loop)
    other = (Frame("/home/me/words.py", 9, "score"), *loop)
    # THEN the one is waiting for data, the other is not
    assert (stage_of(making), stage_of(other)) == (Stage.DATA_WAIT, Stage.HOST)
    # AND no process is held to train for it alone
    assert not sort_out([MainThread(7, (making, other))], 7).training


def test_the_estimate_of_batches_made_by_hand_says_so() -> None:
    line = EstimatedLine(
        file="train.py", line=12, function="get_batch", stage=Stage.DATA_WAIT, share=0.6, samples=60, user_code=True
    )  # fmt: skip
    wait = EstimatedShare(name=Stage.DATA_WAIT, share=0.6, low=0.5, high=0.7, samples=60)
    estimate = Estimate(method="stacks", seconds=10, samples=100, stages=[wait], lines=[line], workers=[])
    (found,) = estimated_findings(estimate, [], own_loading=False, by_hand=True)
    assert (found.kind, found.cause) == (Kind.DATA_LOADING, "batches-by-hand")
    assert "with no DataLoader, mostly at train.py:12 (get_batch)" in found.summary


def test_a_process_that_was_only_seen_loading_for_its_training_trains() -> None:
    # GIVEN a data set whose samples are all that was seen of a process, within a DataLoader
    seen = Seen()

    class Photos(Dataset[int]):
        def __len__(self) -> int:
            return 1

        def __getitem__(self, index: int) -> int:
            seen.look()
            return index

    list(DataLoader(Photos()))
    # THEN it trains, and makes no batches by hand
    assert stage_of(seen.stack) is Stage.DATA_WAIT and not is_by_hand(seen.stack)
    assert [thread.pid for thread in sort_out([MainThread(7, (seen.stack,))], 7).training] == [7]

"""Training loops of every shape: what counts as a step, and to which stage their time goes.

One process imports torch and trains in a forked child per loop, so that each has a recording of its own.
"""

import numpy as np
import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.analysis import analyse
from trainrx.profiler.recording import RankRecording, read_rank, read_ranks
from trainrx.profiler.store import RunFolder
from trainrx.profiler.timeline.stages import STAGES, stage_times
from trainrx.profiler.timeline.steps import find_steps
from trainrx.profiler.vocabulary import Stage

SCRIPT = """
    import atexit, os
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint
    from torch.utils.data import DataLoader, TensorDataset

    DATA = TensorDataset(torch.randn(40, 8, generator=torch.Generator().manual_seed(1)))

    def net(outputs=1):
        return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, outputs))

    def gan():
        maker, judge = net(8), net()
        for_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
        for_judge = torch.optim.Adam(judge.parameters(), lr=1e-3)
        for (real,) in DataLoader(DATA, 4):
            for_judge.zero_grad()
            fake = maker(torch.randn(4, 8))
            loss = judge(fake.detach()).mean() - judge(real).mean()
            loss.backward()
            for_judge.step()
            for_maker.zero_grad()
            (-judge(fake).mean()).backward()
            for_maker.step()
            yield loss

    def scaler():
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
        for number, (x,) in enumerate(DataLoader(DATA, 4)):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = model(x).square().mean()
            if number == 6:
                loss = loss * float("inf")  # the scaler skips this update
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            yield loss

    def lbfgs():
        model = net()
        optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=4)
        for (x,) in DataLoader(DATA, 4):
            def closure():
                optimizer.zero_grad()
                loss = model(x).square().mean()
                loss.backward()
                return loss
            yield optimizer.step(closure)

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(256, 256), nn.Dropout(0.1)) for _ in range(4))
        def forward(self, x):
            for block in self.blocks:
                x = checkpoint(block, x, use_reentrant=REENTRANT)
            return x

    REENTRANT = False

    def checkpointing():
        model = Checkpointed()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        for number in range(10):
            loss = model(torch.randn(64, 256, requires_grad=True)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield loss

    def reentrant_checkpointing():
        global REENTRANT
        REENTRANT = True
        yield from checkpointing()

    def short_epochs():
        model = nn.Linear(8, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        few = TensorDataset(DATA.tensors[0][:8])
        for epoch in range(1000):
            for (x,) in DataLoader(few, 4, shuffle=True):
                loss = model(x).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            if epoch % 100 == 0:
                yield loss

    def first_batches():
        model = nn.Linear(8, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        for epoch in range(4):
            for (x,) in DataLoader(DATA, 10, num_workers=1):
                loss = model(x).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            yield loss

    torch.optim.SGD([nn.Parameter(torch.ones(1))])  # imports what every child would import in its turn
    for loop in (gan, scaler, lbfgs, checkpointing, reentrant_checkpointing, short_epochs, first_batches):
        child = os.fork()
        if not child:
            torch.manual_seed(0)
            for loss in loop():
                print(loop.__name__, loss.item().hex(), flush=True)
            atexit._run_exitfuncs()  # the rest of Python's end takes a second for each child
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
"""
LOOPS = (
    "gan",
    "scaler",
    "lbfgs",
    "checkpointing",
    "reentrant_checkpointing",
    "short_epochs",
    "first_batches",
)


#: Steps that each loop has: one per update that the user sees.
STEPS = {
    "gan": 10,  # two optimizers make one step
    "scaler": 9,  # an update that the scaler skips is no step of its own
    "lbfgs": 10,  # a closure is called more than once in a step
    "checkpointing": 9,  # without a loader the last step has no end
    "reentrant_checkpointing": 9,
    "short_epochs": 2000,
    "first_batches": 16,
}


def test_loops_of_every_shape(write_script, run_plain, run_recorded) -> None:
    # GIVEN a script that trains in one loop after another
    script = write_script(SCRIPT)
    plain = run_plain(script)
    assert plain.exit_code == 0, plain.stderr
    # WHEN recorded THEN each computes the same
    output, folder = run_recorded(script)
    assert output == plain
    assert analyse(RunFolder(folder)).report.step_time is not None
    folders = sorted((folder / "ranks").iterdir(), key=lambda path: int(path.name))
    recordings = dict(zip(STEPS, map(read_rank, folders), strict=True))
    # AND a step is an update, and its stages sum to it
    assert {loop: len(recording.of_code(layout.STEP)) for loop, recording in recordings.items()} == STEPS
    for recording in recordings.values():
        stages, durations = seconds(recording)
        assert recording.fault is None
        assert stages.sum(axis=1) == pytest.approx(durations)
    the_work_of_a_closure_is_forward_and_backward(recordings["lbfgs"])
    recomputing_in_backward_is_no_second_forward(recordings["checkpointing"])
    recomputing_in_backward_is_no_second_forward(recordings["reentrant_checkpointing"])
    what_an_epochs_turn_costs_lies_in_its_first_step(recordings["first_batches"])


def seconds(recording: RankRecording) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of each step by stage, and each step's duration."""
    steps = find_steps(recording, warmup=0)
    return stage_times(recording, steps).seconds, steps.duration_s


def of_stage(recording: RankRecording, stage: Stage) -> np.ndarray:
    return seconds(recording)[0][:, STAGES.index(stage)]


def the_work_of_a_closure_is_forward_and_backward(lbfgs: RankRecording) -> None:
    assert (of_stage(lbfgs, Stage.FORWARD) > 0).all()
    assert (of_stage(lbfgs, Stage.BACKWARD) > 0).all()
    assert len(lbfgs.of_code(layout.OPTIMIZER)) == 10


def recomputing_in_backward_is_no_second_forward(checkpointing: RankRecording) -> None:
    assert len(checkpointing.of_code(layout.FORWARD)) == len(checkpointing.of_code(layout.BACKWARD)) == 10


def what_an_epochs_turn_costs_lies_in_its_first_step(first_batches: RankRecording) -> None:
    waits = of_stage(first_batches, Stage.DATA_WAIT).reshape(4, 4)
    assert (waits.argmax(axis=1) == 0).all()


def test_each_batch_of_many_short_epochs_is_told_and_no_file_stays_open(write_script, run_recorded) -> None:
    # GIVEN forty epochs of three batches that the training process loads itself, quick as they are
    script = write_script("""
        import os
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loader = DataLoader(TensorDataset(torch.randn(6, 4)), batch_size=2)
        files = []
        for epoch in range(40):
            for (inputs,) in loader:
                model(inputs).sum().backward()
                optimizer.step()
            files.append(len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0)
        print(max(files) - files[0])
    """)
    # WHEN they are recorded
    output, folder = run_recorded(script)
    # THEN all batches are written down, and the script holds no more files at the end than after the first epoch
    (rank,) = read_ranks(folder)
    (loads,) = rank.workers
    assert len(loads.batches) == 120
    assert int(output.stdout) <= 2

"""What recording promises a training script: the same results, and that a fault of ours is none of the script's.

Each script here imports torch, which takes seconds; so one script does as much as it can.
"""

import json
import signal
from pathlib import Path

import pytest

from trainrx.profiler.analysis import analyse
from trainrx.profiler.launch import Limits
from trainrx.profiler.recording import read_rank, read_ranks
from trainrx.profiler.report import Report
from trainrx.profiler.store import RunFolder
from trainrx.profiler.vocabulary import Ending, RunStatus, Stage

WHOLE = Limits(steps=None, warmup=2, traced_steps=0, seconds=None, patience_s=None)
DEEP = Limits(steps=None, warmup=2, traced_steps=3, seconds=None, patience_s=None)


def report_of(folder: Path) -> Report:
    return analyse(RunFolder(folder)).report


EVERYTHING = """
    import importlib.util, os, sys, traceback, warnings
    assert importlib.util.find_spec("torch")  # as transformers and accelerate ask
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset, IterableDataset

    class Numbers(Dataset):
        def __len__(self):
            return 96
        def __getitem__(self, index):
            return torch.randn(6) + index, index % 3

    class Broken(Dataset):
        def __len__(self):
            return 4
        def __getitem__(self, index):
            raise ValueError("no such picture")

    class Short(IterableDataset):
        def __len__(self):
            return 2
        def __iter__(self):
            return iter(torch.ones(6, 6))
        def __repr__(self):
            return "Short()"

    class Batches(DataLoader):
        def _get_iterator(self):  # a subclass that hands out a generator
            inner = super()._get_iterator()
            return (batch for batch in inner)

    def counting(calls, owner, name):
        original = getattr(owner, name)
        def counted(*args, **kwargs):
            calls[name] = calls.get(name, 0) + 1
            return original(*args, **kwargs)
        setattr(owner, name, counted)

    def main():
        calls = {}
        for owner, name in ((torch.optim.SGD, "step"), (DataLoader, "__iter__"), (nn.Module, "__call__")):
            counting(calls, owner, name)
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.3), nn.Linear(16, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5)
        for method in ("fork", "spawn", None):
            for x, y in DataLoader(
                Numbers(), 4, shuffle=True, num_workers=int(method is not None), multiprocessing_context=method
            ):
                loss = nn.functional.cross_entropy(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()
                print(repr(loss.item()))
        for x, y in Batches(Numbers(), 32):
            print(model(x).sum().item().hex())
        short = DataLoader(Short())
        print(len(short), sum(1 for _ in short))
        for fail in (lambda: list(DataLoader(Broken(), 2, num_workers=1)), lambda: model(torch.ones(1, 7))):
            try:
                fail()
            except (ValueError, RuntimeError):
                traceback.print_exc()
        torch.save(model.state_dict(), os.path.join(sys.argv[1], "weights.pt"))
        print(calls, torch.initial_seed(), torch.rand(1).item().hex())
        sys.stderr.write("a last word\\n")
        sys.exit(7)

    if __name__ == "__main__":
        main()
"""


def test_results_output_files_and_exit_code_are_the_same(
    write_script, run_plain, run_recorded, tmp_path
) -> None:
    # GIVEN a script with dropout, shuffling, forked and spawned workers, patches of its own and a warning
    script = write_script(EVERYTHING)
    places = [tmp_path / name for name in ("plain", "light", "deep")]
    for place in places:
        place.mkdir()
    plain = run_plain(script, str(places[0]))
    # WHEN it is recorded to its end, without and with the deep window
    light, light_run = run_recorded(script, str(places[1]), limits=WHOLE)
    deep, deep_run = run_recorded(script, str(places[2]), limits=DEEP)
    # THEN nothing that the script prints, writes or returns differs
    assert plain.exit_code == 7 and len(plain.stdout.splitlines()) == 72 + 3 + 2
    assert "Length of IterableDataset" in plain.stderr and plain.stderr.endswith("a last word\n")
    assert plain.stderr.count("no such picture") == 2
    assert light == plain
    assert deep == plain
    files = [sorted((path.name, path.read_bytes()) for path in place.iterdir()) for place in places]
    assert files[0] == files[1] == files[2]
    # AND both were recorded, all of it
    for folder in (light_run, deep_run):
        report = report_of(folder)
        assert (report.run.status, report.run.exit_code, report.run.steps_recorded) == (
            RunStatus.FAILED,
            7,
            72,
        )
        assert sum(stage.share for stage in report.stages) == pytest.approx(1.0, abs=1e-3)
        assert {Stage.DATA_WAIT, Stage.FORWARD, Stage.BACKWARD, Stage.OPTIMIZER} <= {
            stage.name for stage in report.stages
        }
        assert len(report.ranks) == 1 and not [note for note in report.recorder.notes if "fault" in note]
    assert (deep_run / "ranks" / "0" / "trace.json.gz").stat().st_size > 1000
    # AND what the deep window cost is told where there was one
    assert report_of(light_run).recorder.deep_window is None
    window = report_of(deep_run).recorder.deep_window
    assert window is not None and window.steps == DEEP.traced_steps
    assert min(window.opening_s, window.closing_s, window.mean_step_s) > 0


FAULTS = """
    import atexit, gc, os, resource, sys, time
    os.environ["KINETO_LOG_LEVEL"] = "99"  # torch's profiler prints the time of day
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    FAULTS = {FAULTS!r}

    def boom(*args, **kwargs):
        raise RuntimeError("injected")

    def break_agent(name):
        if name == "disk full":
            resource.setrlimit(resource.RLIMIT_FSIZE, (1100, 1100))
            return
        path, _, attribute = name.rpartition(".")
        module, _, owner = path.partition(":")
        module = sys.modules.get("_trainrx_agent." + module)
        if module is not None:
            setattr(getattr(module, owner) if owner else module, attribute, boom)

    def train(broken):
        torch.manual_seed(0)
        data = [(torch.randn(4), index % 2) for index in range(60)]
        model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.2), nn.Linear(4, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in DataLoader(data, 2, shuffle=True):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(0.008)
        if "garbage" in broken:  # both take long: only where their hooks are broken
            gc.collect()
        if "profiler" in broken:
            with torch.autograd.profiler.profile():
                model(x)
        print(loss.item().hex(), hash(tuple(model[0].weight.flatten().tolist())), flush=True)

    torch.optim.SGD([nn.Parameter(torch.ones(1))])  # imports what every child would import in its turn
    for number, name in enumerate(FAULTS):
        child = os.fork()
        if not child:
            break_agent(name)
            train(name)
            atexit._run_exitfuncs()  # the rest of Python's end takes a second for each child
            os._exit(number % 3)
        print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
#: What is broken, and whether that happens before the process has a folder of its own.
FAULTY = {
    "recorder:Recorder.loading_begins": False,
    "recorder:Recorder.work_begins": False,
    "recorder:Recorder.update_begins": False,
    "recorder:Recorder.update_ends": False,
    "recorder:Recorder.number": False,
    "recorder:Recorder._cut": False,
    "rank_folder:RankFolder.write_spans": False,
    "rank_folder:RankFolder.write_samples": False,
    "sampler:StackSampler.sample": False,
    "background:Background.start": False,
    "disk full": False,
    "rank_folder:RankFolder.fact": False,
    "batch_facts:BatchFacts.saw": False,
    "model_facts:ModelFacts.saw": False,
    "graph_size:GraphSize.saw": False,
    "kept_graphs:KeptGraphs.ran": False,
    "holdings:Holdings.saw": False,
    "hooks.garbage:_Places.number": False,
    "window:TraceWindow.profiler_begins": False,
    "window:TraceWindow.profiler_ends": False,
    "device_clock:DeviceClock.at_step": False,
    "device_memory:DeviceMemory.used": False,
    "process.describe": False,
    "recorder.span_cost_s": False,
    "recorder:Recorder._claim": True,
    "rank_folder:RankFolder.__init__": True,
}
#: What only measures how batches are made: the rest goes on, and a note tells.
FAULTY_LOADING = ("loading:BatchProbe._write", "loading:BatchProbe.begin", "transforms.watch")


def test_a_fault_of_the_agent_leaves_the_training_alone_and_is_told(
    write_script, run_plain, run_recorded
) -> None:
    # GIVEN a script that trains in one process after another, in each of which another part of the agent is broken
    script = write_script(FAULTS.replace("{FAULTS!r}", repr([*FAULTY, *FAULTY_LOADING])))
    # WHEN it runs with and without the recorder
    plain = run_plain(script)
    recorded, folder = run_recorded(script)
    # THEN losses, weights, output and exit codes are the same in every one
    assert plain.stderr == "" and plain.exit_code == 0
    assert recorded == plain
    # AND each fault was written down where a report finds it
    claimed = sorted((folder / "ranks").iterdir(), key=lambda path: int(path.name))
    expected = [name for name, early in FAULTY.items() if not early]
    read = [read_rank(rank) for rank in claimed]
    told = {name: rank.fault for name, rank in zip(expected, read, strict=False)}
    assert {name for name, fault in told.items() if not fault} == set()
    reasons = {name: (fault or "").splitlines()[-1] for name, fault in told.items()}
    assert reasons.pop("disk full").endswith(("the disk is full", "File too large"))
    assert set(reasons.values()) == {"RuntimeError: injected"}
    cards = [json.loads(path.read_bytes()) for path in (folder / "processes").iterdir()]
    assert sum(card["fault"] is not None for card in cards) == sum(FAULTY.values())
    going_on = [rank for rank in read[len(expected) :] if rank.process]
    assert len(going_on) == len(FAULTY_LOADING)
    for rank in going_on:
        notes = [*rank.notes, *(note for worker in rank.workers for note in worker.notes)]
        assert [note for note in notes if "RuntimeError: injected" in note] == notes != []
        assert rank.fault is None and rank.end_reason == "exit"
    assert any("switched itself off" in note for note in report_of(folder).recorder.notes)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("name", ["transforms.watch", "loading._worked_out", "loading.StackSampler"])
def test_a_fault_in_a_loader_worker_is_told(write_script, run_plain, run_recorded, method, name) -> None:
    # GIVEN a script whose loader workers have a recorder with a broken part
    script = write_script(FAULTY_WORKER)
    # WHEN it runs with and without the recorder
    plain = run_plain(script, method, name)
    recorded, folder = run_recorded(script, method, name)
    # THEN the batches are the same
    assert plain.exit_code == 0 and recorded == plain
    # AND the report says what ended, and does not say that there was no loader
    report = report_of(folder)
    notes = [note for note in report.recorder.notes if "In 2 loader workers: " in note]
    assert len(notes) == 1 and "RuntimeError: injected" in notes[0]
    assert report.loader is None and "after a fault of its own" in (report.loader_reason or "")


FAULTY_WORKER = """
    import sys
    import torch
    from torch.utils.data import DataLoader, Dataset

    def boom(*args, **kwargs):
        raise RuntimeError("injected")

    class Numbers(Dataset):
        def __len__(self):
            return 24
        def __getitem__(self, index):
            return torch.full((3,), float(index))

    def break_agent(worker):
        path, _, attribute = sys.argv[2].rpartition(".")
        module = sys.modules.get("_trainrx_agent." + path)
        if module is not None:
            setattr(module, attribute, boom)

    if __name__ == "__main__":
        model = torch.nn.Linear(3, 3)
        torch.nn.init.ones_(model.weight)
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        for x in DataLoader(
            Numbers(), 2, num_workers=2, worker_init_fn=break_agent, multiprocessing_context=sys.argv[1]
        ):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        print(model.weight.sum().item().hex())
"""


def test_a_hook_that_does_not_fit_this_torch_is_told(write_script, run_recorded, monkeypatch) -> None:
    # GIVEN an agent whose hook cannot be installed, broken from the user's own sitecustomize
    own = write_script(
        """
        import _trainrx_agent.hooks.optimizer as hook
        def install(module, recorder):
            raise AttributeError("torch has changed")
        hook.install = install
        """,
        "mine/sitecustomize.py",
    ).parent
    monkeypatch.setenv("PYTHONPATH", str(own))
    script = write_script(
        """
        import torch
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(5):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        print(model.weight.isfinite().all().item())
        """
    )
    output, folder = run_recorded(script)
    assert (output.stdout, output.stderr, output.exit_code) == ("True\n", "", 0)
    assert "torch has changed" in report_of(folder).verdict


FAILING = """
    import sys
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, Dataset

    class Data(Dataset):
        def __len__(self):
            return 40
        def __getitem__(self, index):
            if index == int(sys.argv[1]):
                try:
                    {}["no such picture"]
                except KeyError as error:
                    raise ValueError("a broken picture") from error
            return torch.ones(3)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 3)
        def forward(self, x):
            if sys.argv[1] == "-1":
                raise RuntimeError("a broken model")
            return self.inner(x)

    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for x in DataLoader(Data(), 2):
        model(x).sum().backward()
        optimizer.step()
        print("step")
"""


@pytest.mark.parametrize(
    ("fails_at", "steps"), [("-1", 0), ("20", 10)], ids=["in the first step", "after it"]
)
def test_an_uncaught_exception_prints_the_same_traceback(
    write_script, run_plain, run_recorded, fails_at: str, steps: int
) -> None:
    script = write_script(FAILING)
    plain = run_plain(script, fails_at)
    recorded, folder = run_recorded(script, fails_at)
    assert "Traceback" in plain.stderr and recorded == plain
    report = report_of(folder)
    assert (report.run.status, report.run.exit_code, report.run.steps_recorded) == (
        RunStatus.FAILED,
        1,
        steps,
    )
    assert (report.step_time is None) == (steps == 0)
    assert ("before a step was over" in report.verdict) == (steps == 0)
    # AND the recording tells with what and where the script failed
    ended = report.ranks[0].ended
    assert ended is not None and ended.where is not None
    assert (ended.how, ended.error) == (Ending.ERROR, "RuntimeError" if steps == 0 else "ValueError")
    assert ended.where.function == ("Model.forward" if steps == 0 else "Data.__getitem__")


def test_a_killed_script_is_told_as_far_as_it_came(write_script, run_recorded) -> None:
    script = write_script(
        """
        import os, time, torch
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for step in range(20):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            time.sleep(0.03)
        os.kill(os.getpid(), 9)
        """
    )
    output, folder = run_recorded(script)
    report = report_of(folder)
    assert output.exit_code == -signal.SIGKILL
    assert report.run.status is RunStatus.FAILED and report.step_time is not None
    assert 10 <= report.run.steps_recorded <= 19
    assert "without a last word" in (report.ranks[0].note or "")
    assert report.findings[0].where[0].line == 8


def test_data_built_anew_in_each_epoch_make_one_loader_and_few_open_files(write_script, run_recorded) -> None:
    # GIVEN a script with a fresh data set in each of a hundred epochs, all kept alive
    script = write_script(
        """
        import os
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        def open_files():
            return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0

        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        kept, files = [], []
        for epoch in range(100):
            kept.append(TensorDataset(torch.ones(4, 2)))
            for x, in DataLoader(kept[-1], 2):
                model(x).sum().backward()
                optimizer.step()
            files.append(open_files())
        print(files[-1] - files[2])
        """
    )
    # WHEN it is recorded
    output, folder = run_recorded(script)
    # THEN the recorder opened no file for the later epochs
    assert (output.stdout, output.exit_code) == ("0\n", 0)
    assert len(list((folder / "ranks" / "0" / "workers").iterdir())) == 2
    # AND the report's loader is that of nearly all epochs
    report = report_of(folder)
    assert report.loader is not None and report.loader.batches >= 190


def test_a_loader_without_batches_is_told(write_script, run_recorded) -> None:
    script = write_script(
        """
        import torch
        from torch.utils.data import DataLoader
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for x in DataLoader(torch.ones(0, 2), 4):
            model(x).sum().backward()
            optimizer.step()
        """
    )
    output, folder = run_recorded(script)
    report = report_of(folder)
    assert (output.exit_code, report.step_time, report.stages) == (0, None, [])
    assert report.verdict.startswith("No step was recorded: the recorder saw no")
    assert report.recorder.overhead_share is None


def test_a_script_without_optimizer_steps_is_told_what_was_seen(write_script, run_recorded) -> None:
    script = write_script(
        """
        import time, torch
        model = torch.nn.Linear(2, 2)
        for _ in range(3):
            model(torch.ones(1, 2)).sum().backward()
        time.sleep(60)
        """
    )
    _, folder = run_recorded(script, limits=Limits(patience_s=6.0))
    verdict = report_of(folder).verdict
    assert "3 forward calls and 3 backward passes, but no optimizer step" in verdict
    assert "train.py:6" in verdict


COMPILED = """
    import torch
    from torch import nn
    from torch._dynamo.utils import counters

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(4, 4)
            self.b = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        def forward(self, x):
            return self.b(self.a(x)) + x

    def loop(name, model, forward, update):
        torch._dynamo.reset()
        counters.clear()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(4):
            loss = forward(torch.ones(3 + step % 2, 4)).sum()
            optimizer.zero_grad()
            loss.backward()
            update(optimizer)
        breaks = sum(counters["graph_break"].values()) if name != "update" else None
        print(name, dict(counters["stats"]), breaks, sum(counters["recompiles"].values()), loss.item().hex())

    torch.manual_seed(0)
    compile = lambda what: torch.compile(what, backend="eager")
    model = nn.Sequential(Block(), Block())
    function = compile(lambda x: model(x) * 2)
    update = compile(lambda optimizer: optimizer.step())
    plain = lambda optimizer: optimizer.step()
    loop("module", model, compile(model), plain)
    loop("function", model, function, plain)
    loop("update", model, model, update)
"""


def test_compiled_graphs_are_the_same(write_script, run_plain, run_recorded) -> None:
    # GIVEN a compiled model, a compiled function that calls one, and a compiled optimizer step
    script = write_script(COMPILED)
    plain = run_plain(script)
    # WHEN recorded THEN graphs, operations in them, breaks, recompilations, results and warnings are the same
    recorded, folder = run_recorded(script)
    assert plain.exit_code == 0, plain.stderr
    assert recorded.stdout == plain.stdout
    assert without_times(recorded.stderr) == without_times(plain.stderr)
    assert len(read_ranks(folder)) == 1
    assert report_of(folder).run.steps_recorded == 9


def without_times(log: str) -> list[str]:
    """Log lines less the clock and process that torch puts before them."""
    return [line.partition("]")[2] for line in log.splitlines()]

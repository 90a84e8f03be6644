"""What else lives in a training process - debuggers, coverage, signals, threads, forks, `exec` - behaves as before.

Each script here imports torch, which takes seconds; so one script does as much as it can.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from trainrx.profiler.analysis import analyse
from trainrx.profiler.launch import Limits
from trainrx.profiler.report import Report
from trainrx.profiler.store import RunFolder

WHOLE = Limits(steps=None, warmup=2, traced_steps=0, seconds=None, patience_s=None)
PARTS = """
import os, signal, sys, threading, time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __init__(self, disturb=None):
        self.disturb = disturb
    def __len__(self):
        return 12
    def __getitem__(self, index):
        if self.disturb is not None and index == 5:
            self.disturb()
        return torch.full((6,), float(index)), index % 3

class Model(nn.Module):
    def __init__(self, disturb=None):
        super().__init__()
        torch.manual_seed(0)
        self.inner, self.disturb = nn.Linear(6, 3), disturb
    def forward(self, x):
        if self.disturb is not None:
            self.disturb()
        return self.inner(x)

def train(model, data, say=None):
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in DataLoader(data, 2):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if say is not None:
            say(repr(loss.item()))
"""
INTERRUPTED = (
    PARTS
    + """
def caught(name, run):
    try:
        run()
        print(name, "went through")
    except BaseException as error:
        print(name, type(error).__name__, error)

def alarm(number, frame):
    raise TimeoutError(f"signal {number} in {frame.f_code.co_name}")

signal.signal(signal.SIGALRM, alarm)
heard = []
signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(frame.f_code.co_name))

def once(act):
    calls = []
    def disturb():
        calls.append(1)
        if len(calls) == 2:
            act()
    return disturb

acts = {
    "interrupt": lambda: signal.raise_signal(signal.SIGINT),
    "alarm": lambda: signal.raise_signal(signal.SIGALRM),
    "exit": lambda: sys.exit("done early"),
    "heard": lambda: signal.raise_signal(signal.SIGUSR1),
}
for name, act in acts.items():
    caught(f"{name} in forward", lambda: train(Model(once(act)), Numbers()))
    caught(f"{name} in loading", lambda: train(Model(), Numbers(act)))
    model = Model()
    model.inner.weight.register_hook(lambda gradient, disturb=once(act): disturb())
    caught(f"{name} in backward", lambda: train(model, Numbers()))
print(heard)

lines = []
beside = threading.Thread(target=train, args=(Model(), Numbers(), lines.append))
beside.start()
beside.join()
print(len(lines), "steps beside")

sys.stdout.flush()
child = os.fork()
if child == 0:
    print(sum(float(x.sum()) for x, y in DataLoader(Numbers(), 2)))  # autograd's threads do not outlive a fork
    sys.stdout.flush()
    os._exit(9)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
train(Model(), Numbers(), print)
sys.stdout.flush()
time.sleep(0.5)  # the recorder writes a few times a second
if len(sys.argv) == 1:
    os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), "again"])
os.kill(os.getpid(), signal.SIGTERM)
"""
)
#: The recorder asks for a data set's length once, which a script can see; all else is the script's own.
TRACED = (
    PARTS
    + """
import cProfile, collections
del Numbers.__len__
Numbers.__len__ = eval(compile("lambda self: 12", "not this file", "eval"))
seen, calls = collections.Counter(), collections.Counter()
def tracer(frame, event, argument):
    if frame.f_code.co_filename != __file__:
        return None
    seen[frame.f_code.co_name, event] += 1
    return tracer
def profiler(frame, event, argument):
    if frame.f_code.co_filename == __file__:
        calls[frame.f_code.co_name, event] += 1
def tracing():
    sys.settrace(tracer)
    train(Model(), Numbers(), print)
    print(sys.gettrace() is tracer)
    sys.settrace(None)
tracing()
sys.setprofile(profiler)
train(Model(), Numbers(), print)
print(sys.getprofile() is profiler)
sys.setprofile(None)
print(sorted(seen.items()), sorted(calls.items()))
own = cProfile.Profile()
own.runcall(train, Model(), Numbers(), print)
print(sorted((one.code.co_name, one.callcount) for one in own.getstats()
             if not isinstance(one.code, str) and one.code.co_filename == __file__))
"""
)
DEBUGGED = """
import io, os, pdb, sys
inner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inner.py")
commands = "tbreak inner.py:36\\ncontinue\\np 'told: ' + repr(loss.item())\\nwhere\\nnext\\nnext\\ncontinue\\n"
debugger = pdb.Pdb(stdin=io.StringIO(commands), stdout=sys.stdout, nosigint=True, readrc=False)
debugger.use_rawinput = False
with open(inner) as file:
    debugger.run(compile(file.read(), inner, "exec"), {"__name__": "__main__", "__file__": inner})
"""
COVERED = """
import os, runpy
import coverage
inner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inner.py")
counted = coverage.Coverage(data_file=None, branch=True, include=[inner])
counted.start()
runpy.run_path(inner, run_name="__main__")
counted.stop()
print("told:", sorted(counted.get_data().lines(inner)), sorted(counted.get_data().arcs(inner)))
"""


def report_of(folder: Path) -> Report:
    return analyse(RunFolder(folder)).report


def test_signals_exits_threads_forks_and_exec_behave_as_before(write_script, run_plain, run_recorded) -> None:
    # GIVEN a script that is interrupted in its forward, its loader and its backward, trains in a thread and in a fork,
    # starts itself anew by `exec`, and is ended by a signal
    script = write_script(INTERRUPTED)
    plain = run_plain(script)
    assert plain.exit_code == -signal.SIGTERM and plain.stdout.count("child 9") == 2
    assert plain.stdout.count("KeyboardInterrupt") == 6 and plain.stdout.count("SystemExit done early") == 6
    # WHEN it is recorded THEN all of it is as it was
    recorded, folder = run_recorded(script, limits=WHOLE)
    assert recorded == plain
    # AND nothing is said of a fault
    report = report_of(folder)
    assert report.run.steps_recorded > 0
    assert not [note for note in report.recorder.notes if "fault" in note]


def test_trace_functions_and_profilers_of_the_script_see_what_they_saw(
    write_script, run_plain, run_recorded
) -> None:
    # GIVEN a script that traces its own lines, as debuggers and coverage do, and profiles its own calls
    script = write_script(TRACED)
    plain = run_plain(script)
    assert plain.exit_code == 0 and plain.stdout.count("True") == 2
    # WHEN it is recorded THEN it saw the same lines and calls
    recorded, folder = run_recorded(script, limits=WHOLE)
    assert recorded == plain
    assert report_of(folder).run.steps_recorded == 18


@pytest.mark.parametrize("wrapper", [DEBUGGED, COVERED], ids=["pdb", "coverage"])
def test_a_script_under_a_debugger_or_coverage_is_recorded(
    write_script, run_plain, run_recorded, wrapper: str
) -> None:
    # GIVEN a script that runs under a debugger with a breakpoint in its loop, or with its lines counted
    write_script(PARTS + "train(Model(), Numbers(), print)\n", "inner.py")
    script = write_script(wrapper)
    plain = run_plain(script)
    assert plain.exit_code == 0 and "told: " in plain.stdout
    # WHEN it is recorded THEN debugger and coverage say the same
    recorded, folder = run_recorded(script, limits=WHOLE)
    assert recorded == plain
    assert report_of(folder).run.steps_recorded == 6

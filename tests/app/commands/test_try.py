"""``trainrx try`` and ``trainrx run`` as a user calls them, on scripts that run for real."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from trainrx.advisor.trial.arm import Script, run_arm
from trainrx.advisor.trial.loss_guard import LossOutcome, check_losses
from trainrx.app.trying import run_and_changes
from trainrx.profiler.launch import Limits
from trainrx.profiler.store import Manifest, RunFolder
from trainrx.profiler.vocabulary import RunStatus

TRAINRX = [sys.executable, "-c", "from trainrx.app.cli import main; main()"]
SCRIPT = """
import os, sys, time
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 400
    def __getitem__(self, index):
        time.sleep(float(os.environ.get("ITEM_S", "0.004")))
        return torch.full((4,), index / 400)

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in DataLoader(Slow(), batch_size=4, shuffle=True):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("the script's own words")
"""


@pytest.fixture
def project(tmp_path):
    """A folder with a script and a run of it, recorded before."""
    (tmp_path / "train.py").write_text(SCRIPT)
    run = tmp_path / "trainrx-runs" / "base"
    run.mkdir(parents=True)
    manifest = Manifest(
        id="base", command=[sys.executable, "train.py"], cwd=str(tmp_path), started="2026-01-01T00:00:00+00:00",
        status=RunStatus.STOPPED,
    )  # fmt: skip
    RunFolder(run).write_manifest(manifest)
    return tmp_path


def call(project, *words, **more):
    return subprocess.run(
        [*TRAINRX, *words], cwd=project, capture_output=True, text=True, timeout=300, **more
    )


def test_a_change_is_measured_on_the_unedited_script(project):
    # WHEN workers are tried on a loader that waits
    done = call(
        project, "try", "last", "loader.num_workers=2", "--steps=6", "--warmup=2", "--most-pairs=3", "--json"
    )

    # THEN the one document on stdout says what came out, and the losses are the same to the bit
    trial = json.loads(done.stdout)
    assert trial["summary"]["verdict"] in ("better", "worse", "no evidence"), done.stderr
    assert trial["summary"]["loss_check"] == "equal: all 8 losses are bitwise equal"
    assert [pair["order"] for pair in trial["pairs"]] == ["base first", "changed first", "base first"]
    assert "the script's own words" not in done.stdout

    # AND the run's report holds it, and the script is as it was
    report = json.loads((project / "trainrx-runs" / "base" / "report.json").read_text())
    assert report["trials"][0]["knobs"] == {"loader.num_workers": "2"}
    assert (project / "train.py").read_text() == SCRIPT
    assert sorted(path.name for path in project.iterdir() if path.name != "__pycache__") == [
        "train.py",
        "trainrx-runs",
    ]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["loader.num_workrs=2"], 2, "did you mean loader.num_workers"),
        ([], 2, "nothing to try"),
        (["nosuchrun", "loader.num_workers=2"], 3, "no run called nosuchrun"),
        (["batch.size=8"], 2, "trainrx compare"),
        (["last", "loader.num_workers=4", "--auto"], 2, "--auto chooses the changes itself"),
        (["lr=0.1", "--auto"], 2, "--auto chooses the changes itself"),
    ],
)
def test_what_cannot_be_tried_is_said_at_once(project, words, code, said):
    done = call(project, "try", *words)
    assert done.returncode == code
    assert said in " ".join((done.stdout + done.stderr).split())


def test_all_knobs_are_listed(project):
    done = call(project, "try", "--knobs")
    assert done.returncode == 0 and "loader.num_workers=2" in done.stdout


def test_all_knobs_are_listed_as_one_json_document(project):
    done = call(project, "try", "--knobs", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert sorted(rows["loader.num_workers"]) == ["equivalence", "example", "name", "reason", "summary"]
    assert rows["loader.num_workers"]["equivalence"] == "exact"


@pytest.mark.parametrize("name", ["lr=0.1", "loader.num_workers-2", "2026-a=b=c"])
def test_a_run_is_found_by_name_and_by_path_whatever_it_is_called(tmp_path, name):
    a_run = tmp_path / "lr=1" / name
    a_run.mkdir(parents=True)
    RunFolder(a_run).write_manifest(
        Manifest(id=name, command=["python"], cwd="/", started="", status=RunStatus.STOPPED)
    )
    for word in (name, str(a_run)):
        assert run_and_changes([word, "gc.control=freeze"], a_run.parent) == (word, ["gc.control=freeze"])


@pytest.mark.parametrize("word", ["loader.num_workers=2", "loader.num_workrs=2", "lr=0.1"])
def test_what_is_no_run_and_has_a_value_is_a_change(tmp_path, word):
    assert run_and_changes([word], tmp_path) == ("last", [word])
    assert run_and_changes([], tmp_path) == ("last", [])


def test_run_puts_changes_on_and_tells_which_did_nothing(project):
    # WHEN the script runs with one change that takes and one that meets nothing
    done = call(
        project, "run", "--knob", "optimizer.foreach=true", "--knob", "ddp.static_graph=true", "train.py",
        env={**os.environ, "ITEM_S": "0"},
    )  # fmt: skip

    # THEN stdout is the script's, and the second is told
    assert done.stdout == "the script's own words\n", done.stderr
    assert done.returncode == 0
    assert "ddp.static_graph had no effect" in done.stderr and "foreach" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="a killed parent takes its children along on Linux only")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_trial_leaves_nothing_behind(project, number):
    # GIVEN a trial that is going on
    environment = {**os.environ, "ITEM_S": "0.2"}
    trial = subprocess.Popen(
        [*TRAINRX, "try", "loader.num_workers=1"], cwd=project, env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    training = until(lambda: trains(project))

    # WHEN it is killed
    trial.send_signal(number)
    ended = trial.wait(30)
    trial.stderr.close()
    assert ended == {signal.SIGINT: 130, signal.SIGKILL: -9}.get(number, ended)

    # THEN the training ends, the script and its run are whole, and no trial is claimed
    until(lambda: not any(process.is_running() and process.status() != "zombie" for process in training))
    assert not trains(project)
    assert (project / "train.py").read_text() == SCRIPT
    shown = call(project, "show", "--json")
    assert [row["verdict"] for row in json.loads(shown.stdout)["trials"]] in ([], ["interrupted"])


def trains(project):
    """The processes that run the project's script."""
    found = []
    for process in psutil.process_iter(["cmdline", "cwd"]):
        words = process.info["cmdline"] or []
        if process.info["cwd"] == str(project) and words[-1:] == ["train.py"]:
            found.append(process)
    return found


def until(condition, seconds=30):
    for _ in range(seconds * 20):
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


PARALLEL = """
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    loss = model(torch.randn(4, 8)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
"""


def test_both_ranks_of_a_job_are_compared(tmp_path):
    # GIVEN a training in two processes
    (tmp_path / "train.py").write_text(PARALLEL)
    command = (
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        "2",
        "train.py",
    )
    script = Script(command, tmp_path, Limits(steps=6, warmup=2, traced_steps=0, seconds=None))
    knob = {"ddp.gradient_as_bucket_view": "true"}

    # WHEN it runs without and with a change
    base, changed = run_arm(script, {}, tmp_path / "a"), run_arm(script, knob, tmp_path / "b")

    # THEN both ranks took it, and the losses of both are equal
    assert changed.failure is None and len(changed.pids) == 2
    assert changed.not_applied(list(knob)) == []
    assert set(changed.losses) == {0, 1} and len(changed.losses[1]) >= 8
    found = check_losses([base.losses], [changed.losses], equivalence="exact", tolerance=0)
    assert found.outcome is LossOutcome.EQUAL, found

    # AND a knob that no rank met is not taken for applied
    assert "never met" in base.not_applied(list(knob))[0]


def test_a_crash_is_told_by_its_last_error(tmp_path):
    (tmp_path / "train.py").write_text("raise ValueError('no data here')\n")
    script = Script((sys.executable, "train.py"), tmp_path, Limits(steps=6, warmup=2, traced_steps=0))
    arm = run_arm(script, {}, tmp_path / "a")
    assert arm.step_s is None
    assert arm.failure == "the script failed with exit code 1: ValueError: no data here"


def test_a_run_that_hangs_is_ended(tmp_path):
    (tmp_path / "train.py").write_text("import time\ntime.sleep(600)\n")
    script = Script(
        (sys.executable, "train.py"), tmp_path, Limits(steps=6, warmup=2, traced_steps=0, timeout_s=1.0)
    )
    arm = run_arm(script, {}, tmp_path / "a")
    assert "did not end within 1 s" in arm.failure

"""``with profile() as run``: records in the process, lets the loop go on, and leaves the process as it was."""

import subprocess
import sys
from pathlib import Path

import pytest

from trainrx.profiler.store import RunFolder
from trainrx.profiler.vocabulary import RunStatus

SCRIPT = """
import json, sys, torch
from torch.utils.data import DataLoader, TensorDataset
from trainrx.profiler import profile
from trainrx.profiler.errors import UsageError

def train(steps):
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(400, 8), torch.randn(400, 1))
    model, made = torch.nn.Linear(8, 1), 0
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    while True:
        for x, y in DataLoader(data, batch_size=8):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
            made += 1
            if made % 5 == 0:
                torch.save(model.state_dict(), sys.argv[1] + ".pt")
            if made == steps:
                return model.weight.sum().item(), made

told = {"alone": train(40)}
with profile(steps=10, warmup=2, runs=sys.argv[1]) as first:
    told["recorded"] = train(40)
    try:
        with profile(runs=sys.argv[1]):
            pass
        told["nested"] = "allowed"
    except UsageError as error:
        told["nested"] = str(error)
with profile(steps=None, deep=False, runs=sys.argv[1]) as second:
    told["again"] = train(20)
told["after"] = train(40)
try:
    with profile(runs=sys.argv[1]) as third:
        raise ValueError("of the user's own")
except ValueError as error:
    told["error"] = str(error)
for name, run in (("first", first), ("second", second), ("third", third)):
    report = run.report
    told[name] = {"path": str(run.folder.path), "status": run.folder.manifest.status, "steps": report.run.steps_recorded,
                  "timed": report.step_time.n if report.step_time else None, "notes": report.recorder.notes,
                  "stages": {stage.name: stage.share for stage in report.stages},
                  "flops": report.compute.flops_per_step if report.compute else None}
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What a script says that records parts of itself."""
    import json

    folder = tmp_path_factory.mktemp("notebook")
    script = folder / "cells.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(script), str(folder / "runs")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_results_are_the_same_in_the_block_and_after_it(told: dict[str, object]) -> None:
    assert told["alone"] == told["recorded"] == told["after"]
    assert told["error"] == "of the user's own"


def test_recording_stops_after_the_steps_and_the_loop_goes_on(told: dict[str, object]) -> None:
    first = told["first"]
    assert isinstance(first, dict)
    # 2 of warm-up, 10 timed, 3 traced, 1 counted, of 40 that were made
    assert (first["status"], first["steps"], first["timed"]) == ("stopped", 16, 10)
    assert {"forward", "backward", "optimizer", "data_wait", "checkpoint"} <= set(first["stages"])
    assert sum(first["stages"].values()) == pytest.approx(1, abs=1e-3)
    assert first["flops"] == 2 * (2 * 8 * 8)


def test_a_second_block_records_anew(told: dict[str, object]) -> None:
    second = told["second"]
    assert isinstance(second, dict)
    assert (second["status"], second["steps"], second["timed"]) == ("finished", 19, 14)
    assert len(list((Path(second["path"]) / "ranks").iterdir())) == 1


def test_a_block_that_fails_or_trains_nothing_is_told(told: dict[str, object]) -> None:
    third = told["third"]
    assert isinstance(third, dict) and (third["status"], third["steps"]) == ("failed", 0)
    assert RunFolder(Path(third["path"])).manifest.status is RunStatus.FAILED


def test_one_recording_at_a_time(told: dict[str, object]) -> None:
    assert "one recording at a time" in str(told["nested"])


def test_importing_the_package_loads_nothing() -> None:
    code = (
        "import sys, trainrx.profiler as package\n"
        "assert not {'torch', 'numpy', 'pandas', 'pydantic'} & set(sys.modules)\n"
        "assert 'profile' in package.__all__\n"
        "try:\n    package.nothing\nexcept AttributeError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "has no attribute nothing" in done.stdout

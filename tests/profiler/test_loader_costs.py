"""What the report says of a loader against what the script measured itself of the same calls, in the same workers.

Both are disturbed alike by a busy machine, so they are compared as ratios.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from trainrx.profiler.analysis import analyse
from trainrx.profiler.report import LoaderReport
from trainrx.profiler.store import RunFolder
from trainrx.profiler.vocabulary import Kind

SCRIPT = """
    import json, os, sys, time
    import torch
    from multiprocessing.util import Finalize
    from torch.utils.data import DataLoader, Dataset

    METHOD, STYLE, PLACE = sys.argv[1:]
    own = {}

    class timed:
        def __init__(self, name):
            self.name = name
        def __enter__(self):
            self.wall, self.cpu = time.perf_counter(), time.thread_time()
        def __exit__(self, *error):
            total = own.setdefault(self.name, [0, 0.0, 0.0])
            total[0] += 1
            total[1] += time.perf_counter() - self.wall
            total[2] += time.thread_time() - self.cpu

    class Waits:
        def __call__(self, image):
            with timed("Waits"):
                time.sleep(0.002)
                return image + 1

    class Spins:
        def __call__(self, image):
            with timed("Spins"):
                ends = time.thread_time() + 0.001
                while time.thread_time() < ends:
                    pass
                return image * 2

    class Compose:
        def __init__(self, transforms):
            self.transforms = transforms
        def __call__(self, image):
            for transform in self.transforms:
                image = transform(image)
            return image

    class WaitsNamed:
        def __call__(self, *, image, force_apply=False):
            with timed("WaitsNamed"):
                time.sleep(0.002)
                return {"image": image + 1}

    class SpinsNamed:
        def __call__(self, *, image, force_apply=False):
            with timed("SpinsNamed"):
                ends = time.thread_time() + 0.001
                while time.thread_time() < ends:
                    pass
                return {"image": image * 2}

    class ComposeNamed:
        def __init__(self, transforms):
            self.transforms = transforms
        def __call__(self, **data):
            for transform in self.transforms:
                data = transform(**data)
            return data

    class Pictures(Dataset):
        def __init__(self):
            named = STYLE == "named"
            self.named = named
            self.transform = ComposeNamed([WaitsNamed(), SpinsNamed()]) if named else Compose([Waits(), Spins()])
        def __len__(self):
            return 160
        def __getitem__(self, index):
            with timed("sample"):
                image = torch.full((3,), float(index))
                return self.transform(image=image)["image"] if self.named else self.transform(image)

    def collate(samples):
        with timed("collate"):
            time.sleep(0.005)
            return torch.stack(samples)

    def write_at_end(worker):
        def write():
            with open(os.path.join(PLACE, f"{worker}.json"), "w") as file:
                json.dump(own, file)
        Finalize(None, write, exitpriority=1)

    if __name__ == "__main__":
        model = torch.nn.Linear(3, 3)
        optimizer = torch.optim.SGD(model.parameters(), 1e-6)
        loader = DataLoader(
            Pictures(), 4, num_workers=2, collate_fn=collate, worker_init_fn=write_at_end,
            multiprocessing_context=METHOD,
        )
        for x in loader:
            model(x).sum().backward()
            optimizer.step()
"""
NAMES = {"plain": ("Waits", "Spins"), "named": ("WaitsNamed", "SpinsNamed")}


def own_totals(place: Path) -> dict[str, list[float]]:
    """Calls, wall and CPU seconds per name, as the script measured them, summed over its workers."""
    totals: dict[str, list[float]] = {}
    for file in place.iterdir():
        for name, counts in json.loads(file.read_text()).items():
            totals[name] = [a + b for a, b in zip(totals.get(name, [0, 0, 0]), counts, strict=True)]
    return totals


def reported(folder: Path) -> LoaderReport:
    loader = analyse(RunFolder(folder)).report.loader
    assert loader is not None
    return loader


def line_of_call(script: Path, name: str) -> int:
    lines = script.read_text().splitlines()
    return lines.index(f"class {name}:") + 2


@pytest.mark.parametrize("style", NAMES)
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_seconds_per_sample_collate_and_transform_are_those_that_the_script_measured(
    write_script: Any, run_recorded: Any, tmp_path: Path, method: str, style: str
) -> None:
    # GIVEN a script with two workers whose transforms wait and compute, and that times them itself
    script, place = write_script(SCRIPT), tmp_path / "own"
    place.mkdir()
    # WHEN it is recorded
    output, folder = run_recorded(script, method, style, str(place))
    assert (output.stderr, output.exit_code) == ("", 0)
    loader, own = reported(folder), own_totals(place)
    assert loader.num_workers == 2 and len(list(place.iterdir())) == 2
    # THEN wall and CPU seconds per sample and batch are within 10 % of the script's own
    (samples, sample_s, sample_cpu_s), (batches, collate_s, _) = own["sample"], own["collate"]
    assert (samples, batches) == (160, 40)
    assert loader.sample_wall_s == pytest.approx(sample_s / samples, rel=0.1)
    assert loader.sample_cpu_s == pytest.approx(sample_cpu_s / samples, rel=0.1)
    assert loader.collate_wall_s == pytest.approx(collate_s / batches, rel=0.1)
    # AND so are each transform's, with the place where it is written
    told = {transform.name: transform for transform in loader.transforms}
    assert set(told) == set(NAMES[style])
    for name, transform in told.items():
        calls, wall_s, cpu_s = own[name]
        assert transform.wall_s == pytest.approx(wall_s / calls, rel=0.1)
        assert transform.cpu_s == pytest.approx(cpu_s / calls, rel=0.1, abs=30e-6)
        assert (transform.file, transform.line) == (str(script), line_of_call(script, name))
    # AND each worker's batches took what its samples and collating took
    for worker in loader.workers:
        mine = json.loads((place / f"{worker.worker}.json").read_text())
        spent_s = (mine["sample"][1] + mine["collate"][1]) / mine["collate"][0]
        assert worker.batch_s == pytest.approx(spent_s, rel=0.1)


PINNING_SCRIPT = """
    import json, sys, time
    import torch
    from torch.utils.data import DataLoader, Dataset

    WORKERS, PLACE = int(sys.argv[1]), sys.argv[2]
    # torch without an accelerator pins nothing: make it believe in one
    torch.accelerator.is_available = lambda: True
    torch.accelerator.current_accelerator = lambda *args: torch.device("cpu")
    torch.accelerator.current_device_index = lambda: 0
    torch.accelerator.set_device_index = lambda index: None
    own = []

    class Batch:
        def __init__(self, samples):
            self.x = torch.stack(samples)
        def pin_memory(self):
            start = time.perf_counter()
            time.sleep(0.012)
            own.append(time.perf_counter() - start)
            return self

    class Pictures(Dataset):
        def __len__(self):
            return 120
        def __getitem__(self, index):
            return torch.full((3,), float(index))

    def collate(samples):
        return {"pictures": [Batch(samples)], "name": "a"}

    if __name__ == "__main__":
        model = torch.nn.Linear(3, 3)
        optimizer = torch.optim.SGD(model.parameters(), 1e-6)
        for batch in DataLoader(Pictures(), 4, num_workers=WORKERS, collate_fn=collate, pin_memory=True):
            model(batch["pictures"][0].x).sum().backward()
            optimizer.step()
        with open(PLACE, "w") as file:
            json.dump(own, file)
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_pinning_is_timed_in_the_thread_that_does_it_and_named_where_it_is_the_wait(
    write_script: Any, run_recorded: Any, tmp_path: Path, workers: int
) -> None:
    # GIVEN a script whose batches take long to pin, in a thread of the loader or in the training thread
    script, place = write_script(PINNING_SCRIPT), tmp_path / "own.json"
    # WHEN it is recorded
    output, folder = run_recorded(script, str(workers), str(place))
    assert (output.stderr, output.exit_code) == ("", 0)
    report, own = analyse(RunFolder(folder)).report, json.loads(place.read_text())
    # THEN the seconds of each batch are the script's own, counted once however deep they lie
    assert report.loader is not None and len(own) == 30
    pinning = report.loader.pinning
    assert pinning is not None and 20 <= pinning.batches <= 30
    assert pinning.wall_s == pytest.approx(sum(own) / len(own), rel=0.1)
    assert pinning.cpu_s < 0.2 * pinning.wall_s
    # AND it is named as what the training waits for
    assert pinning.wait_share > 0.8
    found = next(finding for finding in report.findings if finding.kind is Kind.DATA_LOADING)
    assert found.cause == "pinning" and "page-locked memory" in found.summary

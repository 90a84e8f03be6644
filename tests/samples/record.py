"""Records the runs that come with trainrx: ``python -m tests.samples.record [NAME...]`` from the checkout, or ``make samples``.

Each is a real run of a script whose bottleneck is known, recorded with the command that users type. What tells of the
machine and the place it was recorded at is taken out; no number is touched. A run that waits for something else than it
should, or for a free core, is not taken.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainrx.app.bundled import SAMPLES, sample_name
from trainrx.app.demo_pictures import make_pictures
from trainrx.app.views.run_list import headline
from trainrx.profiler.diagnosis.thresholds import NOTED_CORE_WAIT_SHARE
from trainrx.profiler.report import Report, parse_report
from trainrx.profiler.store import MANIFEST_FILE, REPORT_FILE, STEPS_FILE
from trainrx.profiler.vocabulary import Family

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "tests" / "scenarios"
TWO_RANKS = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
#: What stands for the folder that a run was recorded in: no folder is called so, so nothing is run there again.
NO_PLACE = "(left out)"
#: Where Python and its packages are installed, up to the part that says what it is.
_INSTALLED = re.compile(r"(?:/[\w.@+-]+)+/(?=(?:site|dist)-packages/|python3\.\d+/)")


@dataclass(frozen=True)
class Recipe:
    """How the run of one family comes about: a script, words before and after it, steps to time."""

    script: Path
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    steps: int = 40


RECIPES = {
    Family.DATA_LOADING: Recipe(ROOT / "app" / "demo_script" / "train.py", after=("--data", "pictures")),
    Family.COMPUTE: Recipe(SCENARIOS / "cell_by_cell" / "slow.py"),
    Family.MEMORY: Recipe(SCENARIOS / "outputs_kept" / "slow.py", steps=120),
    Family.COMMUNICATION: Recipe(SCENARIOS / "rank_with_slow_loader" / "slow.py", before=TWO_RANKS),
    Family.BESIDE: Recipe(SCENARIOS / "checkpoint_each_step" / "slow.py"),
}


def main(names: Sequence[str]) -> int:
    """Record the runs of the families named, or all; 1 if one was not taken."""
    chosen = [family for family in Family if not names or sample_name(family) in names]
    return max([_renew(family, RECIPES[family]) for family in chosen], default=1)


def _renew(family: Family, recipe: Recipe) -> int:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        run = _record(place, recipe)
        report = parse_report((run / REPORT_FILE).read_bytes(), source=str(run))
        reason = why_not_taken(report, family)
        if reason is None:
            bundle(run, place, SAMPLES / sample_name(family))
    print(f"{sample_name(family)}: {'taken' if reason is None else f'not taken, {reason}'}")
    return 0 if reason is None else 1


def why_not_taken(report: Report, family: Family) -> str | None:
    """What makes a run no example of its family; None where it is one."""
    found = headline(report)
    if found is None or found.family is not family:
        return f"it waits for {None if found is None else found.kind}"
    waited = report.core_wait_share or 0.0
    if waited > NOTED_CORE_WAIT_SHARE:
        return (
            f"its training thread waited {waited:.0%} of the time for a free core, {NOTED_CORE_WAIT_SHARE:.0%} is the "
            "most: record it where nothing else runs"
        )
    return None


def _record(place: Path, recipe: Recipe) -> Path:
    shutil.copy(recipe.script, place / "train.py")
    make_pictures(place / "pictures")
    _trainrx(
        place,
        "profile",
        "--runs",
        "runs",
        "--steps",
        str(recipe.steps),
        *recipe.before,
        "train.py",
        *recipe.after,
    )
    return next((place / "runs").iterdir())


def _trainrx(place: Path, *words: str) -> None:
    command = [str(Path(sys.executable).with_name("trainrx")), *words]
    subprocess.run(command, cwd=place, stdout=subprocess.DEVNULL, check=True)


def bundle(run: Path, place: Path, target: Path) -> None:
    """Copy what is shown of a run that was recorded in ``place``, under the name of ``target``."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    name = target.name
    manifest, report = (json.loads((run / file).read_text()) for file in (MANIFEST_FILE, REPORT_FILE))
    command = [Path(manifest["command"][0]).name, *manifest["command"][1:]]
    manifest |= {
        "id": name,
        "command": command,
        "cwd": NO_PLACE,
        "launcher_pid": None,
        "launcher_started": None,
        "git": {},
    }
    manifest["versions"].pop("machine", None)
    report["run"] |= {"id": name, "command": command, "source": "sample"}
    report["ranks"] = [rank | {"pid": None} for rank in report["ranks"]]
    for file, content in ((MANIFEST_FILE, manifest), (REPORT_FILE, report)):
        (target / file).write_text(
            json.dumps(without_place(content, place), ensure_ascii=False, indent=1) + "\n"
        )
    shutil.copy(run / STEPS_FILE, target / STEPS_FILE)


def without_place(value: Any, place: Path) -> Any:
    """The same with paths cut to what says which file it is, and the platform to what it is."""
    if isinstance(value, dict):
        return {
            name: _platform(part) if name == "platform" else without_place(part, place)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [without_place(part, place) for part in value]
    if isinstance(value, str):
        return _INSTALLED.sub("", value.replace(f"{place}/", "").replace(f"{place.name}/", ""))
    return value


def _platform(value: str) -> str:
    system, *_ = value.split("-")
    processor = re.search(r"x86_64|aarch64|arm64|AMD64", value)
    return f"{system}-{processor[0]}" if processor else system


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

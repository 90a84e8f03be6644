"""Lets the autopilot loose on the scenarios that a knob can mend, and compares its gain with the hand-made fix.

``python -m tests.scenarios.autopilot`` from the checkout; it writes ``AUTOPILOT.md``. The autopilot is told nothing of the
fault: it gets the recorded run of ``slow.py``. What it keeps is measured afterwards, apart from its own trials, against
``slow.py`` and ``fixed.py`` in turns. With names, those scenarios are flown anew; the table takes the others from the last
time (``--results``).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

from trainrx.advisor.trial.arm import Script, run_arm
from trainrx.advisor.trial.session import Length, script_of
from trainrx.app.stored import current_report
from trainrx.profiler.store import find_run

from .recording import ENVIRONMENT, TRAINRX, record
from .truth import FOLDER, Scenario, all_scenarios

TABLE = FOLDER / "AUTOPILOT.md"
DEFAULT_RESULTS = Path("build/autopilot")
GOAL_RECOVERED, GOAL_SHARE = 0.9, 0.85
#: Where the fix by hand gains less than this on the machine at hand, there is nothing to recover.
LEAST_GAIN = 1.05
#: A script that comes out slower than this with what was kept was made worse.
SLOWER = 0.97


@dataclass(frozen=True)
class Result:
    """What became of one scenario; seconds are medians of a step in the rounds after the flight.

    Attributes:
        kept: the changes that the autopilot kept, as ``knob=value``.
        tried: how many it tried.
        slow_s, kept_s, fixed_s: ``slow.py``, ``slow.py`` with what was kept, ``fixed.py``.
    """

    name: str
    kept: tuple[str, ...]
    tried: int
    ended: str
    slow_s: float
    kept_s: float
    fixed_s: float

    @property
    def recovered(self) -> float | None:
        """The share of the time that the fix saves which the kept changes save too; None where it saves next to none.

        Where nothing was kept, what lies between two measurements of one script is no gain.
        """
        if self.slow_s / self.fixed_s < LEAST_GAIN:
            return None
        if not self.kept:
            return 0.0
        return (self.slow_s - self.kept_s) / (self.slow_s - self.fixed_s)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    options = _parser().parse_args(arguments)
    flyable = [
        scenario for scenario in all_scenarios() if scenario.truth.knob and not scenario.truth.needs.missing()
    ]
    chosen = [scenario for scenario in flyable if scenario.is_among(options.names)]
    os.environ.update(ENVIRONMENT)
    results: Path = options.results.resolve()
    for scenario in chosen:
        result = _flown(scenario, results / scenario.name, options.budget, options.rounds)
        (results / scenario.name / "result.json").write_text(json.dumps(asdict(result)))
    found = [Result(**json.loads(path.read_bytes())) for path in sorted(results.glob("*/result.json"))]
    flown = {result.name for result in found}
    text = table(found, [scenario.name for scenario in flyable if scenario.name not in flown])
    print(text)
    TABLE.write_text(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="autopilot", description=__doc__)
    parser.add_argument("names", nargs="*", help="scenarios, or patterns; none: all")
    parser.add_argument("--budget", type=int, default=240, help="seconds that the autopilot may take for one")
    parser.add_argument("--rounds", type=int, default=3, help="turns of slow, kept and fixed afterwards")
    parser.add_argument("--results", type=Path, default=DEFAULT_RESULTS, help="where runs are kept")
    return parser


def _flown(scenario: Scenario, folder: Path, budget_s: int, rounds: int) -> Result:
    if folder.exists():
        shutil.rmtree(folder)
    runs = folder / "runs"
    record(scenario.slow, scenario.truth, runs)
    process = subprocess.run(
        [str(TRAINRX), "try", "--auto", "--json", "--budget", str(budget_s), "--runs", str(runs)],
        stdout=subprocess.PIPE,
        stderr=(folder / "flight.log").open("wb"),
    )
    flight = json.loads(process.stdout)
    (folder / "flight.json").write_text(json.dumps(flight, indent=1))
    run = find_run("last", runs)
    slow = script_of(run, current_report(run), Length())
    fixed = replace(slow, command=tuple(_fixed(word, scenario) for word in slow.command))
    slow_s, kept_s, fixed_s = _rounds(slow, flight["kept"], fixed, folder, rounds)
    result = Result(
        name=scenario.name,
        kept=tuple(f"{knob}={value}" for knob, value in flight["kept"].items()),
        tried=len(flight["attempts"]),
        ended=flight["ended"],
        slow_s=slow_s,
        kept_s=kept_s,
        fixed_s=fixed_s / scenario.truth.samples_ratio,
    )
    print(_row(result), flush=True)
    return result


def _fixed(word: str, scenario: Scenario) -> str:
    return str(scenario.fixed) if word == str(scenario.slow) else word


def _rounds(
    slow: Script, kept: dict[str, str], fixed: Script, folder: Path, rounds: int
) -> tuple[float, float, float]:
    sides: list[tuple[Script, dict[str, str]]] = [(slow, {}), (slow, kept), (fixed, {})]
    seconds: list[list[float]] = [[], [], []]
    for number in range(rounds):
        for side in sorted(range(3), key=lambda side: (side + number) % 3):
            script, knobs = sides[side]
            arm = run_arm(script, knobs, folder / "rounds")
            if arm.step_s is None:
                sys.exit(f"{script.command}: {arm.failure}")
            seconds[side].append(arm.step_s)
    slow_s, kept_s, fixed_s = (median(times) for times in seconds)
    return slow_s, kept_s, fixed_s


def table(results: Sequence[Result], not_flown: Sequence[str] = ()) -> str:
    """The results as Markdown, with the goals, and the names of those that there is no result of."""
    judged = [result.recovered for result in results if result.recovered is not None]
    enough = sum(recovered >= GOAL_RECOVERED for recovered in judged)
    worse = [result.name for result in results if result.kept and result.slow_s / result.kept_s < SLOWER]
    return "\n".join(
        [
            "# Autopilot",
            "",
            f"Written by `python -m tests.scenarios.autopilot` on {os.cpu_count()} cores. The autopilot gets the recorded run "
            "of `slow.py` and is not told the fault. Speed-ups are those of medians of turns measured after it; "
            "recovered is the share of the time saved by `fixed.py` that its changes save.",
            "",
            "| scenario | kept | tried | by hand | autopilot | recovered |",
            "| --- | --- | --- | --- | --- | --- |",
            *(_row(result) for result in results),
            "",
            f"- at least {GOAL_RECOVERED:.0%} recovered: {enough} of {len(judged)} (goal {GOAL_SHARE:.0%})",
            f"- made slower: {', '.join(worse) or 'none'}",
            f"- not flown: {', '.join(not_flown) or 'none'}",
            "",
        ]
    ).replace("%", " %")


def _row(result: Result) -> str:
    by_hand, autopilot = result.slow_s / result.fixed_s, result.slow_s / result.kept_s
    kept = ", ".join(f"`{change}`" for change in result.kept) or "nothing"
    recovered = "–" if result.recovered is None else f"{result.recovered:.0%}"
    return f"| {result.name} | {kept} | {result.tried} | {by_hand:.2f}× | {autopilot:.2f}× | {recovered} |"


if __name__ == "__main__":
    raise SystemExit(main())

"""Runs the scenarios, compares what trainrx says with what is true, writes ``SCORECARD.md``.

``python -m tests.scenarios.scorecard`` from the checkout, or ``make scorecard``. Runs are kept, so that a run that was
broken off is resumed and a changed rule is judged again without recording anew.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from trainrx.profiler.report import Report

from .card import card
from .recording import ScenarioFailed, reanalyse, record
from .score import Score, headline, score, speedup
from .truth import FOLDER, Scenario, all_scenarios

CARD = FOLDER / "SCORECARD.md"
DEFAULT_RESULTS = Path("build/scorecard")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    options = _parser().parse_args(arguments)
    chosen = [scenario for scenario in all_scenarios() if scenario.is_among(options.names)]
    if not chosen:
        print(f"no scenario is called {' or '.join(options.names)}")
        return 2
    if options.repeat > 1:
        return _repeat(chosen, options.results, options.repeat)
    scores = [_scored(scenario, options) for scenario in chosen]
    text = card(scores, _machine())
    print(text)
    if not options.names:
        CARD.write_text(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scorecard", description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="scenarios, or patterns such as 'ddp_*'; none: all, and write the card"
    )
    parser.add_argument(
        "--pairs", type=int, default=3, help="interleaved pairs of slow and fixed; 0: diagnose only"
    )
    parser.add_argument("--resume", action="store_true", help="keep what an earlier run has recorded")
    parser.add_argument("--rescore", action="store_true", help="diagnose the kept runs again, record nothing")
    parser.add_argument(
        "--repeat", type=int, default=1, help="record slow.py so often and count the headlines"
    )
    parser.add_argument("--results", type=Path, default=DEFAULT_RESULTS, help="where runs are kept")
    return parser


def _scored(scenario: Scenario, options: argparse.Namespace) -> Score:
    missing = scenario.truth.needs.missing()
    if missing is not None:
        return Score(scenario.name, scenario.truth.expected, skipped=missing)
    folder: Path = options.results.resolve() / scenario.name
    try:
        slow, fixed = _reports(scenario, folder, options)
    except ScenarioFailed as error:
        result = Score(scenario.name, scenario.truth.expected, failed=str(error))
    else:
        ratios = [speedup(one, other, scenario.truth) for one, other in zip(slow, fixed, strict=False)]
        result = score(scenario, slow[0], [ratio for ratio in ratios if ratio is not None])
    _tell(result)
    (folder / "score.json").write_text(json.dumps(result.to_json(), indent=1))
    return result


def _reports(
    scenario: Scenario, folder: Path, options: argparse.Namespace
) -> tuple[list[Report], list[Report]]:
    """Reports of ``slow.py`` and ``fixed.py``, pair by pair, recorded in turns where they are missing."""
    keep = options.resume or options.rescore
    if folder.exists() and not keep:
        shutil.rmtree(folder)
    has_fix = scenario.fixed.is_file() and scenario.truth.speeds_up
    slow, fixed = reanalyse(folder / "slow"), reanalyse(folder / "fixed")
    if options.rescore and slow:
        return slow, fixed
    for pair in range(max(options.pairs if has_fix else 1, 1)):
        turns: list[Callable[[], None]] = []
        if len(slow) <= pair:
            turns.append(lambda: slow.append(record(scenario.slow, scenario.truth, folder / "slow")))
        if has_fix and pair < options.pairs and len(fixed) <= pair:
            turns.append(lambda: fixed.append(record(scenario.fixed, scenario.truth, folder / "fixed")))
        for turn in turns if pair % 2 == 0 else reversed(turns):
            turn()
    return slow, fixed


def _repeat(scenarios: Sequence[Scenario], results: Path, times: int) -> int:
    """Record each scenario so often and print which headlines came out; 1 if a healthy one got an alarm."""
    alarms = 0
    for scenario in scenarios:
        if scenario.truth.needs.missing() is not None:
            continue
        found: list[str] = []
        for _ in range(times):
            finding = headline(
                record(scenario.slow, scenario.truth, results.resolve() / scenario.name / "repeat")
            )
            found.append(finding.kind.value if finding is not None else "healthy")
            print(f"{scenario.name}: {len(found)} of {times}: {found[-1]}", flush=True)
        counts = {word: found.count(word) for word in sorted(set(found))}
        alarms += sum(n for word, n in counts.items() if scenario.truth.kind is None and word != "healthy")
        print(f"{scenario.name}: {counts}")
    return 1 if alarms else 0


def _tell(result: Score) -> None:
    right = result.failed is None and result.headline_ok
    detail = (
        result.failed or f"{result.found} · {result.cause} · {result.place} · {result.step_ms or 0:.1f} ms"
    )
    print(f"{'ok ' if right else 'BAD'} {result.name}: {detail} · {result.speedup}", flush=True)


def _machine() -> str:
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


if __name__ == "__main__":
    raise SystemExit(main())

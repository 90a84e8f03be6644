"""Trials of no change at all on healthy scripts: none may come out better or worse.

``python -m tests.scenarios.no_change --times 20`` from the checkout; exit code 1 if a trial claims anything.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from trainrx.advisor.trial.arm import Script
from trainrx.advisor.trial.knob_choice import NOTHING
from trainrx.advisor.trial.measure import Plan, measure
from trainrx.advisor.trial.session import PATIENCE_S, WARMUP_STEPS
from trainrx.advisor.trial.verdict import Verdict
from trainrx.profiler.launch import Limits

from .recording import ENVIRONMENT
from .truth import Scenario, all_scenarios

RESULTS = Path("build/no_change")
#: The scripts take some 10 ms a step: this is what `trainrx try` would time.
LENGTH = Limits(steps=300, warmup=WARMUP_STEPS, traced_steps=0, seconds=None, patience_s=PATIENCE_S)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="no_change", description=__doc__)
    parser.add_argument("--times", type=int, default=20, help="trials over all healthy scenarios")
    options = parser.parse_args(arguments)
    os.environ.update(ENVIRONMENT)
    healthy = [one for one in all_scenarios() if one.truth.kind is None and one.truth.needs.missing() is None]
    verdicts = [_trial(scenario) for scenario in islice(cycle(healthy), options.times)]
    counts = {str(verdict): verdicts.count(verdict) for verdict in sorted(set(verdicts))}
    print(counts)
    return 0 if set(verdicts) == {Verdict.NO_EVIDENCE} else 1


def _trial(scenario: Scenario) -> Verdict:
    script = Script((sys.executable, str(scenario.slow)), None, LENGTH)
    result = measure(script, NOTHING, runs_dir=RESULTS.resolve() / scenario.name, plan=Plan())
    span = result.speedup
    told = result.reason if span is None else f"{span.median:.3f} ({span.low:.3f} to {span.high:.3f})"
    print(f"{scenario.name}: {result.verdict}, {told}, {len(result.pairs)} pairs", flush=True)
    return result.verdict


if __name__ == "__main__":
    raise SystemExit(main())

"""Attaches to a process, estimates, and keeps a run folder whose report opens like any other."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

from ..errors import NotEnoughEvidence, UsageError
from ..pyspy import MainThread, sample
from ..report import Estimate, Finding, RankInfo, RecorderCost, Report, RunInfo
from ..store import Manifest, RunFolder, create_run
from ..vocabulary import RunStatus, Severity
from .estimating import (
    Tree,
    loading_lines,
    loads_by_itself,
    sort_out,
    stage_lines,
    stage_shares,
    worker_estimates,
)
from .findings import estimated_findings
from .stack_stage import is_by_hand
from .target import Target, cpu_seconds, find_target

#: Samples a second; the process is paused at each. On two cores with five times as much to do, 50 paused a training for
#: 1 % of the time in the median of pairs (half of them from 0.8 to 2.4 %), 100 for 10 %: `tests/benchmarks/attach.py`.
RATE_HZ = 50
STACKS_FILE = "stacks.speedscope.json"
MAX_SECONDS = 3600.0
SOURCE = "py-spy"
_NO_STEP_TIME = (
    "steps cannot be told apart from outside a process, so only shares of time are known: "
    "`trainrx profile` measures step times"
)
_LIMITS = (
    "An estimate from sampled stacks. Evaluation inside a plain `with torch.no_grad()` looks like forward, and waiting "
    "for other ranks inside a backward looks like backward."
)


def attach(pid: int, *, seconds: float, runs_dir: Path) -> RunFolder:
    """Sample a training process for some seconds and store what its stacks tell.

    Args:
        pid: the training process, or the launcher that started it.
        seconds: how long to look, rounded to whole seconds.
        runs_dir: where the run's folder is made.

    Raises:
        UsageError: no such process, no Python, or the system does not permit it.
        NotEnoughEvidence: nothing that trains was seen.
    """
    if pid == os.getpid() or not 1 <= seconds <= MAX_SECONDS:
        raise UsageError(
            f"attach needs the id of another process and 1 to {MAX_SECONDS:.0f} seconds, not {pid} and {seconds:g}"
        )
    whole_s = round(seconds)
    target = find_target(pid)
    run = create_run(runs_dir, name=f"attached-{pid}")
    try:
        threads = sample(pid, seconds=whole_s, rate_hz=RATE_HZ, output=run.path / STACKS_FILE)
        tree = sort_out(threads, pid)
        if not tree.training:
            raise NotEnoughEvidence(_nothing_trained(pid, whole_s, threads))
    except BaseException:  # Ctrl-C too
        _discard(run)
        raise
    run.release_reserve()
    manifest = _manifest(run, target, whole_s)
    run.write_manifest(manifest)
    run.write_report(_report(manifest, target, tree, whole_s))
    return run


def _report(manifest: Manifest, target: Target, tree: Tree, seconds: int) -> Report:
    first = tree.training[0]
    estimate = Estimate(
        method=f"main-thread stacks, {RATE_HZ} a second, by py-spy",
        seconds=seconds,
        samples=len(first.stacks),
        stages=stage_shares(first.stacks),
        lines=stage_lines(first.stacks),
        workers=worker_estimates(tree.workers, _cpu_shares(target)),
    )
    own_loading = loads_by_itself(first.stacks)
    loading = loading_lines([first] if own_loading else tree.workers)
    findings = estimated_findings(estimate, loading, own_loading, by_hand=any(map(is_by_hand, first.stacks)))
    return Report(
        run=RunInfo(
            id=manifest.id,
            command=manifest.command,
            status=RunStatus.ATTACHED,
            started=manifest.started,
            source=SOURCE,
        ),
        verdict=_verdict(findings, estimate),
        step_time_reason=_NO_STEP_TIME,
        device_reason="the device was not looked at",
        loader_reason="batches cannot be timed from outside a process",
        estimate=estimate,
        findings=findings,
        ranks=[RankInfo(rank=number, pid=thread.pid) for number, thread in enumerate(tree.training)],
        recorder=RecorderCost(notes=[_LIMITS, *_other_processes(tree)]),
    )


def _verdict(findings: Sequence[Finding], estimate: Estimate) -> str:
    headline = next((finding for finding in findings if finding.severity is not Severity.NOTE), None)
    if headline is not None:
        return headline.summary
    compute = findings[0].summary if findings else ""
    return f"Nothing dominates, as far as {estimate.samples} sampled stacks tell. {compute}".strip()


def _cpu_shares(target: Target) -> dict[int, float]:
    """CPU seconds per second, since the target was found, of each process that was there then and is now."""
    now, passed_s = cpu_seconds(target.pid), time.monotonic() - target.found_s
    return {pid: min((now[pid] - used) / passed_s, 1.0) for pid, used in target.cpu_s.items() if pid in now}


def _other_processes(tree: Tree) -> list[str]:
    others = [str(thread.pid) for thread in tree.training[1:]]
    return [f"Processes {', '.join(others)} train too; the shares are of the first alone."] if others else []


def _nothing_trained(pid: int, seconds: int, threads: Sequence[MainThread]) -> str:
    samples = sum(len(thread.stacks) for thread in threads)
    return (
        f"process {pid} was not seen training in {seconds} s ({samples} stacks of {len(threads)} processes): attach "
        "once it is in its training loop"
    )


def _manifest(run: RunFolder, target: Target, seconds: int) -> Manifest:
    return Manifest(
        id=run.path.name,
        command=list(target.command),
        cwd=target.cwd,
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        status=RunStatus.ATTACHED,
        options={"pid": target.pid, "seconds": seconds, "rate_hz": RATE_HZ},
        versions={"trainrx": version("trainrx")},
    )


def _discard(run: RunFolder) -> None:
    """Take away the folder of a run that came to nothing."""
    for path in run.path.iterdir():
        path.unlink()
    run.path.rmdir()

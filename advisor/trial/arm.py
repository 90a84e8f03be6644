"""One side of a pair: a light recorded run of the user's command, with or without changes, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ...profiler.agent.intervention.journal import FOLDER as JOURNAL_FOLDER
from ...profiler.exit_code import how_it_failed
from ...profiler.launch import Limits, Setting, record
from ...profiler.recording import RankRecording, read_ranks
from ...profiler.setup_facts import training_loader
from ...profiler.store import Manifest, RunFolder
from ...profiler.timeline.loader import samples_per_batch
from ...profiler.timeline.steps import MIN_TIMED_STEPS, find_steps
from ...profiler.vocabulary import Ending, RunStatus

#: Losses of one rank: step number and value of each backward.
Losses = tuple[tuple[int, float], ...]
MAX_LOG_BYTES = 2000
MAX_JOURNAL_BYTES = 1 << 20


@dataclass(frozen=True)
class KnobEvent:
    """What one process told of a knob.

    Attributes:
        event: ``installed``, ``applied``, ``not applied`` or ``failed``.
        file, line: the place in the user's code that led to it.
    """

    knob: str
    event: str
    detail: str
    pid: int
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class Arm:
    """What one run of a trial gave.

    Attributes:
        run: name of its folder.
        step_s: mean wall time of a timed step, of the slowest rank; None where the run failed.
        samples_per_batch: samples of a batch of the training's loader, as far as they are known.
        failure: why it gave no time; None where it did.
        losses: by rank.
        events: what became of the knobs.
        pids: the training processes.
        seconds: the whole run, with its start.
    """

    run: str
    step_s: float | None
    n_steps: int = 0
    samples_per_batch: float | None = None
    failure: str | None = None
    interrupted: bool = False
    losses: Mapping[int, Losses] = field(default_factory=dict[int, Losses])
    events: tuple[KnobEvent, ...] = ()
    pids: tuple[int, ...] = ()
    seconds: float = 0.0

    def not_applied(self, names: Sequence[str]) -> list[str]:
        """Why each of these knobs changed nothing in some training process; empty if all of them took everywhere."""
        reasons: list[str] = []
        for name in names:
            told = [event for event in self.events if event.knob == name]
            took = {event.pid for event in told if event.event == "applied"}
            if not self.pids or set(self.pids) - took:
                why = [event.detail for event in told if event.event in ("not applied", "failed")]
                reasons.append(
                    f"{name}: {why[0] if why else 'the script never met what it acts on in the recorded steps'}"
                )
        return reasons


@dataclass(frozen=True)
class Script:
    """What is run: the command, where, and for how long."""

    command: tuple[str, ...]
    cwd: Path | None
    limits: Limits


def run_arm(script: Script, knobs: Mapping[str, str], runs_dir: Path) -> Arm:
    """Run the command once and read what it recorded; its output goes to a log beside the recording."""
    runs_dir.mkdir(parents=True, exist_ok=True)
    log = runs_dir / "output.log"
    with log.open("wb") as output:
        run = _record(script, knobs, runs_dir, output)
    arm = read_arm(run, log)
    (run.path / "output.log").write_bytes(log.read_bytes())
    log.unlink()
    return arm


def _record(script: Script, knobs: Mapping[str, str], runs_dir: Path, output: IO[bytes]) -> RunFolder:
    return record(
        script.command,
        runs_dir=runs_dir,
        limits=script.limits,
        setting=Setting(knobs=knobs, losses=True, own_session=True, cwd=script.cwd),
        stdout=output,
        stderr=output,
    )


def read_arm(run: RunFolder, log: Path) -> Arm:
    """What a recorded run of a trial gave."""
    manifest, ranks = run.manifest, read_ranks(run.path)
    warmup = int(manifest.options.get("warmup", 0))
    found = [find_steps(rank, warmup=warmup) for rank in ranks]
    times = [steps.step_time() for steps in found]
    means = [time.mean_s for time in times if time is not None and time.n >= MIN_TIMED_STEPS]
    complete = bool(means) and len(means) == len(ranks)
    failure = _failure(manifest, ranks, complete, log)
    slowest = max(range(len(means)), key=means.__getitem__) if complete else None
    return Arm(
        run=run.path.name,
        step_s=None if failure is not None or slowest is None else means[slowest],
        n_steps=0 if slowest is None else int(found[slowest].timed.sum()),
        samples_per_batch=None if slowest is None else _samples_per_batch(ranks[slowest]),
        failure=failure,
        interrupted=manifest.status is RunStatus.INTERRUPTED,
        losses={rank.rank: _losses(rank) for rank in ranks},
        events=tuple(knob_events(run.path)),
        pids=tuple(int(rank.process["pid"]) for rank in ranks if "pid" in rank.process),
    )


def _failure(manifest: Manifest, ranks: Sequence[RankRecording], complete: bool, log: Path) -> str | None:
    """Why a run cannot be used.

    Ranks that the recorder has stopped may end as they like: gloo's teardown aborts at times where one is gone already.
    """
    if manifest.note is not None:
        return manifest.note
    stopped = bool(ranks) and all(rank.end_reason == Ending.STOPPED for rank in ranks)
    if manifest.exit_code and not stopped:
        return f"the script {how_it_failed(manifest.exit_code)}: {_last_line(log)}"
    if not complete:
        return f"fewer than {MIN_TIMED_STEPS} steps were timed"
    return None


def _last_line(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - MAX_LOG_BYTES, 0))
        lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
    errors = [line for line in lines if "Error" in line and not line.startswith(("File", "raise", "return"))]
    return (errors or [line for line in lines if line] or ["it printed nothing"])[-1][:300]


def _samples_per_batch(rank: RankRecording) -> float | None:
    loader = training_loader(rank)
    return None if loader is None else samples_per_batch(rank, loader["number"])


def _losses(rank: RankRecording) -> Losses:
    told = rank.facts.get("losses", [])
    return tuple((int(step), float(value)) for step, value in told[-1]["values"]) if told else ()


def knob_events(run_dir: Path) -> list[KnobEvent]:
    """What all processes of a run told of their knobs."""
    found: list[KnobEvent] = []
    for path in sorted((run_dir / JOURNAL_FOLDER).glob("*.jsonl")):
        for line in path.read_bytes()[:MAX_JOURNAL_BYTES].splitlines():
            event = _event(line, path.stem)
            if event is not None:
                found.append(event)
    return found


def _event(line: bytes, pid: str) -> KnobEvent | None:
    try:
        told = json.loads(line)
        return KnobEvent(
            knob=told["knob"], event=told["event"], detail=told["detail"], pid=int(pid), file=told["file"],
            line=told["line"],
        )  # fmt: skip
    except (ValueError, KeyError, TypeError):
        return None

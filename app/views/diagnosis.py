"""One run's diagnosis as people read it: verdict, figures with units, findings with their evidence."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from pathlib import PurePath
from typing import Any

from ...profiler.diagnosis.finding import short_path
from ...profiler.report import Fact, Finding, HostLine, RankInfo, Report, StageShare
from ...profiler.store import Manifest
from ...profiler.vocabulary import RunStatus, Severity, Stage
from . import format as text
from .ending import ending
from .run_list import headline, script_name
from .window_cost import window_cost

#: Fewer stack samples than this make a line's time a rough guess.
FEW_SAMPLES = 5


class Tone(Enum):
    """How a verdict reads at a glance; a word stands beside its colour."""

    PROBLEM = "problem"
    CONCERN = "concern"
    HEALTHY = "healthy"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Figure:
    """A number with its name: ``value`` has its unit or reads ``n/a``, ``detail`` says more, or why."""

    name: str
    value: str
    detail: str
    explanation: str


@dataclass(frozen=True)
class StageView:
    """One stage of the mean timed step."""

    stage: Stage
    ms: float
    share: float
    time: str
    percent: str


@dataclass(frozen=True)
class EvidenceView:
    """A number or setting a finding rests on; ``basis`` is ``measured``, ``derived`` or ``setup``."""

    name: str
    value: str
    basis: str


@dataclass(frozen=True)
class FindingView:
    """One finding."""

    kind: str
    family: str
    cause: str | None
    severity: str
    confidence: str
    summary: str
    time: str | None
    percent: str
    takes_time: bool
    where: tuple[str, ...]
    evidence: tuple[EvidenceView, ...]

    @property
    def cost(self) -> str:
        """What it costs: time per step and share, or the share alone where no step was timed; memory costs no time."""
        if not self.takes_time:
            return "costs no time of a step"
        return f"{self.time} per step · {self.percent}" if self.time else f"{self.percent} of the time"


@dataclass(frozen=True)
class LineView:
    """A line of Python that a stage was seen in; ``certain`` is False where few samples saw it."""

    stage: Stage
    place: str
    full_place: str
    function: str
    ms: float
    time: str
    percent: str
    samples: str
    certain: bool


@dataclass(frozen=True)
class SetupGroup:
    """Settings that belong together, as name and value."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class RankView:
    """One training process; ``waited_for`` is the share of steps in which the others waited for it."""

    rank: str
    steps: str
    step_time: str
    biggest_stage: str
    waited_for: str
    note: str


@dataclass(frozen=True)
class DiagnosisView:
    """All of a run's diagnosis, ready to be drawn or printed.

    Attributes:
        command: as it would be typed where it was run.
        ending: how the run ended, in words.
        label: the verdict's grade in words, e.g. ``high · data loading``.
        timed: steps were timed, so that there are stages, and findings could be made.
        stages_caption: what the stage bar shows, or why there is none.
        warnings: what of the run could not be read or went wrong, one sentence each.
        lines: grouped by stage, the stage that takes longest first.
        notes: what the recorder could not see or do.
    """

    id: str
    script: str
    command: str
    started: str
    status: str
    ending: str
    verdict: str
    tone: Tone
    label: str
    warnings: tuple[str, ...]
    timed: bool
    figures: tuple[Figure, ...]
    stages: tuple[StageView, ...]
    stages_caption: str
    findings: tuple[FindingView, ...]
    lines: tuple[LineView, ...]
    setup: tuple[SetupGroup, ...]
    ranks: tuple[RankView, ...]
    notes: tuple[str, ...]


def diagnosis_view(report: Report, manifest: Manifest, *, warnings: Iterable[str] = ()) -> DiagnosisView:
    """The view of a report; ``warnings`` say what of the run could not be read."""
    recording = manifest.status is RunStatus.RECORDING
    return DiagnosisView(
        id=report.run.id,
        script=script_name(manifest.command),
        command=_command(manifest),
        started=text.moment(manifest.started),
        status=str(manifest.status),
        ending=ending(manifest.status, manifest.exit_code, source=report.run.source),
        verdict=_verdict(report, recording=recording),
        tone=_tone(report),
        label=_label(report, recording=recording),
        warnings=(*warnings, *([_sentence(manifest.note)] if manifest.note else [])),
        timed=report.step_time is not None,
        figures=_figures(report),
        stages=tuple(stage_view(stage) for stage in report.stages),
        stages_caption=_stages_caption(report),
        findings=tuple(_finding(finding) for finding in report.findings),
        lines=tuple(_lines(report)),
        setup=_setup(report, manifest),
        ranks=tuple(_rank(rank) for rank in report.ranks) if len(report.ranks) > 1 else (),
        notes=tuple(_notes(report, manifest)),
    )


def _command(manifest: Manifest) -> str:
    """The command as one would type it where it was run: short program name, paths relative."""
    program, *arguments = manifest.command or [""]
    inside = manifest.cwd.rstrip("/\\") + "/"
    return shlex.join([PurePath(program).name, *(word.removeprefix(inside) for word in arguments)])


def _verdict(report: Report, *, recording: bool) -> str:
    if not recording:
        return report.verdict
    if report.step_time is None:
        seen = text.count(report.run.steps_recorded, "step")
        return f"Recording has begun: {seen} seen, none timed yet."
    return f"So far, over {text.count(report.step_time.n, 'timed step')}: {report.verdict}"


def _tone(report: Report) -> Tone:
    if not _answers(report):
        return Tone.UNKNOWN
    found = headline(report)
    if found is None:
        return Tone.HEALTHY
    return Tone.PROBLEM if found.severity is Severity.HIGH else Tone.CONCERN


def _answers(report: Report) -> bool:
    """Steps were timed, or shares estimated from outside, and they suffice for a verdict."""
    return not report.cannot_tell and (report.step_time is not None or report.estimate is not None)


def _label(report: Report, *, recording: bool) -> str:
    if not _answers(report):
        return "waiting for steps" if recording else "no answer"
    found = headline(report)
    estimated = ", estimated" if report.step_time is None else ""
    return "nothing dominates" if found is None else f"{found.severity} · {found.family}{estimated}"


def _figures(report: Report) -> tuple[Figure, ...]:
    return (*_step_figures(report), _biggest_stage(report), *_device(report), _recorder(report))


def _step_figures(report: Report) -> tuple[Figure, ...]:
    step = report.step_time
    if step is None:
        missing = f"because {_UNTIMED}"
        return (
            Figure("Median step", "n/a", missing, _MEDIAN),
            Figure("Steps per second", "n/a", missing, _SPEED),
        )
    timed = text.count(step.n, "timed step")
    speed = text.rate(1 / step.mean_s) if step.mean_s > 0 else "n/a"
    return (
        Figure("Median step", text.duration(step.p50_s), timed, _MEDIAN),
        Figure(
            "95th percentile", text.duration(step.p95_s), f"{_over(step.p95_s, step.p50_s)} the median", _P95
        ),
        Figure("Steps per second", speed, f"mean step {text.duration(step.mean_s)}", _SPEED),
    )


_UNTIMED = "no step was timed"
_MEDIAN = "Wall time of a step: half of the timed steps took less. Warm-up and traced steps are left out."
_P95 = "19 of 20 timed steps took less than this."
_SPEED = "One over the mean wall time of the timed steps."
_BIGGEST = (
    "Stages are exclusive: every instant of the training thread belongs to one, and they sum to the step."
)
_COST = "What recording added, measured in this run: cost of its spans and of its thread, an upper estimate."
_BUSY = "Share of the traced window in which the device had anything to do."


def _over(one: float, other: float) -> str:
    return text.times(one / other) if other > 0 else "n/a"


def _biggest_stage(report: Report) -> Figure:
    if not report.stages:
        return Figure("Biggest stage", "n/a", f"because {_UNTIMED}", _BIGGEST)
    stage = max(report.stages, key=lambda stage: stage.seconds_per_step)
    return Figure("Biggest stage", stage.name.label, f"{text.percent(stage.share)} of the step", _BIGGEST)


def _device(report: Report) -> tuple[Figure, ...]:
    if report.device is None:
        return ()
    return (Figure("Device busy", text.percent(report.device.busy_share), "of the traced window", _BUSY),)


def _recorder(report: Report) -> Figure:
    cost = report.recorder
    if cost.overhead_share is None:
        return Figure("Recorder cost", "n/a", "not measured", _COST)
    per_step = cost.overhead_us_per_step
    detail = f"{text.duration(per_step / 1e6)} per step" if per_step is not None else "of the step"
    return Figure("Recorder cost", text.percent(cost.overhead_share), detail, _COST)


def stage_view(stage: StageShare) -> StageView:
    """A stage with its numbers written out."""
    ms = stage.seconds_per_step * 1e3
    return StageView(stage.name, ms, stage.share, text.milliseconds(ms), text.percent(stage.share))


def _stages_caption(report: Report) -> str:
    if report.step_time is None or not report.stages:
        return text.unavailable(_UNTIMED)
    total = sum(stage.seconds_per_step for stage in report.stages)
    steps = text.count(report.step_time.n, "timed step")
    time = text.milliseconds(total * 1e3)
    return f"Mean of {steps}: {time} of the training thread, every instant counted once."


def _finding(finding: Finding) -> FindingView:
    return FindingView(
        kind=str(finding.kind),
        family=str(finding.family),
        cause=finding.cause,
        severity=str(finding.severity),
        confidence=str(finding.confidence),
        summary=finding.summary,
        time=None if finding.ms_per_step is None else text.milliseconds(finding.ms_per_step),
        percent=text.percent(finding.share),
        takes_time=finding.share > 0,
        where=tuple(text.place(where) for where in finding.where),
        evidence=tuple(_evidence(item) for item in finding.evidence),
    )


def _evidence(item: Fact) -> EvidenceView:
    return EvidenceView(name=item.name, value=text.fact(item), basis=item.basis)


def _lines(report: Report) -> Iterator[LineView]:
    rank = {stage.name: -stage.seconds_per_step for stage in report.stages}
    ordered = sorted(report.host_lines, key=lambda line: (rank.get(line.stage, 0.0), line.stage.value))
    for _, group in groupby(ordered, key=lambda line: line.stage):
        yield from (_line(line) for line in sorted(group, key=lambda line: -line.seconds_per_step))


def _line(line: HostLine) -> LineView:
    ms = line.seconds_per_step * 1e3
    return LineView(
        stage=line.stage,
        place=f"{short_path(line.file)}:{line.line}",
        full_place=f"{line.file}:{line.line}",
        function=line.function,
        ms=ms,
        time=text.milliseconds(ms),
        percent=text.percent(line.share),
        samples=text.count(line.samples, "sample"),
        certain=line.samples >= FEW_SAMPLES,
    )


def _setup(report: Report, manifest: Manifest) -> tuple[SetupGroup, ...]:
    groups = {
        title: list[tuple[str, str]]()
        for title in ("Machine", "Software", "Loader", "Model", "Optimizer", "Other")
    }
    for name, value in report.setup.items():
        title, shown = _setup_place(name)
        groups[title].append((re.sub("_bytes$", " size", shown), _setting(name, value)))
    if report.device is None and report.device_reason is not None:
        groups["Machine"].append(("device trace", text.unavailable(report.device_reason)))
    groups["Software"] += [(name, version) for name, version in manifest.versions.items() if name != "python"]
    groups["Software"] += _git(manifest)
    return tuple(SetupGroup(title, tuple(rows)) for title, rows in groups.items() if rows)


def _setup_place(name: str) -> tuple[str, str]:
    """The group of a dotted setup fact, and the name it has there."""
    first, _, rest = name.partition(".")
    match first:
        case "loader" | "optimizer" | "model":
            return first.capitalize(), rest or name
        case "batch" | "precision" | "task":
            return "Model", name.replace(".", " ")
        case "cpu" | "device" | "memory":
            return "Machine", f"{first} {rest}".rstrip()
        case "platform" | "world_size" | "local_world_size":
            return "Machine", name
        case "torch" | "python" | "cuda":
            return "Software", first if rest in ("", "version") else rest
        case _:
            return "Other", name


def _setting(name: str, value: Any) -> str:
    shown = text.size(value) if name.endswith("_bytes") and isinstance(value, int) else text.setting(value)
    return shown if len(shown) <= 200 else shown[:199] + "…"


def _git(manifest: Manifest) -> list[tuple[str, str]]:
    commit = manifest.git.get("commit")
    if not commit:
        return []
    return [("git commit", f"{str(commit)[:10]}{' + changes' if manifest.git.get('dirty') else ''}")]


def _rank(rank: RankInfo) -> RankView:
    step = rank.step_time
    biggest = max(rank.stages, key=lambda stage: stage.seconds_per_step, default=None)
    return RankView(
        rank=str(rank.rank),
        steps=text.count(rank.steps),
        step_time=text.duration(step.p50_s) if step is not None else text.unavailable(_UNTIMED),
        biggest_stage=f"{biggest.name.label} {text.percent(biggest.share)}" if biggest is not None else "n/a",
        waited_for=text.percent(rank.last_share) if rank.last_share is not None else "n/a",
        note=rank.note or "",
    )


def _notes(report: Report, manifest: Manifest) -> Iterator[str]:
    if manifest.status is not RunStatus.RECORDING:
        told = {note.rstrip(".").lower() for note in report.recorder.notes}
        ranks = (f"Rank {rank.rank}: {rank.note}." for rank in report.ranks if rank.note)
        yield from (note for note in ranks if note.rstrip(".").lower() not in told)
    window = window_cost(report.recorder)
    if window is not None:
        yield f"The deep window {window}."
    yield from report.recorder.notes


def _sentence(note: str) -> str:
    return note[:1].upper() + note[1:].rstrip(".") + "."

"""Ranks side by side: time per stage of each, and which of them the others wait for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from ...profiler.report import ClockInfo, RankInfo, Report
from ...profiler.vocabulary import ClockBasis, Stage
from . import format as text

#: More ranks than this are shown as the first of them, the late one and the slowest; the table has all.
MAX_ROWS = 64
MAX_CLOCKS = 8


@dataclass(frozen=True)
class RankCell:
    """A rank's time in a stage; ``excess`` is how much longer than the median rank, as a share of its step."""

    ms: float
    excess: float
    text: str
    hover: str


@dataclass(frozen=True)
class RankMatrix:
    """Ranks down, stages across.

    Attributes:
        late: the rows of the late rank, none if no rank is late.
        sentence: who is late, how often, and what it costs; or that nobody is.
        waits: the table of collectives by rank; empty where none were matched.
        uses: the table of what the first rank exchanges, by kind of collective; empty where none was seen.
        clocks: how far the ranks' clocks lie apart; empty where they read the same one.
    """

    ranks: tuple[str, ...]
    stages: tuple[Stage, ...]
    cells: tuple[tuple[RankCell, ...], ...]
    late: tuple[int, ...]
    sentence: str
    left_out: int
    waits: tuple[dict[str, str], ...]
    uses: tuple[dict[str, str], ...] = ()
    clocks: str = ""

    @property
    def clocks_sentence(self) -> str:
        """How far the clocks lie apart as a sentence; empty where there is nothing to say."""
        return f"{self.clocks[0].upper()}{self.clocks[1:]}." if self.clocks else ""

    @property
    def caption(self) -> str:
        """What the matrix shows, and what it leaves out."""
        left_out = f" {self.left_out:,} ranks are left out here: the table has all." if self.left_out else ""
        return f"Ms per step by stage; darker where a rank takes longer than the median rank.{left_out}"


def rank_matrix(report: Report) -> RankMatrix | None:
    """The matrix of a report; None for a single rank, or where no rank has stages."""
    ranks = [rank for rank in report.ranks if rank.stages]
    if len(ranks) < 2:
        return None
    late = late_rank(report)
    stages = [stage for stage in Stage if any(_seconds(rank, stage) for rank in ranks)]
    usual = {stage: median(_seconds(rank, stage) for rank in ranks) for stage in stages}
    shown = _shown(ranks, late)
    return RankMatrix(
        ranks=tuple(f"rank {rank.rank}" for rank in shown),
        stages=tuple(stages),
        cells=tuple(tuple(_cell(rank, stage, usual[stage]) for stage in stages) for rank in shown),
        late=tuple(row for row, rank in enumerate(shown) if rank.rank == late),
        sentence=_sentence(report, late),
        left_out=len(ranks) - len(shown),
        waits=tuple(_waits(report.ranks)),
        uses=tuple(collective_uses(report)),
        clocks=clocks(report),
    )


def collective_uses(report: Report) -> Iterator[dict[str, str]]:
    """What the first rank exchanges in a step: a row for each kind of collective, the longest wait first."""
    for use in report.collective_uses:
        yield {
            "collective": use.operation.replace("_", "-"),
            "per step": f"{use.calls_per_step:.3g}×",
            "bytes": "n/a" if use.bytes_per_step is None else text.size(use.bytes_per_step),
            "time": text.duration(use.wait_s_per_step),
        }


def clocks(report: Report) -> str:
    """How far the ranks' clocks lie apart, with the uncertainty; empty where they read the same one."""
    told = [
        _clock(rank.rank, rank.clock)
        for rank in report.ranks
        if rank.clock is not None and rank.clock.basis is not ClockBasis.SAME
    ]
    more = len(told) - MAX_CLOCKS
    return "; ".join([*told[:MAX_CLOCKS], *([f"and {more} more ranks"] if more > 0 else [])])


def _clock(rank: int, clock: ClockInfo) -> str:
    if clock.basis is ClockBasis.UNKNOWN:
        return f"how rank {rank}'s clock stands to the others' is not known"
    within = (
        "known as well as the machines' wall clocks agree"
        if clock.uncertainty_s is None
        else f"± {text.duration(clock.uncertainty_s)}, by {text.count(clock.collectives, 'collective')}"
    )
    drift = "" if clock.drift_ppm is None else f", drifting {clock.drift_ppm:+.2g} µs/s"
    ahead = "ahead" if clock.offset_s >= 0 else "behind"
    return f"rank {rank}'s clock is {text.duration(abs(clock.offset_s))} {ahead} ({within}{drift})"


def late_rank(report: Report) -> int | None:
    """The rank that the others wait for: by matched collectives, else by a finding that names one."""
    if report.collectives is not None and report.collectives.late_rank is not None:
        return report.collectives.late_rank
    named = (where.rank for found in report.findings for where in found.where if where.rank is not None)
    return next(named, None)


def _shown(ranks: Sequence[RankInfo], late: int | None) -> list[RankInfo]:
    """All of them, or the late one and the slowest among so many."""
    if len(ranks) <= MAX_ROWS:
        return list(ranks)
    slowest = sorted(ranks, key=lambda rank: (rank.rank != late, -_step_s(rank)))[:MAX_ROWS]
    return sorted(slowest, key=lambda rank: rank.rank)


def _cell(rank: RankInfo, stage: Stage, usual_s: float) -> RankCell:
    seconds, step = _seconds(rank, stage), _step_s(rank)
    over = (seconds - usual_s) * 1e3
    time = text.milliseconds(seconds * 1e3)
    against = f"{text.milliseconds(abs(over))} {'more' if over > 0 else 'less'} than the median rank"
    return RankCell(
        ms=seconds * 1e3,
        excess=max(0.0, (seconds - usual_s) / step) if step > 0 else 0.0,
        text=time.removesuffix(" ms"),
        hover=f"rank {rank.rank}, {stage.label}<br>{time} per step, {against}",
    )


def _seconds(rank: RankInfo, stage: Stage) -> float:
    return sum(one.seconds_per_step for one in rank.stages if one.name is stage)


def _step_s(rank: RankInfo) -> float:
    return sum(one.seconds_per_step for one in rank.stages)


def _sentence(report: Report, late: int | None) -> str:
    if late is None:
        return "No rank keeps the others waiting."
    rank = next((one for one in report.ranks if one.rank == late), None)
    how = list(_how_late(report, rank)) if rank is not None else []
    return f"Rank {late} is late" + (f": {'; '.join(how)}." if how else ".")


def _how_late(report: Report, rank: RankInfo) -> Iterator[str]:
    skew = report.collectives
    if rank.last_share is not None:
        yield f"the others waited for it in {text.percent(rank.last_share)} of the steps"
    if rank.collectives is not None and skew is not None:
        yield f"it came last to {rank.collectives.times_last:,} of {text.count(skew.matched, 'matched collective')}"
        yield f"which delayed them by {text.duration(rank.collectives.delay_caused_s)} in all"
        yield f"mean skew {text.duration(skew.skew_mean_s)}, most {text.duration(skew.skew_max_s)}"


def _waits(ranks: Sequence[RankInfo]) -> Iterator[dict[str, str]]:
    for rank in ranks:
        if rank.collectives is not None:
            yield {
                "rank": str(rank.rank),
                "waiting for others": text.percent(rank.collectives.waiting_share),
                "on the wire": text.percent(rank.collectives.wire_share),
                "came last": f"{rank.collectives.times_last:,}×",
                "delay caused": text.duration(rank.collectives.delay_caused_s),
                "device busy": text.percent(rank.device.busy_share) if rank.device is not None else "n/a",
            }

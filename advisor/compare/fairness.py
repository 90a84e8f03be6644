"""Rules of a fair comparison that two runs can break; each names itself, so that a reader sees why no number stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...profiler.report import Report
from ...profiler.vocabulary import RunStatus

_HARDWARE = ("device.kind", "device.name", "cpu.cores", "world_size", "platform")
_SOFTWARE = ("torch.version", "python.version")
#: Fewer timed steps than this are a glance, not a measurement.
MIN_STEPS = 10
#: A training thread that waits this share of its time for a core was not alone.
BUSY_NEIGHBOURS_SHARE = 0.1


@dataclass(frozen=True)
class Breach:
    """A rule that a comparison breaks; ``serious`` ones forbid a headline number."""

    rule: str
    detail: str
    serious: bool


def breaches(before: Report, after: Report) -> Iterator[Breach]:
    """Every rule that comparing these runs breaks."""
    yield from _differs(before, after, _HARDWARE, "same hardware", serious=True)
    yield from _differs(before, after, _SOFTWARE, "same software", serious=True)
    if before.run.source != after.run.source:
        yield Breach("same way of measuring", f"{before.run.source} against {after.run.source}", serious=True)
    batch = before.setup.get("loader.batch_size"), after.setup.get("loader.batch_size")
    if batch[0] != batch[1] and None not in batch:
        yield Breach(
            "equal work", f"batch size {batch[0]} against {batch[1]}: compared per sample", serious=False
        )
    for name, report in (("first", before), ("second", after)):
        yield from _of_one(name, report)
    yield Breach(
        "interleaved in one session",
        "two runs recorded one after the other; `trainrx try` measures in interleaved pairs",
        serious=False,
    )


def _differs(
    before: Report, after: Report, names: tuple[str, ...], rule: str, *, serious: bool
) -> Iterator[Breach]:
    for name in names:
        first, second = before.setup.get(name), after.setup.get(name)
        if first != second and first is not None and second is not None:
            yield Breach(rule, f"{name}: {first} against {second}", serious=serious)


def _of_one(name: str, report: Report) -> Iterator[Breach]:
    if report.step_time is not None and report.step_time.n < MIN_STEPS:
        yield Breach("enough steps", f"the {name} run timed {report.step_time.n} steps", serious=False)
    if report.run.status is RunStatus.FAILED:
        yield Breach("runs that end well", f"the {name} run failed", serious=True)
    if (report.core_wait_share or 0.0) >= BUSY_NEIGHBOURS_SHARE:
        yield Breach(
            "a machine of its own",
            f"the {name} run's training thread waited {report.core_wait_share:.0%} of the time for a core",
            serious=False,
        )

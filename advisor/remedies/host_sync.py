"""Against a host that waits for its device: read values back later, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from ..proposal import Case, Effort, Fit, Proposal
from .debugging import CAUSES as DEBUGGING
from .debugging import left_on
from .h2d_transfer import waits_for_no_copy
from .host_python import INTERVAL, seen_at

COMPLETE = DEBUGGING


def propose(case: Case) -> Iterator[Proposal]:
    """What is left on by mistake; then reading back later, then less often."""
    yield from left_on(case)
    if case.cause in DEBUGGING:
        return
    if case.cause == "empty-cache-in-loop":
        yield _no_flush(case)
    if case.cause == "synchronize-call":
        yield _no_synchronize(case)
        return
    yield _read_later(case)
    yield _read_rarely(case)
    if not waits_for_no_copy(case):
        yield _copies(case)


def _no_flush(case: Case) -> Proposal:
    return Proposal(
        method="no-empty-cache-in-loop",
        knob="allocator.no_empty_cache=true",
        how="take torch.cuda.empty_cache() out of the loop: it waits for the device, then memory is asked for anew",
        basis="the measured waiting in and behind these calls",
        effort=Effort.SWITCH,
        estimate=case.remaining(0.0, 0.2, 0.8),
        fit=Fit.CAUSE,
    )


def _no_synchronize(case: Case) -> Proposal:
    return Proposal(
        method="avoid-host-sync",
        how=(
            f"take torch.cuda.synchronize() out of the loop, at {seen_at(case)}: PyTorch orders the device's work by "
            "itself; to time a step, record torch.cuda.Event(enable_timing=True) and read it steps later"
        ),
        basis="the GPU's measured waiting for the host, no more of it than these calls take",
        effort=Effort.LINES,
        estimate=case.what_if("host_synchronisation_removed") or case.remaining(0.0, 0.3, 1.0),
        fit=Fit.CAUSE,
    )


def _read_later(case: Case) -> Proposal:
    replayed = case.what_if("host_synchronisation_removed")
    return Proposal(
        method="avoid-host-sync",
        how=(
            f"at {seen_at(case)}: keep loss.detach() on the device, read the value of the step before; no .item(), "
            '.cpu(), print or boolean mask in each step (torch.cuda.set_sync_debug_mode("warn") names them)'
        ),
        basis="replaying the trace without the waiting calls"
        if replayed
        else "the device's measured idle time in and behind the waiting calls, half of which is likely to go",
        effort=Effort.LINES,
        estimate=replayed or case.remaining(0.1, 0.5, 1.0),
        fit=Fit.CAUSE,
    )


def _read_rarely(case: Case) -> Proposal:
    return Proposal(
        method="eval-and-log-frequency",
        how=f"reduce over ranks and read the losses only where they are printed: `if step % {INTERVAL} == 0:`",
        basis=f"the same idle time in one step of {INTERVAL}, if these calls are for logging",
        effort=Effort.LINES,
        estimate=case.remaining(1 / INTERVAL, 0.5, 1.0),
        fit=Fit.CAUSE,
    )


def _copies(case: Case) -> Proposal:
    return Proposal(
        method="non-blocking-copy",
        knob="copy.non_blocking=true",
        how="batch.to(device, non_blocking=True), from pinned memory",
        basis="only the copies' part of the waiting, which was not counted apart",
        effort=Effort.SWITCH,
        estimate=case.remaining(0.7, 0.95, 1.0),
        fit=Fit.KIND,
    )

"""Against clocks that heat or a power limit hold down: no change of the script mends that."""

from __future__ import annotations

from collections.abc import Iterator

from ..proposal import Case, Effort, Fit, Proposal


def propose(case: Case) -> Iterator[Proposal]:
    """Look at the reason first; cooling, a power limit or a neighbour are mended outside the script."""
    if case.cause == "cpu-quota":
        yield from _within_the_quota(case)
        return
    if case.setup("device.kind") == "cpu":
        return
    yield Proposal(
        method="gpu-clock-power",
        how="nvidia-smi -q -d PERFORMANCE,CLOCK,POWER while it trains: which throttle reason is active, on which GPU?",
        basis="the measured loss of clock: all of it at best, nothing where the machine cannot be changed",
        effort=Effort.LINES,
        estimate=case.remaining(0.0, 0.5, 1.0),
        fit=Fit.CAUSE,
    )


def _within_the_quota(case: Case) -> Iterator[Proposal]:
    """A container that runs more threads than its quota of cores is stopped for the rest of each period."""
    threads, workers = case.number("cpu.threads"), case.number("loader.num_workers") or 0
    estimate = case.remaining(0.3, 0.7, 1.0)
    basis = "the measured time that the quota takes away; fewer threads use it up later, a higher quota not at all"
    if threads is not None and threads > 1:
        fewer = max(int(threads) // 2, 1)
        yield Proposal(
            method="cpu-inductor-onednn",
            knob=f"threads.intraop={fewer}",
            how=f"torch.set_num_threads({fewer})  # it is {threads:g} now; or raise the quota (docker run --cpus=…)",
            basis=basis,
            effort=Effort.SWITCH,
            estimate=estimate,
            fit=Fit.CAUSE,
        )
    if workers > 0:
        yield Proposal(
            method="worker-thread-limit",
            knob="loader.worker_threads=1",
            how="worker_init_fn: torch.set_num_threads(1), cv2.setNumThreads(0); or raise the quota (--cpus=…)",
            basis=basis,
            effort=Effort.SWITCH,
            estimate=estimate,
            fit=Fit.CAUSE,
        )

"""Against copies to the device that nothing hides: from pinned memory, beside the computation, in fewer bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ..predict.estimate import StepEstimate
from ..proposal import Case, Effort, Fit, Proposal

#: Bytes as eight-bit integers are a quarter of those as 32-bit floats.
QUARTER = 0.25


def propose(case: Case) -> Iterator[Proposal]:
    """By cause: pinning where memory is pageable, overlap where it is pinned, the socket where there are several."""
    pageable = case.cause == "pageable-memory"
    yield _pinned(case, Fit.CAUSE if pageable else Fit.KIND)
    if not waits_for_no_copy(case):
        yield _not_waiting(case, pageable)
    yield _ahead(case)
    if (case.number("cpu.numa_nodes") or 1) > 1:
        yield _bound_to_socket(case)
    if case.setup("task.domain") == "vision":
        yield _fewer_bytes(case)


def _overlapped(case: Case, likely: float) -> StepEstimate:
    return case.what_if("copies_overlapped", likely=likely) or case.remaining(0.0, 1 - likely, 1.0)


def _basis(case: Case) -> str:
    if case.what_if("copies_overlapped") is not None:
        return "replaying the trace with copies that run beside the computation"
    return "the measured time in which the device only copies; pinned copies run about twice as fast and can overlap"


def _pinned(case: Case, fit: Fit) -> Proposal:
    return Proposal(
        method="pin-memory",
        knob="loader.pin_memory=true",
        how="DataLoader(..., pin_memory=True), together with batch.to(device, non_blocking=True)",
        basis=_basis(case),
        effort=Effort.SWITCH,
        estimate=_overlapped(case, 0.5),
        fit=fit,
    )


def waits_for_no_copy(case: Case) -> bool:
    """Whether every copy that was seen was asked for with ``non_blocking=True``."""
    return case.evidence("non_blocking") is True


def _not_waiting(case: Case, pageable: bool) -> Proposal:
    pinned = "pin_memory=True as well, else it waits all the same" if pageable else "from pinned memory"
    return Proposal(
        method="non-blocking-copy",
        knob="copy.non_blocking=true",
        how=f"batch.to(device, non_blocking=True)  # {pinned}",
        basis=_basis(case),
        effort=Effort.SWITCH,
        estimate=_overlapped(case, 0.4),
        fit=Fit.CAUSE,
    )


def _ahead(case: Case) -> Proposal:
    return Proposal(
        method="cuda-prefetch-stream",
        how="copy batch t+1 on a side stream while step t runs; then wait_stream(side) and record_stream",
        basis=_basis(case),
        effort=Effort.LINES,
        estimate=_overlapped(case, 0.85),
        fit=Fit.CAUSE,
    )


def _bound_to_socket(case: Case) -> Proposal:
    return Proposal(
        method="cpu-affinity-numa",
        knob="threads.affinity=split",
        how="numactl --cpunodebind=N --membind=N for each rank, N the NUMA node of its GPU (nvidia-smi topo -m)",
        basis="copies from the far socket reach a third to all of the near one's rate; this run's was not compared",
        effort=Effort.SWITCH,
        estimate=case.remaining(1 / 3, 0.7, 1.0),
        fit=Fit.CAUSE if case.cause in ("numa-binding", "slow-link") else Fit.KIND,
    )


def _fewer_bytes(case: Case) -> Proposal:
    return Proposal(
        method="uint8-transfer",
        how="send images as uint8, and convert and normalise on the device: x.to(device).float().div_(255)",
        basis="a quarter of the bytes, if they are 32-bit floats now",
        effort=Effort.LINES,
        estimate=case.remaining(QUARTER, 0.4, 1.0),
        fit=Fit.KIND,
    )

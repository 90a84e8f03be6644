"""How long the training thread was kept waiting for a free core: by its own workers and threads, or by neighbours."""

from __future__ import annotations

from .diagnosis.thresholds import NOTED_CORE_WAIT_SHARE
from .recording import RankRecording


def core_wait_share(recording: RankRecording) -> float | None:
    """Share of wall time between the first and the last reading; None where the system does not tell."""
    readings = [
        (int(fact["t"]), int(fact["core_wait_ns"]))
        for fact in recording.facts.get("cost", [])
        if isinstance(fact.get("core_wait_ns"), int) and fact["core_wait_ns"] >= 0
    ]
    if len(readings) < 2 or readings[-1][0] <= readings[0][0]:
        return None
    waited, passed = readings[-1][1] - readings[0][1], readings[-1][0] - readings[0][0]
    return min(max(waited / passed, 0.0), 1.0)


def caution(share: float | None) -> str | None:
    """A sentence for a run whose timings wander for want of cores; None where there is nothing to say."""
    if share is None or share < NOTED_CORE_WAIT_SHARE:
        return None
    return (
        f"The training thread waited {share:.0%} of the time for a free core: other processes, loader workers or "
        "threads were running on them, so these times are longer than on a free machine."
    )

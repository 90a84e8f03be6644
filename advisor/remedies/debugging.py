"""Debugging aids that were left on: they serialise the host with the device, or check each operator."""

from __future__ import annotations

from collections.abc import Iterator

from ..proposal import Case, Effort, Fit, Proposal

#: Anomaly detection slows a step by half to two and a half times in public reports (1.5, 2.5, 2.5).
ANOMALY_REMAINS = (0.4, 0.5, 0.85)
#: With CUDA_LAUNCH_BLOCKING the host never runs ahead, so that all its own time shows.
BLOCKING_REMAINS = (0.1, 0.4, 1.0)
CAUSES = frozenset(
    {"anomaly-detection", "anomaly-detection-left-on", "launch-blocking", "cuda-launch-blocking"}
)


def left_on(case: Case) -> Iterator[Proposal]:
    """Switching debugging off, where the run says that it is on."""
    anomaly = case.setup("torch.anomaly_mode") is True or "anomaly" in str(case.cause)
    blocking = case.setup("env.cuda_launch_blocking") is True or "launch-blocking" in str(case.cause)
    if not anomaly and not blocking:
        return
    named = "anomaly detection" if anomaly else "CUDA_LAUNCH_BLOCKING"
    how = (
        "take torch.autograd.set_detect_anomaly(True) (Lightning: detect_anomaly=True) out; use it only to find a NaN"
        if anomaly
        else "unset CUDA_LAUNCH_BLOCKING, in the shell and in the script's os.environ"
    )
    yield Proposal(
        method="disable-debug-apis",
        knob="debug.off=true",
        how=how,
        basis=f"{named} is on in this run; public reports tell of steps 1.5 to 2.5 times as fast without",
        effort=Effort.SWITCH,
        estimate=case.remaining(*(ANOMALY_REMAINS if anomaly else BLOCKING_REMAINS)),
        fit=Fit.CAUSE,
    )

"""What follows of a setup from the rest of a report, and what does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainrx.advisor.known_setup import known_setup
from trainrx.profiler.report import DeviceShares, MatrixUse, MemoryCurveInfo, MemoryUse, Report

DEVICE = DeviceShares(
    busy_share=0.9, compute_share=0.9, exposed_communication_share=0, exposed_copy_share=0, idle_share=0.1
)


def test_a_trace_tells_device_capability_precision_and_loader(make_report: Callable[..., Report]) -> None:
    report = make_report(
        setup={
            "vendor": "NVIDIA",
            "device": "NVIDIA A100-SXM4-80GB",
            "world_size": 1,
            "loader": "single-process",
        },
        device=DEVICE,
        matrix_use=MatrixUse(precision_shares={"bf16": 0.95, "fp32": 0.05}),
    )
    known = known_setup(report)
    assert known["device.kind"] == "cuda"
    assert known["device.capability"] == "8.0"
    assert known["precision"] == "bf16"
    assert known["loader.num_workers"] == 0
    assert known["nodes"] == 1


def test_what_was_told_stays(make_report: Callable[..., Report]) -> None:
    report = make_report(setup={"device.kind": "rocm", "vendor": "NVIDIA"}, device=DEVICE)
    assert known_setup(report)["device.kind"] == "rocm"


def test_mixed_precisions_and_unknown_devices_stay_unknown(make_report: Callable[..., Report]) -> None:
    report = make_report(
        setup={"device": "Accelerator X"}, matrix_use=MatrixUse(precision_shares={"bf16": 0.5, "fp32": 0.5})
    )
    assert not {"precision", "device.capability", "device.kind", "nodes"} & set(known_setup(report))


def test_headroom_comes_from_the_peak(make_report: Callable[..., Report]) -> None:
    memory = MemoryCurveInfo(peak_allocated_bytes=60, peak_reserved_bytes=75)
    report = make_report(setup={"device.memory_bytes": 100}, memory=memory)
    assert known_setup(report)["memory.headroom"] == pytest.approx(0.25)
    relative = memory.model_copy(update={"relative": True})
    assert "memory.headroom" not in known_setup(report.model_copy(update={"memory": relative}))


@pytest.mark.parametrize(
    ("setup", "on_device", "headroom"),
    [
        ({"device.kind": "cpu"}, False, 0.8),
        ({"device.kind": "cpu", "world_size": 2}, False, 0.6),  # ranks share the machine
        ({"device.kind": "cuda"}, False, None),  # the process's memory is not the device's
        ({"device.kind": "cuda"}, True, 0.8),
    ],
)
def test_headroom_of_a_cpu_is_that_of_the_process(
    make_report: Callable[..., Report], setup: dict[str, object], on_device: bool, headroom: float | None
) -> None:
    use = MemoryUse(on_device=on_device, peak_bytes=20, limit_bytes=100)
    known = known_setup(make_report(setup=setup, memory_use=use))
    assert known.get("memory.headroom") == (None if headroom is None else pytest.approx(headroom))

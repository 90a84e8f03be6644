"""Operations per second and their share of the ceiling; each missing piece has its own reason."""

from collections.abc import Callable
from typing import Any

import pytest

from trainrx.app.views.compute import compute_line
from trainrx.profiler.calibration import Ceilings, MatmulRate, kept_ceilings, machine_key
from trainrx.profiler.compute import compute
from trainrx.profiler.recording import RankRecording
from trainrx.profiler.report import Compute, StepTime

Make = Callable[..., RankRecording]
STEP = StepTime(p50_s=0.1, p95_s=0.1, mean_s=0.1, n=40)
SETUP = {"device.kind": "cpu", "precision": "fp32", "cpu.threads": 2, "torch.matmul_precision": "highest"}
RATES = [
    MatmulRate(device="cpu", dtype="float32", threads=2, flops_per_s=4e10),
    MatmulRate(device="cuda", dtype="float32", flops_per_s=5e13),
    MatmulRate(device="cuda", dtype="tfloat32", flops_per_s=4e14),
    MatmulRate(device="cuda", dtype="bfloat16", flops_per_s=8e14),
]
CEILINGS = Ceilings(machine="here", torch="2", taken="now", seconds=1, matmul=RATES)


def computed(make: Make, *, flops: Any = 1e9, recorded_on: str | None = None, **setup: Any) -> Compute:
    recording = make([], facts={"flops": [{"flops": flops}]})
    changed = {**SETUP, **{name.replace("__", "."): value for name, value in setup.items()}}
    return compute(recording, STEP, changed, recorded_on=recorded_on or machine_key(), ceilings=CEILINGS)


def test_on_a_cpu(make_recording: Make) -> None:
    found = computed(make_recording)
    assert found.achieved_flops == pytest.approx(1e10) and found.mfu == pytest.approx(0.25)
    assert found.ceiling == "float32 matrix products on cpu with 2 threads" and found.reason is None
    assert compute_line(found) == "model 1 GFLOP a step, 10 GFLOP/s, 25 % of the best measured here (MFU)"


@pytest.mark.parametrize(
    ("setup", "ceiling"),
    [
        ({"precision": "bf16"}, 8e14),
        ({"precision": "fp32"}, 5e13),
        ({"precision": "fp32", "torch__matmul_precision": "high"}, 4e14),
    ],
)
def test_on_a_device_by_precision(make_recording: Make, setup: dict[str, Any], ceiling: float) -> None:
    found = computed(make_recording, flops=1e12, device__kind="cuda", **setup)
    assert found.ceiling_flops == ceiling and found.mfu == pytest.approx(1e13 / ceiling)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"precision": None}, "numeric type"),
        ({"precision": "fp16"}, "ceiling for float16"),
        ({"cpu__threads": 64}, "trainrx check --calibrate"),
        ({"recorded_on": "another"}, "another machine"),
        ({"flops": 1e12}, "quiet machine"),
    ],
)
def test_no_share_without_its_ceiling(make_recording: Make, changes: dict[str, Any], reason: str) -> None:
    found = computed(make_recording, **changes)
    assert found.mfu is None and found.achieved_flops and reason in str(found.reason)
    assert "MFU" not in str(compute_line(found))


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({}, "--light"),
        ({"flops": [{"reason": "the script uses torch.compile"}]}, "torch.compile"),
        ({"flops": [{"flops": 0}]}, "no matrix product"),
        ({"flops": [{"flops": "many"}]}, "no matrix product"),
        ({"flops": [{"reason": 7}]}, "not counted"),
    ],
)
def test_nothing_counted_is_a_reason(make_recording: Make, facts: dict[str, Any], reason: str) -> None:
    found = compute(make_recording([], facts=facts), STEP, SETUP, recorded_on=None)
    assert found.flops_per_step is None and reason in str(found.reason) and compute_line(found) is None


def test_an_uncalibrated_machine_is_told_how(
    make_recording: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("TRAINRX_CALIBRATION", str(tmp_path))
    assert kept_ceilings() is None
    recording = make_recording([], facts={"flops": [{"flops": 1e9}]})
    found = compute(recording, STEP, SETUP, recorded_on=machine_key())
    assert "trainrx check --calibrate" in str(found.reason)

"""The ceilings of this machine: measured, kept, found again, and left out with a reason where they cannot be."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from trainrx.app.cli import app
from trainrx.profiler.calibration import (
    Ceilings,
    MatmulRate,
    Rate,
    calibrate,
    copies,
    kept,
    matmul,
    measuring,
)
from trainrx.profiler.calibration.kept import keep, kept_ceilings


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(kept.FOLDER_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes that take no time."""
    monkeypatch.setattr(matmul, "CPU_SIZE", 32)
    monkeypatch.setattr(copies, "MEMORY_BYTES", 1 << 20)
    monkeypatch.setattr(copies, "DISK_BYTES", 1 << 20)


def ceilings(**changes: Any) -> Ceilings:
    fields = {"machine": kept.machine(), "torch": "2", "taken": "2026-01-01T00:00:00+00:00", "seconds": 1.0}
    return Ceilings(**fields | changes)


def test_this_machine_is_measured_and_found_again(small: None, tmp_path: Path) -> None:
    # GIVEN a folder of runs that does not exist yet
    threads = torch.get_num_threads()
    told: list[str] = []
    # WHEN the machine is calibrated
    found = calibrate(tmp_path / "runs" / "deep", on_progress=told.append)
    # THEN every ceiling is there or has its reason, the result is kept, and torch and the disk are as before
    assert {(rate.device, rate.dtype) for rate in found.matmul} >= {("cpu", "float32"), ("cpu", "bfloat16")}
    names = {rate.name for rate in found.rates}
    assert {"memory copy", "disk write", "disk read", "gloo all-reduce, 2 processes"} <= names
    assert next(rate for rate in found.rates if "gloo" in rate.name).latency_s
    assert torch.cuda.is_available() or found.unavailable == {"host to device": "torch sees no GPU"}
    assert told == ["matmul", "memory copy", "host to device", "disk", "all-reduce"]
    assert kept_ceilings() == found
    assert torch.get_num_threads() == threads and not torch.distributed.is_initialized()
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_what_fails_is_left_out_with_its_reason(
    small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "SPARE_BYTES", 1 << 62)
    monkeypatch.setattr(sys, "executable", "/bin/true")
    monkeypatch.setattr("trainrx.profiler.calibration.all_reduce.PATIENCE", measuring_patience())
    found = calibrate(tmp_path)
    assert "are free in" in found.unavailable["disk"] and "all-reduce" in found.unavailable
    assert {rate.name for rate in found.rates} == {"memory copy"}


def measuring_patience() -> Any:
    from datetime import timedelta

    return timedelta(milliseconds=200)


def test_a_part_that_fails_midway_keeps_what_came_before() -> None:
    def rates() -> Any:
        yield 1
        raise OSError("the disk is full\nand more")

    attempts = measuring._Attempts(lambda what: None)
    assert attempts.measure("disk", rates) == [1] and attempts.unavailable == {"disk": "the disk is full"}


def test_ceilings_of_another_machine_or_a_damaged_file_are_none(own_cache: Path) -> None:
    assert kept_ceilings() is None
    path = keep(ceilings())
    assert path is not None and kept_ceilings() is not None
    keep(ceilings(machine="another"))
    assert kept_ceilings() is None
    for text in ("", "[]", '{"machine": 3}', "\xff"):
        path.write_text(text)
        assert kept_ceilings() is None


def test_a_cache_that_cannot_be_written_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(kept.FOLDER_VARIABLE, str(tmp_path / "file"))
    assert keep(ceilings()) is None


def product(threads: int | None, flops: float, device: str = "cpu", dtype: str = "float32") -> MatmulRate:
    return MatmulRate(device=device, dtype=dtype, threads=threads, flops_per_s=flops)


@pytest.mark.parametrize(
    ("device", "dtype", "threads", "flops"),
    [
        ("cpu", "float32", 1, 10.0),
        ("cpu", "float32", 2, 18.0),
        ("cpu", "float32", 3, 30.0),
        ("cpu", "float32", 4, 30.0),
        ("cpu", "float32", 64, None),
        ("cpu", "float16", 1, None),
        ("cuda", "bfloat16", None, 900.0),
    ],
)
def test_the_ceiling_for_a_run(device: str, dtype: str, threads: int | None, flops: float | None) -> None:
    rates = [product(1, 10), product(2, 18), product(4, 30), product(None, 900, "cuda", "bfloat16")]
    found = ceilings(matmul=rates).matmul_rate(device=device, dtype=dtype, threads=threads)
    assert (found.flops_per_s if found else None) == flops


def test_more_threads_that_were_slower_in_a_noisy_moment_are_no_lower_ceiling() -> None:
    found = ceilings(matmul=[product(1, 40), product(2, 13)]).matmul_rate(
        device="cpu", dtype="float32", threads=2
    )
    assert found is not None and found.flops_per_s == 40


@given(st.integers(1, 300))
def test_thread_counts_begin_at_one_and_end_with_all_cores(cores: int) -> None:
    counts = matmul.thread_counts(cores)
    assert counts[0] == 1 and counts[-1] == cores and counts == sorted(set(counts))


def test_check_prints_them_as_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = [
        Rate(name="memory copy", bytes_per_s=5e9),
        Rate(name="all-reduce", bytes_per_s=1e9, latency_s=1e-4),
    ]
    told = ceilings(
        matmul=[product(2, 4.2e10)], rates=rates, unavailable={"host to device": "torch sees no GPU"}
    )
    monkeypatch.setattr("trainrx.profiler.calibration.calibrate", lambda runs, on_progress: told)
    document = json.loads(CliRunner().invoke(app, ["check", "--calibrate", "--json"]).stdout)
    assert document["calibration"]["matmul"][0]["flops_per_s"] == 4.2e10
    assert {item["name"] for item in document["capabilities"]} >= {"recorder", "host"}
    shown = CliRunner().invoke(app, ["check", "--calibrate"]).stdout
    assert (
        "42.0 GFLOP/s" in shown and "100 µs at least" in shown and "not measured: torch sees no GPU" in shown
    )
    assert isinstance(json.loads(CliRunner().invoke(app, ["check", "--json"]).stdout), list)

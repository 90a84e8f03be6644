"""A recorded run whose deep window saw a device: the device view joins the report, and the host is not blamed for waiting."""

import json
import shutil
from pathlib import Path

import numpy as np

from trainrx.advisor.replayed import with_what_ifs
from trainrx.profiler.agent import format as layout
from trainrx.profiler.analysis import analyse
from trainrx.profiler.store import Manifest, RunFolder
from trainrx.profiler.vocabulary import Kind, RunStatus

MS = 1_000_000
GPU_BOUND = "facebookresearch__HolisticTraceAnalysis/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"
LOADER_BOUND = "pytorch__kineto/resnet50_num_workers_0.worker0.1623143089861.pt.trace.json.gz"


def a_run(path: Path, trace: Path, *, waiting: int) -> RunFolder:
    """Eight steps of 100 ms on a GPU machine: ``waiting`` ms of data wait, the rest host code that waits for the device."""
    folder = path / "ranks" / "0"
    folder.mkdir(parents=True)
    spans = [
        record
        for at in range(1, 9)
        for record in (
            (layout.STEP, at * 100 * MS, (at + 1) * 100 * MS, 1),
            (layout.DATA_WAIT, at * 100 * MS, at * 100 * MS + waiting * MS, 1),
        )
    ]
    (folder / layout.SPANS_FILE).write_bytes(np.array(spans, dtype="<i8").tobytes())
    fact = {"t": 1, "fact": "process", "pid": 7, "rank": None, "device_kind": "cuda", "device_name": "V100"}
    (folder / layout.FACTS_FILE).write_text(json.dumps(fact) + "\n")
    shutil.copy(trace, folder / layout.TRACE_FILE)
    run = RunFolder(path)
    run.write_manifest(
        Manifest(
            id="run", command=["python", "train.py"], cwd="/", started="2026-01-01T00:00:00+00:00",
            status=RunStatus.STOPPED, exit_code=0,
        )
    )  # fmt: skip
    return run


def test_host_code_that_waits_for_a_busy_device_is_not_blamed(tmp_path: Path, shared: Path) -> None:
    report = analyse(a_run(tmp_path / "run", shared / GPU_BOUND, waiting=0)).report
    assert report.device is not None and report.device.busy_share > 0.9
    assert report.findings[0].kind is Kind.COMPUTE
    assert all(
        finding.share <= report.device.idle_share
        for finding in report.findings
        if finding.kind is Kind.HOST_PYTHON
    )
    assert report.kernel_classes


def test_waiting_for_data_is_held_to_the_devices_idle_time(tmp_path: Path, shared: Path) -> None:
    report = analyse(a_run(tmp_path / "run", shared / LOADER_BOUND, waiting=70)).report
    assert report.device is not None and report.findings[0].kind is Kind.DATA_LOADING
    assert report.findings[0].share <= report.device.idle_share


def test_the_window_is_replayed_for_what_ifs(tmp_path: Path, shared: Path) -> None:
    run = a_run(tmp_path / "run", shared / LOADER_BOUND, waiting=70)
    changes = {one.change: one for one in with_what_ifs(analyse(run).report, run.path).what_ifs}
    removed = changes["data wait removed"]
    assert removed.bound_step_s <= removed.predicted_step_s < removed.measured_step_s


def test_a_window_that_cannot_be_read_is_a_note(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_bytes(b"\x1f\x8bno gzip")
    report = analyse(a_run(tmp_path / "run", trace, waiting=70)).report
    assert report.device is None and report.device_reason is not None
    assert any("deep window could not be read" in note for note in report.recorder.notes)

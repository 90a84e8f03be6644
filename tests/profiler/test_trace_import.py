"""Importing traces into run folders, and exporting steps from them."""

from __future__ import annotations

import errno
import gzip
import itertools
import json
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from trainrx.profiler.agent.format import TRACE_FILE
from trainrx.profiler.errors import InputError, UsageError
from trainrx.profiler.ingest.column_store import read_columns
from trainrx.profiler.ingest.kineto import read_kineto
from trainrx.profiler.report import Report, parse_report
from trainrx.profiler.store import RunFolder
from trainrx.profiler.timeline.rank_pool import process_pool
from trainrx.profiler.trace_export import export_steps, parse_steps
from trainrx.profiler.trace_import import import_traces
from trainrx.profiler.vocabulary import RunStatus, Stage


def event(
    category: str, name: str, start: float, duration: float, tid: int = 1, **args: Any
) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 1,
        "tid": tid,
        "ts": start,
        "dur": duration,
        "args": args,
    }


def training(rank: int | None, *, arrives: float = 100, steps: int = 2) -> dict[str, Any]:
    """Steps of 1000 microseconds: 600 of them compute, then an all-reduce that ends at 900."""
    events: list[dict[str, Any]] = []
    for step in range(steps):
        at = 1000.0 * step
        number = 2 * step
        events += [
            event("user_annotation", f"ProfilerStep#{step}", at, 1000),
            event("cpu_op", "aten::mm", at, 20),
            event("cuda_runtime", "cudaLaunchKernel", at + 5, 5, correlation=number),
            event("kernel", "gemm", at + 20, 580, tid=7, device=0, stream=7, correlation=number),
            event("cuda_runtime", "cudaLaunchKernel", at + 12, 5, correlation=number + 1),
            event("kernel", "ncclDevKernel_AllReduce", at + 600 + arrives, 300 - arrives, tid=8, device=0, stream=8,
                  correlation=number + 1),
        ]  # fmt: skip
    head = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 3}}
    return {"traceEvents": events} | head


def written(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for rank, arrives in enumerate((10.0, 250.0, 20.0)):
        written(tmp_path / "traces" / f"{rank}.json", training(rank, arrives=arrives))
    return tmp_path / "traces"


def imported(tmp_path: Path, *paths: str | Path, **options: Any) -> tuple[Report, Path]:
    return import_traces(list(paths), tmp_path / "runs", command=["trainrx", "import"], **options)


def test_one_trace_becomes_a_run(tmp_path: Path) -> None:
    report, run = imported(tmp_path, written(tmp_path / "a.json", training(None)))
    assert parse_report((run / "report.json").read_bytes(), source="report.json") == report
    assert report.run.status is RunStatus.IMPORTED
    assert report.run.source == "kineto"
    assert report.step_time is not None
    assert report.step_time.p50_s == pytest.approx(0.001)
    assert report.device is not None
    device = report.device
    assert device.compute_share == pytest.approx(0.58)
    assert device.exposed_communication_share == pytest.approx(0.2)
    assert sum(device.idle_causes.values()) == pytest.approx(device.idle_share)
    assert (
        device.compute_share
        + device.exposed_communication_share
        + device.exposed_copy_share
        + device.idle_share
        == (pytest.approx(1))
    )
    assert sum(stage.share for stage in report.stages) == pytest.approx(1)
    assert [step.number for step in report.device_steps] == [0, 1]
    assert json.loads((run / "run.json").read_bytes())["status"] == "imported"
    assert len(read_columns(run / "ranks" / "0" / "trace").device) == 4
    assert list((tmp_path / "runs").iterdir()) == [run]


def test_a_folder_is_one_run_of_many_ranks_and_the_late_one_is_named(tmp_path: Path, folder: Path) -> None:
    report, run = imported(tmp_path, folder)
    assert [rank.rank for rank in report.ranks] == [0, 1, 2]
    assert report.collectives is not None
    assert report.collectives.late_rank == 1
    assert report.collectives.matched == 2
    assert {rank.rank: rank.collectives.times_last for rank in report.ranks if rank.collectives} == {
        0: 0,
        1: 2,
        2: 0,
    }
    assert "rank 1" in report.verdict
    assert sorted(path.name for path in (run / "ranks").iterdir()) == ["0", "1", "2"]


def test_ranks_come_out_the_same_through_an_executor(tmp_path: Path, folder: Path) -> None:
    alone, _ = imported(tmp_path, folder)
    with ThreadPoolExecutor(2) as pool:
        pooled, _ = imported(tmp_path, folder, executor=pool)
    assert pooled.model_copy(update={"run": alone.run}) == alone


class Counting(Executor):
    """Runs nothing until it is asked for more than it was promised at a time."""

    _max_workers = 1

    def __init__(self) -> None:
        self.most = 0
        self.open: list[tuple[Future[Any], Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.open.append((future, (fn, args)))
        self.most = max(self.most, len(self.open))
        if len(self.open) == 2:
            for waiting, (call, given) in self.open:
                waiting.set_result(call(*given))
            self.open.clear()
        return future


def test_only_a_bounded_number_of_files_is_in_flight(tmp_path: Path) -> None:
    for rank in range(10):
        written(tmp_path / "many" / f"{rank}.json", training(rank))
    pool = Counting()
    report, _ = imported(tmp_path, tmp_path / "many", executor=pool)
    assert len(report.ranks) == 10
    assert pool.most == 2


class Elsewhere(ThreadPoolExecutor):
    """Workers whose disk is not this machine's."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        task = args[0]
        away = task.columns.parent.parent.parent / "away" / task.columns.name
        return super().submit(fn, replace(task, columns=away))


class Ended(Executor):
    """Its processes are killed, as the kernel does where memory runs out."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(BrokenProcessPool("a process was terminated abruptly"))
        return future


def test_a_reading_process_that_is_ended_is_one_sentence(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InputError, match="a reading process was ended, perhaps for want of memory"):
        imported(tmp_path, folder, executor=Ended())


def full(*args: Any, **kwargs: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    "place",
    [
        "trace_import.tempfile.TemporaryDirectory",
        "trace_import.shutil.move",
        "timeline.rank_pool.write_columns",
    ],
)
def test_a_full_disk_is_one_sentence(
    tmp_path: Path, folder: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"trainrx.profiler.{place}", full)
    with pytest.raises(UsageError, match="No space left on device: choose another place with --runs DIR"):
        imported(tmp_path, folder)


def test_runs_that_are_no_folder_are_one_sentence(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(UsageError, match="cannot write to"):
        imported(tmp_path, folder)


def test_a_pool_has_a_process_for_each_core_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainrx.profiler.calibration.kept.usable_cores", lambda: 3)
    pool: Any = process_pool()
    with pool:
        assert pool._max_workers == 3


def test_columns_on_another_machine_are_told_of(tmp_path: Path, folder: Path) -> None:
    with Elsewhere(1) as pool:
        report, run = imported(tmp_path, folder, executor=pool, workers=3)
    assert len(report.ranks) == 3
    assert any("columns of 3 files are not kept" in note for note in report.recorder.notes)
    assert not (run / "ranks").exists()


def test_a_remote_folder_gives_the_same_report(tmp_path: Path, folder: Path) -> None:
    memory: Any = pytest.importorskip("fsspec.implementations.memory", reason="fsspec comes with an extra")
    store = memory.MemoryFileSystem()
    store.pipe({f"/far/{path.name}": path.read_bytes() for path in folder.iterdir()})
    near, _ = imported(tmp_path, folder)
    far, run = imported(tmp_path, "memory://far")
    assert far.stages == near.stages
    assert far.collectives == near.collectives
    assert [rank.source for rank in far.ranks] == [f"memory:///far/{rank}.json" for rank in range(3)]
    sources = json.loads((run / "run.json").read_bytes())["sources"]
    assert sources == {str(rank): f"memory:///far/{rank}.json" for rank in range(3)}
    assert len(read_columns(run / "ranks" / "0" / "trace").device) == 4


def test_a_remote_file_that_is_no_trace_is_refused_by_its_address(tmp_path: Path) -> None:
    memory: Any = pytest.importorskip("fsspec.implementations.memory", reason="fsspec comes with an extra")
    memory.MemoryFileSystem().pipe("/notes/notes.txt", b"hello")
    with pytest.raises(InputError, match=r"^memory://notes/notes\.txt is a text file"):
        imported(tmp_path, "memory://notes/notes.txt")


def test_files_of_a_folder_that_are_no_traces_are_left_out_with_a_note(tmp_path: Path, folder: Path) -> None:
    (folder / "README.md").write_text("about these traces")
    report, _ = imported(tmp_path, folder)
    assert len(report.ranks) == 3
    assert any("README.md" in note for note in report.recorder.notes)


def test_a_named_file_must_be_readable(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(InputError, match=r"notes\.txt is a text file"):
        imported(tmp_path, folder / "0.json", tmp_path / "notes.txt")
    assert list((tmp_path / "runs").iterdir()) == []


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_nothing_to_read_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"does not exist|holds no file"):
        imported(tmp_path, tmp_path / name)


def test_a_memory_recording_beside_a_trace_gives_its_curve(tmp_path: Path) -> None:
    written(tmp_path / "both" / "t.json", training(0))
    written(tmp_path / "both" / "memory.json", [[-1, 1, 500, 7], [100, 2, 400, 0]])
    report, _ = imported(tmp_path, tmp_path / "both")
    assert report.memory is not None
    assert report.memory.peak_allocated_bytes == 900
    assert report.run.source == "kineto+memory-timeline"


def test_without_a_timeline_the_report_says_what_there_is(tmp_path: Path) -> None:
    report, _ = imported(tmp_path, written(tmp_path / "m.json", [[-1, 1, 2**30, 7]]))
    assert report.verdict.startswith("Not enough evidence: there is no timeline")
    assert "1.00 GiB" in report.verdict
    assert report.device is None
    assert report.device_reason


def test_two_imports_of_one_second_are_two_runs(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", training(None))
    assert len({imported(tmp_path, path)[1] for _ in range(3)}) == 3


def test_columns_may_be_left_out(tmp_path: Path) -> None:
    _, run = imported(tmp_path, written(tmp_path / "a.json", training(None)), keep_columns=False)
    assert not list(run.glob("ranks/*/trace"))
    assert export_steps(run, tmp_path / "out.json", steps="1") > 0


def test_exported_steps_read_back(tmp_path: Path, folder: Path) -> None:
    _, run = imported(tmp_path, folder)
    export_steps(run, tmp_path / "out.json.gz", steps="1:1", rank=2)
    trace = read_kineto(tmp_path / "out.json.gz")
    assert trace.info.rank == 2
    assert [name for name in trace.names if name.startswith("ProfilerStep")] == ["ProfilerStep#1"]
    assert len(trace.device) == 2


def test_a_rank_or_run_that_is_not_there_is_refused(tmp_path: Path, folder: Path) -> None:
    _, run = imported(tmp_path, folder)
    with pytest.raises(UsageError, match="ranks 0, 1, 2"):
        export_steps(run, tmp_path / "out.json", rank=9)
    with pytest.raises(InputError, match="is no run with a trace"):
        export_steps(tmp_path / "traces", tmp_path / "out.json")


def test_steps_of_a_recorded_run_are_exported(tmp_path: Path) -> None:
    # GIVEN what `trainrx profile` leaves: a trace that torch wrote beside the spans of each rank
    for rank in (0, 1):
        path = tmp_path / "run" / "ranks" / str(rank) / TRACE_FILE
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.compress(json.dumps(training(rank)).encode()))

    # WHEN steps of one rank are exported
    export_steps(tmp_path / "run", tmp_path / "out.json", steps="1", rank=1)

    # THEN they are that rank's
    trace = read_kineto(tmp_path / "out.json")
    assert trace.info.rank == 1
    assert [name for name in trace.names if name.startswith("ProfilerStep")] == ["ProfilerStep#1"]


@pytest.mark.parametrize(("text", "steps"), [("3", (3, 3)), ("3:5", (3, 5)), (" 3 : 5 ", (3, 5))])
def test_steps_are_parsed(text: str, steps: tuple[int, int]) -> None:
    assert parse_steps(text) == steps


@pytest.mark.parametrize("text", ["", "a", "5:3", "1:2:3", "-1", "1:"])
def test_other_steps_are_usage_errors(text: str) -> None:
    with pytest.raises(UsageError, match="--steps"):
        parse_steps(text)


def test_kernels_of_the_compiler_tell_that_the_model_is_compiled(tmp_path: Path) -> None:
    # GIVEN a trace with kernels that torch.compile made, and one without
    eager, compiled = training(0), training(0)
    for one in compiled["traceEvents"]:
        one["name"] = one["name"].replace("gemm", "triton_poi_fused_addmm_relu_0")
    # WHEN they are imported THEN the setup knows the one, and leaves the other open
    for document, told in ((compiled, True), (eager, None)):
        report, _ = imported(tmp_path, written(tmp_path / f"{told}.json", document))
        assert report.setup.get("model.compiled") is told


def test_steps_of_a_trace_without_a_device_are_a_table(tmp_path: Path, folder: Path) -> None:
    # GIVEN a trace of a training on the processor, whose third step takes four times as long
    ends = [0.0, 1000.0, 2000.0, 6000.0, 7000.0]
    events = [
        event("user_annotation", f"ProfilerStep#{step}", at, end - at)
        for step, (at, end) in enumerate(itertools.pairwise(ends))
    ] + [event("cpu_op", "aten::mm", at, 500) for at in ends[:-1]]
    _, run = imported(tmp_path, written(tmp_path / "cpu.json", {"traceEvents": events}))
    # THEN its steps are laid down as a recorder's are
    steps = RunFolder(run).steps()
    assert steps is not None
    assert steps["duration_s"].tolist() == pytest.approx([0.001, 0.001, 0.004, 0.001])
    assert steps["outlier"].tolist() == [False, False, True, False]
    assert set(steps["phase"]) == {"timed"} and set(steps.columns) >= {stage.value for stage in Stage}
    # AND where there is a device, the report has its view of each step instead
    report, run = imported(tmp_path, folder / "0.json")
    assert RunFolder(run).steps() is None and report.device_steps

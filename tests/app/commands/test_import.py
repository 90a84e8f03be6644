"""The commands that read and write traces, as a user calls them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from trainrx.app.cli import app
from trainrx.app.terminal.bars import BAR_WIDTH, device_bar
from trainrx.app.terminal.report import render
from trainrx.profiler.errors import InputError, UsageError
from trainrx.profiler.report import DeviceShares, parse_report
from trainrx.profiler.vocabulary import IdleCause


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    events: list[dict[str, Any]] = [
        {
            "ph": "X",
            "cat": "user_annotation",
            "name": "ProfilerStep#1",
            "pid": 1,
            "tid": 1,
            "ts": 0,
            "dur": 1000,
        },
        {"ph": "X", "cat": "user_annotation", "name": loader, "pid": 1, "tid": 1, "ts": 0, "dur": 500},
        {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 500, "dur": 500},
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def run(*arguments: object, tmp_path: Path) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments), "--runs", str(tmp_path / "runs")])


def test_import_prints_the_verdict_and_tables(trace: Path, tmp_path: Path) -> None:
    result = run("import", trace, tmp_path=tmp_path)
    assert result.exit_code == 0
    verdict = result.stdout.strip().splitlines()[0]
    assert verdict.startswith("Data loading: for 50 % of the time the device is idle in the single-process")
    for text in ("idle: data 50 %", "compute 50 %", "kernels", "matmul", "data wait", "What to try"):
        assert text in result.stdout


def test_json_is_exactly_one_report_on_stdout(trace: Path, tmp_path: Path) -> None:
    result = run("import", trace, "--json", tmp_path=tmp_path)
    report = parse_report(result.stdout, source="stdout")
    assert report.findings[0].kind.value == "data-loading"
    assert json.loads(result.stdout)["schema_version"] == 1


def test_a_file_that_cannot_tell_ends_with_4(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(
        '[{"ph": "X", "cat": "cuda_runtime", "name": "cudaMalloc", "ts": 0, "dur": 5, "pid": 1, "tid": 1}]'
    )
    result = run("import", path, tmp_path=tmp_path)
    assert result.exit_code == 4
    assert "Not enough evidence" in result.stdout


def test_errors_are_raised_for_the_frame_to_catch(tmp_path: Path) -> None:
    assert isinstance(run("import", tmp_path / "nothing", tmp_path=tmp_path).exception, InputError)


def test_the_command_itself_ends_with_3_and_one_sentence(tmp_path: Path) -> None:
    code = "import sys; from trainrx.app.cli import main; sys.argv[0] = 'trainrx'; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "import", str(tmp_path / "nothing")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "does not exist" in done.stderr


def test_export_writes_a_file_that_imports_again(trace: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json.gz"
    result = CliRunner().invoke(app, ["export", str(trace), "--steps", "1", "-o", str(target)])
    assert result.exit_code == 0
    assert run("import", target, tmp_path=tmp_path).exit_code == 0


@pytest.mark.parametrize("whole", [False, True], ids=["last", "id"])
def test_export_takes_a_run_by_its_name(trace: Path, tmp_path: Path, whole: bool) -> None:
    run("import", trace, tmp_path=tmp_path)
    (found,) = (tmp_path / "runs").iterdir()
    target = tmp_path / "out.json"
    words = ["export", found.name if whole else "last", "-o", str(target), "--runs", str(tmp_path / "runs")]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert target.is_file()


def test_what_is_neither_trace_nor_run_is_said(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["export", "gone.json", "-o", "x.json", "--runs", str(tmp_path)])
    assert isinstance(result.exception, InputError)
    assert str(result.exception).startswith("gone.json is not a trace file, and no run called gone.json")


def test_the_device_bar_has_one_cell_per_share_and_all_of_them() -> None:
    device = DeviceShares(
        busy_share=0.667,
        compute_share=0.333,
        exposed_communication_share=0.333,
        exposed_copy_share=0.001,
        idle_share=0.333,
        idle_causes={IdleCause.DATA: 0.332, IdleCause.SYNC: 0.001},
    )
    assert device_bar(device).plain.count("█") == BAR_WIDTH


def test_a_report_without_anything_still_prints() -> None:
    text = '{"schema_version": 1, "run": {"id": "x", "command": [], "status": "imported"}, "verdict": "Nothing."}'
    console = Console(record=True, width=100, file=io.StringIO())
    console.print(render(parse_report(text, source="x"), Path("run")))
    assert "Nothing." in console.export_text()


def test_an_executor_of_no_known_form_is_refused(trace: Path, tmp_path: Path) -> None:
    result = run("import", trace, "--executor", "here", tmp_path=tmp_path)
    assert isinstance(result.exception, UsageError)
    assert "give dask://HOST:PORT" in str(result.exception)


def test_an_import_loads_nothing_heavy_that_it_does_not_use(trace: Path, tmp_path: Path) -> None:
    code = (
        "import json, sys\n"
        "from trainrx.app.cli import app\n"
        "app(standalone_mode=False)\n"
        "json.dump(sorted(sys.modules), sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "import", str(trace), "--runs", str(tmp_path / "runs")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    unused = {
        "torch",
        "pandas",
        "scipy",
        "plotly",
        "streamlit",
        "psutil",
        "libcst",
        "rich.progress",
        "numpy.ma",
    }
    assert not unused & set(json.loads(done.stderr))

"""Reading a rank's folder: torn, missing, damaged and hostile files give what is whole, and never a traceback."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainrx.profiler.agent import format as layout
from trainrx.profiler.analysis import analyse
from trainrx.profiler.errors import InputError
from trainrx.profiler.recorder_cost import IN_A_STEP
from trainrx.profiler.recording import Frame, read_rank, read_ranks
from trainrx.profiler.report import parse_report
from trainrx.profiler.store import Manifest, RunFolder
from trainrx.profiler.vocabulary import RunStatus

MS = 1_000_000
STEP_SPANS = [
    record
    for at in range(1, 9)
    for record in (
        (layout.STEP, at * 100 * MS, (at + 1) * 100 * MS, 1),
        (layout.DATA_WAIT, at * 100 * MS, at * 100 * MS + 80 * MS, 1),
        (layout.FORWARD, at * 100 * MS + 80 * MS, at * 100 * MS + 90 * MS, 0),
    )
]
FACTS: list[dict[str, Any]] = [
    {"t": 1, "fact": "process", "pid": 7, "rank": None, "agent": "/agent", "library": "/lib", "device_kind": "cpu"},
    {"t": 2, "fact": "span_cost", "seconds": 1e-6},
    {"t": 3, "fact": "loader", "number": 1, "num_workers": 0, "batch_size": 8},
    {"t": 4, "fact": "optimizer", "number": 2, "type": "SGD", "tensors": 4, "parameters": 100},
    {"t": 5, "fact": "stack", "number": 0, "frames": [["/home/me/train.py", 3, "load"]]},
    {"t": 6, "fact": "note", "text": "a note"},
    {"t": 900 * MS, "fact": "cost", "thread_cpu_s": 0.001, "spans": 24, "samples": 1},
    {"t": 8, "fact": "end", "reason": "stopped", "steps": 8},
]  # fmt: skip


def write_rank(folder: Path, *, facts: bytes | None = None, spans: bytes | None = None) -> Path:
    """A whole rank folder, with parts replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = b"".join(json.dumps(fact).encode() + b"\n" for fact in FACTS)
    (folder / layout.FACTS_FILE).write_bytes(lines if facts is None else facts)
    whole = np.array(STEP_SPANS, dtype="<i8").tobytes()
    (folder / layout.SPANS_FILE).write_bytes(whole if spans is None else spans)
    (folder / layout.SAMPLES_FILE).write_bytes(np.array([(750 * MS, 0)], dtype="<i8").tobytes())
    return folder


def write_run(path: Path, **manifest: Any) -> RunFolder:
    path.mkdir(parents=True, exist_ok=True)
    run = RunFolder(path)
    fields = {
        "id": "run", "command": ["python", "train.py"], "cwd": "/", "started": "2026-01-01T00:00:00+00:00",
        "status": RunStatus.FINISHED, "exit_code": 0, **manifest,
    }  # fmt: skip
    run.write_manifest(Manifest(**fields))
    return run


def test_a_whole_folder_is_read(tmp_path: Path) -> None:
    recording = read_rank(write_rank(tmp_path / "0"))
    assert (recording.rank, recording.end_reason, recording.fault) == (0, "stopped", None)
    assert recording.spans.shape == (24, 4)
    assert recording.stacks == {0: (Frame("/home/me/train.py", 3, "load"),)}
    assert len(recording.of_code(layout.STEP, layout.DATA_WAIT)) == 16


def test_the_analysis_of_a_whole_folder_uses_all_of_it(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    write_rank(tmp_path / "ranks" / "0")
    report = analyse(run).report
    assert report.findings[0].kind == "data-loading" and report.findings[0].where[0].line == 3
    assert report.setup["loader.num_workers"] == 0 and report.setup["optimizer.name"] == "sgd"
    assert report.recorder.notes == ["a note"]
    # 1 ms of CPU in 900 ms, and three spans of 1 µs, which costs more in a step, in each step of 100 ms
    assert report.recorder.overhead_share == pytest.approx(0.001 / 0.9 + IN_A_STEP * 3e-6 / 0.1, rel=1e-3)
    assert parse_report(report.to_json(), source="here") == report


@pytest.mark.parametrize("name", [layout.SPANS_FILE, "ranks"])
def test_what_cannot_be_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # GIVEN a run of which a file or folder belongs to somebody else
    run = write_run(tmp_path)
    write_rank(tmp_path / "ranks" / "0")

    def refuse(path: Path, *args: Any, **options: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(path))

    if name == "ranks":
        monkeypatch.setattr(Path, "iterdir", refuse)
    else:
        monkeypatch.setattr(np, "fromfile", refuse)
    # WHEN it is analysed THEN the file is named
    with pytest.raises(InputError, match=rf"{name} cannot be read: Permission denied"):
        analyse(run)


@pytest.mark.parametrize("cut", [1, 7, 8, 31, 33, 24 * 32 - 1])
def test_a_torn_record_is_dropped(tmp_path: Path, cut: int) -> None:
    whole = np.array(STEP_SPANS, dtype="<i8").tobytes()
    recording = read_rank(write_rank(tmp_path / "0", spans=whole[:cut]))
    assert len(recording.spans) == cut // 32


def test_a_torn_line_is_dropped(tmp_path: Path) -> None:
    lines = b"".join(json.dumps(fact).encode() + b"\n" for fact in FACTS)
    recording = read_rank(write_rank(tmp_path / "0", facts=lines[:-9]))
    assert recording.end_reason is None and recording.process["pid"] == 7


def test_an_empty_folder_is_a_rank_that_saw_nothing(tmp_path: Path) -> None:
    (tmp_path / "2").mkdir()
    recording = read_rank(tmp_path / "2")
    assert (recording.rank, len(recording.spans), len(recording.samples), recording.process) == (2, 0, 0, {})


def test_processes_without_steps_are_left_out_where_another_trained(tmp_path: Path) -> None:
    write_rank(tmp_path / "ranks" / "0", spans=b"")
    write_rank(tmp_path / "ranks" / "1")
    (tmp_path / "ranks" / "a file").write_text("of somebody else")
    assert [recording.folder.name for recording in read_ranks(tmp_path)] == ["1"]
    assert read_ranks(tmp_path / "nowhere") == []


@pytest.mark.parametrize(
    "record",
    [
        (layout.STEP, 50, 10, 1),
        (layout.STEP, -(2**63), 2**63 - 1, 1),
        (layout.DATA_WAIT, 2**63 - 2, 2**63 - 1, 1),
        (layout.FORWARD, -5, 5, 1),
    ],
)
def test_a_record_that_cannot_be_true_is_dropped(tmp_path: Path, record: tuple[int, ...]) -> None:
    whole = np.array([*STEP_SPANS, record], dtype="<i8").tobytes()
    assert len(read_rank(write_rank(tmp_path / "0", spans=whole)).spans) == 24


HOSTILE = [
    b"[" * 100_000,
    b'{"fact":' * 100_000,
    b'{"fact": "process", "pid": "seven", "rank": true, "agent": 3, "library": [1], "cores": {"a": 1}}',
    b'{"fact": "process", "pid": 1e400, "rank": -1, "t": "now"}',
    b'{"fact": "process", "rank": ' + b"9" * 4000 + b"}",
    b'{"fact": "process", "rank": ' + b"9" * 9000 + b"}",
    b'{"fact": "process", "device_kind": "\\u001b[2J\\u0007cpu", "torch": NaN, "threads": Infinity}',
    b'{"fact": ["a", "list"], "number": 1}',
    b'{"fact": "stack"}',
    b'{"fact": "stack", "number": 0, "frames": 12}',
    b'{"fact": "stack", "number": 0, "frames": [["a.py", null, "f"], ["b.py", 2], "c", [1, 2], ["d.py", 1e300, "f"]]}',
    b'{"fact": "stack", "number": "zero", "frames": [["a.py", 1, "f"]]}',
    b'{"fact": "loader"}',
    b'{"fact": "loader", "number": [1], "num_workers": 0}',
    b'{"fact": "loader", "number": 1, "num_workers": [0], "batch_size": {"a": []}}',
    b'{"fact": "loader", "number": 1, "num_workers": ' + b"9" * 400 + b"}",
    b'{"fact": "optimizer", "parameters": "many", "tensors": "some", "type": {"a": 1}}',
    b'{"fact": "optimizer", "parameters": [1], "tensors": -1, "type": 5, "foreach": "yes"}',
    b'{"fact": "span_cost"}',
    b'{"fact": "span_cost", "seconds": "fast"}',
    b'{"fact": "cost", "thread_cpu_s": null}',
    b'{"fact": "cost", "thread_cpu_s": 1e308, "t": 2}',
    b'{"fact": "note", "text": {"deep": [[[]]]}}',
    b'{"fact": "note", "text": "\\u001b]0;owned\\u0007 a note \\r that hides"}',
    b'{"fact": "end"}',
    b'{"fact": "end", "reason": ["stopped"]}',
    b"\xff\xfe\x00\x00",
    b"null",
    b"12",
    b'"end"',
]


@pytest.mark.parametrize("after", [True, False], ids=["after", "instead"])
@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_facts_give_a_report_without_a_traceback(tmp_path: Path, line: bytes, after: bool) -> None:
    # GIVEN a run whose facts hold a line of the wrong shape, after the true ones or instead of them
    good = b"".join(json.dumps(fact).encode() + b"\n" for fact in FACTS)
    run = write_run(tmp_path)
    write_rank(tmp_path / "ranks" / "0", facts=(good + line + b"\n") if after else line)
    # WHEN it is analysed
    report = analyse(run).report
    # THEN the steps are still told, the report can be stored and read, and holds nothing that changes a terminal
    assert report.step_time is not None and report.step_time.n == 3
    assert parse_report(report.to_json(), source="here").stages == report.stages
    assert "\\u001b" not in report.to_json() and "\x1b" not in report.verdict


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KEYS = sorted({key for fact in FACTS for key in fact} - {"fact"})
facts = st.builds(
    lambda name, values: {**values, "fact": name},
    st.sampled_from(sorted({fact["fact"] for fact in FACTS})),
    st.dictionaries(st.sampled_from(KEYS), json_values, max_size=6),
)
records = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3, 4, 5, 10, 20, 30, 31, 99]),
        st.integers(-(2**63), 2**63 - 1) | st.integers(0, 1000),
        st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2000),
        st.integers(-(2**63), 2**63 - 1) | st.integers(0, 2),
    ),
    max_size=20,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.lists(facts, max_size=8), records, json_values)
def test_whatever_a_folder_holds_it_is_analysed(
    tmp_path: Path, facts: list[dict[str, Any]], records: list[tuple[int, int, int, int]], warmup: Any
) -> None:
    lines = b"".join(json.dumps(fact).encode() + b"\n" for fact in facts)
    run = write_run(tmp_path, options={"warmup": warmup})
    spans = np.array(records, dtype=np.int64).reshape(-1, 4).astype("<i8").tobytes()
    write_rank(tmp_path / "ranks" / "0", facts=lines, spans=spans)
    analysis = analyse(run)
    run.write_report(analysis.report)
    run.write_steps(analysis.steps)
    assert run.report() == analysis.report


@pytest.mark.parametrize(
    "card", [b"", b"[1, 2]", b"[" * 90_000, b'{"fault": ["a"]}', b'{"fault": "\\u001b[2J"}']
)
def test_hostile_cards_are_passed_over(tmp_path: Path, card: bytes) -> None:
    run = write_run(tmp_path)
    (tmp_path / "processes").mkdir()
    (tmp_path / "processes" / "1.json").write_bytes(card)
    verdict = analyse(run).report.verdict
    assert verdict.startswith("No step was recorded") and "\x1b" not in verdict


def test_a_fault_is_told_in_the_report(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    folder = write_rank(tmp_path / "ranks" / "0")
    (folder / layout.FAULT_FILE).write_text("Traceback…\nValueError: ours".ljust(layout.FAULT_BYTES))
    assert any(
        "switched itself off" in note and "ValueError: ours" in note
        for note in analyse(run).report.recorder.notes
    )


def test_a_fault_before_the_first_step_is_the_reason_that_there_is_none(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    folder = write_rank(tmp_path / "ranks" / "0", spans=b"")
    (tmp_path / "processes").mkdir()
    (tmp_path / "processes" / "1.json").write_text('{"torch": true}')
    (folder / layout.FAULT_FILE).write_text("Traceback…\nValueError: ours".ljust(layout.FAULT_BYTES))
    assert "fault of its own: ValueError: ours" in analyse(run).report.verdict


def test_what_the_launcher_noted_is_told(tmp_path: Path) -> None:
    report = analyse(write_run(tmp_path, note="no step was seen in 3 s")).report
    assert report.recorder.notes == ["no step was seen in 3 s"]

"""A million steps: files stay small, the beginning and the end are kept whole, and each minute between is summed up."""

import collections
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.agent import rolling
from trainrx.profiler.agent.format import (
    BACKWARD,
    BATCHES_FILE,
    DATA_WAIT,
    FACTS_FILE,
    FORWARD,
    KEPT_SEGMENTS,
    MINUTE_CODES,
    MINUTES_FILE,
    PROCESS_CPU,
    SAMPLES_FILE,
    SPANS_FILE,
    STEP,
)
from trainrx.profiler.agent.rank_folder import FULL, RankFolder, RecordFolder, WorkerFolder
from trainrx.profiler.agent.rolling import HEAD_BYTES, MINUTE_NS, SEGMENT_BYTES, Minutes
from trainrx.profiler.progress import ProgressReader
from trainrx.profiler.recording import read_rank
from trainrx.profiler.timeline.minutes import minutes_of, summarised_steps
from trainrx.profiler.timeline.steps import find_steps

STEP_NS = 5_000_000
STEPS_A_FLUSH = 500
SPANS_A_STEP = 5


def spans_of(step: int) -> list[tuple[int, int, int, int]]:
    start = 10_000 + step * STEP_NS
    end = start + STEP_NS
    return [
        (DATA_WAIT, start, start + 1_000_000, 1),
        (FORWARD, start + 1_000_000, start + 2_000_000, 0),
        (BACKWARD, start + 2_000_000, start + 4_000_000, 0),
        (STEP, start, end, 1),
        (PROCESS_CPU, end, end, end),
    ]


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """The folder of a run of a million steps of 5 ms, written flush by flush while its progress is read."""
    run = tmp_path_factory.mktemp("long")
    folder = RankFolder.claim(str(run))
    reader = ProgressReader(run)
    seen = 0
    queue: collections.deque[tuple[int, int, int, int]] = collections.deque()
    for first in range(0, 1_000_000, STEPS_A_FLUSH):
        for step in range(first, first + STEPS_A_FLUSH):
            queue.extend(spans_of(step))
        folder.write_spans(queue)
        folder.write_samples([(10_000 + first * STEP_NS, 1)] * 1000)
        if first % (50 * STEPS_A_FLUSH) == 0:
            seen = reader.read(0.0).steps
    assert seen == 1_000_000 - 49 * STEPS_A_FLUSH  # every step was seen, though most are gone by now
    return Path(folder.path), 1_000_000


def test_its_files_stay_small(long_run: tuple[Path, int]) -> None:
    folder, _ = long_run
    most = HEAD_BYTES + KEPT_SEGMENTS * SEGMENT_BYTES
    for name in (SPANS_FILE, SAMPLES_FILE):
        assert sum(path.stat().st_size for path in folder.glob(f"{name}*")) <= most
        assert len(list(folder.glob(f"{name}*"))) == 1 + KEPT_SEGMENTS
    assert (folder / MINUTES_FILE).stat().st_size < 20_000


def test_the_beginning_and_the_end_are_whole(long_run: tuple[Path, int]) -> None:
    folder, total = long_run
    steps = find_steps(read_rank(folder), warmup=5)
    number = (steps.start_ns - 10_000) // STEP_NS
    gaps = np.flatnonzero(np.diff(number) > 1)
    assert number[0] == 0 and number[-1] == total - 1 and len(gaps) == 1
    assert gaps[0] > HEAD_BYTES / 32 / SPANS_A_STEP - STEPS_A_FLUSH
    assert len(number) - gaps[0] > (KEPT_SEGMENTS - 1) * SEGMENT_BYTES / 32 / SPANS_A_STEP - STEPS_A_FLUSH


def test_the_time_between_is_summed_up_by_the_minute(long_run: tuple[Path, int]) -> None:
    folder, total = long_run
    recording = read_rank(folder)
    minutes = recording.minutes
    # minutes of 12 000 steps follow one another and tell how long steps and spans took
    assert (np.abs(minutes[:, 2] - 12_000) <= 1).all()
    assert (minutes[1:, 0] == minutes[:-1, 1]).all()
    assert (minutes[:, 3] == minutes[:, 2] * STEP_NS).all() and (minutes[:, 4] == minutes[:, 5]).all()
    data_wait = minutes[:, 6 + MINUTE_CODES.index(DATA_WAIT)] / minutes[:, 2]
    assert np.allclose(data_wait, 1_000_000, rtol=1e-3)
    # AND no step is lost or counted twice, but for those of the minute that had only begun
    steps = find_steps(recording, warmup=5)
    counted = len(steps) + summarised_steps(recording, steps.start_ns)
    assert abs(counted - total) <= 2
    rows = minutes_of(recording, int(steps.start_ns[0]))
    assert len(rows) == len(minutes) and rows[0].mean_s == pytest.approx(0.005) and rows[0].start_s > 100


def test_a_run_that_was_kept_whole_has_no_minutes(tmp_path: Path) -> None:
    folder = RankFolder.claim(str(tmp_path))
    folder.write_spans(collections.deque(itertools.chain(*map(spans_of, range(100)))))
    recording = read_rank(Path(folder.path))
    assert len(recording.spans) == 500 and not (Path(folder.path) / MINUTES_FILE).exists()
    assert minutes_of(recording, 0) == [] and summarised_steps(recording, recording.spans[:, 1]) == 0


@given(
    st.lists(
        st.tuples(st.sampled_from([DATA_WAIT, STEP, PROCESS_CPU]), st.integers(0, 2 * MINUTE_NS)), max_size=60
    )
)
def test_minutes_hold_every_step_once(steps: list[tuple[int, int]]) -> None:
    # GIVEN spans one after another, of any length WHEN they are added up in flushes
    minutes, at, records = Minutes(), 1, []
    for code, length in steps:
        record = minutes.add([(code, at, at + length, 0)])
        records += [] if record is None else [record]
        at += length
    # THEN rows do not overlap, and hold no step twice
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(records))
    assert sum(record[2] for record in records) <= sum(code == STEP for code, _ in steps)


def test_workers_of_a_thousand_epochs_go_on_where_the_last_one_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN small files, and workers that write to the same folder one after another
    monkeypatch.setattr(rolling, "HEAD_BYTES", 8000)
    monkeypatch.setattr(rolling, "SEGMENT_BYTES", 4000)
    for epoch in range(1000):
        folder = WorkerFolder(str(tmp_path))
        folder.write_batches([(epoch, epoch + 1, 8, 1, 1, 1, 1, 0, 0, epoch)] * 2)
        for descriptor in list(folder._inodes):
            folder.close(descriptor)
    # THEN the first and the last batches are kept, whole
    files = sorted(tmp_path.glob(f"{BATCHES_FILE}*"))
    assert len(files) == 1 + KEPT_SEGMENTS and sum(path.stat().st_size for path in files) <= 20_000
    assert all(path.stat().st_size % 80 == 0 for path in files)


def test_facts_are_bounded_but_for_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainrx.profiler.agent.rank_folder.MAX_FACTS_BYTES", 10_000)
    folder = RecordFolder(str(tmp_path))
    for number in range(1000):
        folder.fact("stack", number=number, frames=[["train.py", 1, "f"]])
    folder.fact("end", reason="exit")
    lines = (tmp_path / FACTS_FILE).read_text().splitlines()
    assert sum(map(len, lines)) < 11_000
    assert FULL in lines[-2] and '"end"' in lines[-1] and sum(FULL in line for line in lines) == 1
    # a process that comes later finds it full
    RecordFolder(str(tmp_path)).fact("stack", number=1, frames=[])
    assert len((tmp_path / FACTS_FILE).read_text().splitlines()) == len(lines)


def test_a_segment_that_is_rolled_away_while_it_is_read_is_no_error(tmp_path: Path) -> None:
    (tmp_path / f"{SPANS_FILE}.3").write_bytes(np.array(spans_of(3), dtype="<i8").tobytes())
    (tmp_path / f"{SPANS_FILE}.part").write_bytes(b"of something else")
    assert len(read_rank(tmp_path).spans) == SPANS_A_STEP

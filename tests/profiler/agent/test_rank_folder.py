"""The files of one rank: who gets which folder, and that nothing of the script's is ever written to."""

import collections
import json
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from trainrx.profiler.agent.format import FACTS_FILE, FAULT_BYTES, FAULT_FILE, SAMPLES_FILE, SPANS_FILE
from trainrx.profiler.agent.rank_folder import RankFolder


def test_processes_without_a_rank_are_numbered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    names = [Path(RankFolder.claim(str(tmp_path)).path).name for _ in range(3)]
    assert names == ["0", "1", "2"]


def test_a_rank_keeps_its_number_and_a_second_process_of_it_gets_a_suffix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "3")
    names = [Path(RankFolder.claim(str(tmp_path)).path).name for _ in range(3)]
    assert names == ["3", "3.1", "3.2"]


def test_what_is_written_can_be_read_at_once(tmp_path: Path) -> None:
    folder = RankFolder.claim(str(tmp_path))
    queue = collections.deque([(1, 10, 20, 3), (5, 30, 40, 0)])
    assert folder.write_spans(queue) == 2
    assert not queue
    assert folder.write_spans(queue) == 0
    folder.write_samples([(11, 0)])
    folder.fact("note", text="naïve \ud800 text", number=float("inf"), thing=object)
    path = Path(folder.path)
    assert struct.unpack("<8q", (path / SPANS_FILE).read_bytes()) == (1, 10, 20, 3, 5, 30, 40, 0)
    assert struct.unpack("<2q", (path / SAMPLES_FILE).read_bytes()) == (11, 0)
    fact = json.loads((path / FACTS_FILE).read_bytes())
    assert fact["fact"] == "note" and fact["t"] > 0


def test_queues_are_emptied_by_one_thread_at_a_time(tmp_path: Path) -> None:
    # GIVEN queues that say whether the folder is locked while they are emptied
    folder = RankFolder.claim(str(tmp_path))

    class Watched(collections.deque[Any]):
        def popleft(self) -> Any:
            assert folder._lock.locked()
            return super().popleft()

    folder.write_spans(Watched([(1, 2, 3, 4)]))
    folder.write_device(Watched([(1, 2, 3, 4, 5)]))


def test_a_fault_overwrites_reserved_space(tmp_path: Path) -> None:
    folder = RankFolder.claim(str(tmp_path))
    path = Path(folder.path) / FAULT_FILE
    before = path.stat()
    folder.fault(ValueError("something of ours " * 200))
    folder.fault(ValueError("the last word"))
    assert path.stat().st_size == before.st_size == FAULT_BYTES
    assert path.read_text().rstrip().endswith("ValueError: the last word")


def test_a_full_disk_raises_for_the_recorder_to_switch_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RankFolder.claim(str(tmp_path))
    monkeypatch.setattr(os, "write", lambda descriptor, data: len(data) // 2)
    with pytest.raises(OSError, match="disk is full"):
        folder.write_spans(collections.deque([(1, 2, 3, 4)]))


def test_a_script_that_closes_all_files_and_opens_its_own_finds_nothing_of_ours_in_them(
    tmp_path: Path,
) -> None:
    # GIVEN a script that closes every descriptor, as daemons do, and opens files that get the same numbers
    folder = RankFolder.claim(str(tmp_path))
    ours = [descriptor for descriptor in range(3, 4096) if _is_below(descriptor, Path(folder.path))]
    assert len(ours) == 4
    for descriptor in ours:
        os.close(descriptor)
    files = [(tmp_path / f"checkpoint-{number}").open("wb") for number in range(4)]
    # WHEN the agent writes on THEN it fails, and the script's files stay empty
    with pytest.raises(OSError):
        folder.fact("note", text="to nobody")
    with pytest.raises(OSError):
        folder.write_spans(collections.deque([(1, 2, 3, 4)]))
    folder.fault(ValueError("to nobody"))
    for file in files:
        file.close()
        assert not Path(file.name).read_bytes()


def _is_below(descriptor: int, folder: Path) -> bool:
    try:
        return Path(f"/proc/self/fd/{descriptor}").readlink().parent == folder
    except OSError:
        return False

"""What is told of the machine and the environment, from files and variables made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainrx.profiler.agent import environment, machine, memory


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("processor\t: 0\nflags\t\t: fpu avx512f avx512_bf16 amx_tile\n", True),
        ("processor\t: 0\nflags\t\t: fpu avx2\n", False),
        ("processor\t: 0\nFeatures\t: fp asimd bf16\n", True),
        ("Processor: unknown\n", None),
    ],
)
def test_bf16_units_stand_among_the_processors_flags(tmp_path: Path, text: str, has: bool | None) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(text)
    assert machine.has_bf16(str(file)) is has
    assert machine.has_bf16(str(tmp_path / "absent")) is None


def test_numa_nodes_are_counted(tmp_path: Path) -> None:
    for name in ("node0", "node1", "online", "power"):
        (tmp_path / name).mkdir()
    assert machine.numa_nodes(str(tmp_path)) == 2
    assert machine.numa_nodes(str(tmp_path / "power")) is None
    assert machine.numa_nodes(str(tmp_path / "absent")) is None


def test_shared_memory_has_a_size_where_it_is(tmp_path: Path) -> None:
    size = machine.shared_memory_bytes(str(tmp_path))
    assert size is not None and size > 0
    assert machine.shared_memory_bytes(str(tmp_path / "absent")) is None


def test_only_switches_that_are_set_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN an environment with some switches, spelt as people spell them
    for name in environment.NAMES:
        monkeypatch.delenv(name.upper(), raising=False)
    told = {"CUDA_LAUNCH_BLOCKING": "1", "NCCL_IB_DISABLE": "0", "TORCH_DISTRIBUTED_DEBUG": "DETAIL"}
    for name, value in {**told, "OMP_NUM_THREADS": "4,2", "MKL_NUM_THREADS": "many"}.items():
        monkeypatch.setenv(name, value)
    # THEN they are told by name, and what is no number is left out
    assert environment.describe() == {
        "cuda_launch_blocking": True,
        "nccl_ib_disable": False,
        "torch_distributed_debug": "detail",
        "omp_num_threads": 4,
    }


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="the system does not tell")
def test_private_bytes_are_part_of_the_resident_ones() -> None:
    found = memory.private()
    assert 0 < found["private_bytes"] <= found["resident_bytes"]
    assert 0 < found["anonymous_bytes"] <= found["resident_bytes"]

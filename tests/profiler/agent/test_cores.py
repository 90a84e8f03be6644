"""What a container's CPU quota leaves of the cores, from control groups made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch  # noqa: F401 - a process is described once it has imported torch
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler import capabilities
from trainrx.profiler.agent import cores, process
from trainrx.profiler.calibration import kept


def group(folder: Path, **files: str | bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / f"cpu.{name}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def own(folder: Path, text: str | bytes) -> str:
    path = folder / "own"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_the_smallest_quota_on_the_way_up_counts(tmp_path: Path) -> None:
    # GIVEN a process in a group of a group, and a tighter one beside it that is not its own
    root = tmp_path / "cgroup"
    group(root, max="max 100000\n")
    group(root / "pod", max="250000 100000\n")
    group(root / "pod" / "mine", max="800000 100000\n")
    group(root / "other", max="50000 100000\n")
    # THEN the pod's quota holds, which neither the root nor the process's own group tells
    assert cores.quota(str(root), own(tmp_path, "0::/pod/mine\n")) == 2.5
    assert cores.quota(str(root), own(tmp_path, "0::/\n")) is None


def test_a_group_named_as_the_host_sees_it_falls_back_to_what_is_mounted(tmp_path: Path) -> None:
    root = tmp_path / "cgroup"
    group(root, max="400000 100000\n")
    assert cores.quota(str(root), own(tmp_path, "0::/kubepods/pod1/abc\n")) == 4
    assert cores.quota(str(root), str(tmp_path / "absent")) == 4


@pytest.mark.parametrize("mount", ["cpu,cpuacct", "cpu"])
def test_the_first_version_keeps_quota_and_period_apart(tmp_path: Path, mount: str) -> None:
    root = tmp_path / "cgroup"
    group(root / mount, cfs_quota_us="-1\n", cfs_period_us="100000\n")
    group(root / mount / "docker", cfs_quota_us="150000\n", cfs_period_us="100000\n")
    told = own(tmp_path, "7:memory:/elsewhere\n4:cpu,cpuacct:/docker\n0::/\n")
    assert cores.quota(str(root), told) == 1.5


@pytest.mark.parametrize(
    "text",
    [
        "", "\n", "max", "max 100000", "100000 0", "0 100000", "-1 100000", "1e5 100000", "nan nan",
        "1_000 1_000", "１０ １０", "400000 100000 7", b"\xff\xfe\x00 \x00", "9" * 5000 + " 1", "1 " + "9" * 5000,
    ],
)  # fmt: skip
def test_what_is_no_quota_is_none(tmp_path: Path, text: str | bytes) -> None:
    group(tmp_path / "cgroup", max=text)
    group(tmp_path / "cgroup" / "cpu", cfs_quota_us=text, cfs_period_us=text)
    assert cores.quota(str(tmp_path / "cgroup"), own(tmp_path, "0::/\n")) is None


def test_a_quota_without_its_period_is_none(tmp_path: Path) -> None:
    group(tmp_path / "cgroup", max="100000")
    group(tmp_path / "cgroup" / "cpu", cfs_quota_us="100000")
    assert cores.quota(str(tmp_path / "cgroup"), own(tmp_path, "0::/\n")) is None


@pytest.mark.parametrize("path", ["/../outside", "/a/../../outside", "/\0", "/" + "a/" * 500, "relative", ""])
def test_a_path_does_not_lead_out_of_the_mount(tmp_path: Path, path: str) -> None:
    # GIVEN a quota of a folder beside the mount, and one of the mount itself
    root = tmp_path / "cgroup"
    group(tmp_path / "outside", max="100000 100000")
    group(root, max="300000 100000")
    # THEN only the mount's is read
    assert cores.quota(str(root), own(tmp_path, f"0::{path}\n")) == 3


@given(text=st.binary(max_size=200), told=st.binary(max_size=200))
def test_no_content_is_a_fault(tmp_path_factory: pytest.TempPathFactory, text: bytes, told: bytes) -> None:
    folder = tmp_path_factory.mktemp("made")
    group(folder / "cgroup", max=text)
    found = cores.quota(str(folder / "cgroup"), own(folder, told))
    assert found is None or found > 0


@pytest.mark.parametrize(
    ("held_to", "expected"), [(None, 64), (4.0, 4), (2.5, 3), (0.05, 1), (64.0, 64), (100.0, 64)]
)
def test_advice_counts_on_what_the_quota_leaves(
    monkeypatch: pytest.MonkeyPatch, held_to: float | None, expected: int
) -> None:
    # GIVEN 64 cores that this process may run on, and a container's quota
    monkeypatch.setattr(cores, "affinity", lambda: 64)
    monkeypatch.setattr(cores, "quota", lambda: held_to)
    # THEN recorder, `trainrx check` and calibration tell the same number
    assert cores.describe() == {"cores": expected, "quota_cores": held_to}
    assert kept.usable_cores() == expected
    assert {key: process.describe()[key] for key in ("cores", "quota_cores")} == cores.describe()
    limit = "" if held_to is None else f", a container limit of {held_to:g}"
    assert capabilities._cores().detail == f"{expected} usable cores{limit}"

"""What a data set's files lie on: paths found in objects of many shapes, and the mount around them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import ConcatDataset, Subset, TensorDataset

from trainrx.profiler.agent import storage

MOUNTS = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /data rw - nfs4 filer:/export rw
24 23 0:22 / /data/fast\040disk rw - xfs /dev/nvme0n1 rw
25 22 0:23 / /dev/shm rw - tmpfs tmpfs rw
26 24 0:24 / /data/fast\040disk rw - fuse.s3fs s3fs rw
a torn line
27 22 0:25 / /torn
"""


class Images:
    """As torchvision's folders: a root, and a list of files with their classes."""

    def __init__(self, root: Any) -> None:
        self.transform = torch.nn.Identity()
        self.classes = ["cat", "dog"]
        self.samples = [(str(root), 0)] * 9

    def __len__(self) -> int:
        return len(self.samples)


class Strict:
    """A data set that takes offence at being asked for what it has not."""

    __slots__ = ("items",)

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of mounts in which this test's folder is a network's."""
    path = tmp_path / "mountinfo"
    path.write_text(MOUNTS + f"28 22 0:26 / {tmp_path} rw - lustre filer rw\n")
    real = storage.file_system
    monkeypatch.setattr(storage, "file_system", lambda of: real(of, str(path)))
    return tmp_path


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/user/set", "ext4"),
        ("/data/images/1.png", "nfs4"),
        ("/database/1.png", "ext4"),
        ("/data/fast disk/1.png", "fuse.s3fs"),
        ("/dev/shm/cache.npy", "tmpfs"),
        ("/", "ext4"),
    ],
)
def test_the_innermost_mount_counts_and_the_last_one_on_it(tmp_path: Path, path: str, kind: str) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert storage.file_system(path, str(mounts)) == kind


def test_a_system_that_does_not_tell_leaves_it_unknown(tmp_path: Path) -> None:
    assert storage.file_system("/", str(tmp_path / "absent")) is None
    (tmp_path / "empty").write_bytes(b"")
    assert storage.file_system("/", str(tmp_path / "empty")) is None


@given(st.binary(max_size=300))
def test_no_table_of_mounts_breaks_it(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any-mounts"
    path.write_bytes(text)
    storage.file_system("/usr", str(path))


def shapes(folder: Path) -> dict[str, Any]:
    """Data sets that lie in a folder, by what they are."""
    array = np.lib.format.open_memmap(folder / "x.npy", mode="w+", dtype=np.uint8, shape=(4, 2))
    return {
        "a folder of images": Images(folder),
        "a root as a path": SimpleNamespace(root=folder),
        "a part of one": Subset(Images(folder), [0, 1]),  # type: ignore[arg-type]
        "several of them": ConcatDataset([Images(folder), Images(folder)]),  # type: ignore[list-item]
        "a table of files": SimpleNamespace(data_files=[{"filename": str(folder)}]),
        "a mapped array": SimpleNamespace(rows=array),
        "tables in tables": SimpleNamespace(
            _data=SimpleNamespace(blocks=[[SimpleNamespace(path=str(folder))]])
        ),
    }


def test_files_are_found_in_data_sets_of_every_shape(table: Path) -> None:
    found = {name: storage.of_dataset(dataset) for name, dataset in shapes(table).items()}
    assert found == dict.fromkeys(found, "lustre")


def test_a_link_is_followed_to_where_the_files_are(
    table: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    link = tmp_path_factory.mktemp("elsewhere") / "data"
    link.symlink_to(table)
    assert storage.of_dataset(Images(link)) == "lustre"


@pytest.mark.parametrize(
    ("url", "scheme"),
    [("s3://bucket/{0..9}.tar", "s3"), ("HTTPS://host/x.tar", "https"), ("pipe:cat x", None)],
)
def test_addresses_are_told_by_their_scheme(url: str, scheme: str | None) -> None:
    assert storage.of_dataset(SimpleNamespace(urls=[url, url])) == scheme


def test_what_holds_no_path_stays_unknown() -> None:
    loop = SimpleNamespace(name="no such file", size=3)
    loop.itself = loop
    for dataset in (TensorDataset(torch.ones(3)), loop, Strict(), range(9), None, [], "x" * 99_999, "a\0b"):
        assert storage.of_dataset(dataset) is None


def test_only_so_much_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    monkeypatch.setattr(storage, "_is_path", lambda text: bool(asked.append(text)))
    wide = SimpleNamespace(**{f"part{n}": {f"{m}": f"{n}-{m}" for m in range(999)} for n in range(999)})
    assert storage.of_dataset(wide) is None
    assert len(asked) <= storage.MAX_PARTS

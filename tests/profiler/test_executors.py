"""Executors by address; a stand-in plays the Dask cluster."""

from __future__ import annotations

import sys
from concurrent.futures import Executor, ThreadPoolExecutor
from types import ModuleType
from typing import Any, ClassVar

import pytest

from trainrx.profiler.errors import UsageError
from trainrx.profiler.executors import executor_at


class Client:
    """What is used of `distributed.Client`: two workers of two threads."""

    opened: ClassVar[list[str]] = []

    def __init__(self, address: str, **options: Any) -> None:
        if "silent" in address:
            raise OSError("Timed out trying to connect")
        Client.opened.append(address)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        Client.opened.pop()

    def get_executor(self, **options: Any) -> Executor:
        return ThreadPoolExecutor(4)

    def nthreads(self) -> dict[str, int]:
        return {"tcp://a": 2, "tcp://b": 2}


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("distributed")
    module.Client = Client  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "distributed", module)


def test_a_scheduler_gives_an_executor_and_its_width(cluster: None) -> None:
    with executor_at("dask://host:8786") as (executor, workers):
        assert Client.opened == ["tcp://host:8786"]
        assert executor.submit(sum, [1, 2]).result() == 3
        assert workers == 4
    assert Client.opened == []


@pytest.mark.parametrize("address", ["host:8786", "ray://host:1", "dask://host", ""])
def test_other_addresses_are_refused(cluster: None, address: str) -> None:
    with pytest.raises(UsageError, match="give dask://HOST:PORT"), executor_at(address):
        pass


def test_a_scheduler_that_does_not_answer_is_named(cluster: None) -> None:
    with (
        pytest.raises(UsageError, match="no Dask scheduler answers at silent:1"),
        executor_at("dask://silent:1"),
    ):
        pass


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"trainrx\[dask\]"), executor_at("dask://host:1"):
        pass

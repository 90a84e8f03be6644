"""The threads of a worker are limited after the script's own start of it, which may ask for more."""

from __future__ import annotations

import pickle
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from trainrx.profiler.agent.knobs import loader_worker_threads


def test_the_limit_comes_after_the_scripts_own_init(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN a script whose workers ask for eight threads, of torch and of OpenCV
    asked: list[Any] = []
    monkeypatch.setitem(
        sys.modules, "torch", SimpleNamespace(set_num_threads=lambda n: asked.append(("torch", n)))
    )
    monkeypatch.setitem(sys.modules, "cv2", SimpleNamespace(setNumThreads=lambda n: asked.append(("cv2", n))))
    arguments: dict[str, Any] = {
        "num_workers": 2,
        "shuffle": True,
        "worker_init_fn": lambda worker: asked.append(("own", worker)),
    }
    loader_worker_threads.install(2, site)
    # WHEN a loader is made and a worker starts
    site.changes[0](None, arguments)
    arguments["worker_init_fn"](1)
    # THEN the limit has the last word
    assert asked == [("own", 1), ("torch", 2), ("cv2", 2)]
    assert site.events == ["applied"]


def test_it_reaches_workers_that_are_spawned() -> None:
    limit = loader_worker_threads.LimitThreads(2, print)
    copied = pickle.loads(pickle.dumps(limit))
    assert (copied.threads, copied.then) == (2, print)


def test_a_loader_without_workers_says_so(site: Any) -> None:
    arguments = {"num_workers": 0, "shuffle": True, "worker_init_fn": None}
    loader_worker_threads.install(2, site)
    site.changes[0](None, arguments)
    assert site.events == ["not applied"] and arguments["worker_init_fn"] is None

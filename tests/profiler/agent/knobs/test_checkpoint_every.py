"""Every n-th save of each file is written, and what goes to no file is left alone."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from trainrx.profiler.agent.knobs import checkpoint_every


def test_each_file_is_counted_by_itself(site: Any) -> None:
    # GIVEN a script that saves two files and copies its state through memory
    saved: list[Any] = []
    module = SimpleNamespace(save=lambda obj, f: saved.append(f))
    site.modules["torch.serialization"] = module
    checkpoint_every.install(3, site)
    # WHEN it does so in each of four epochs
    memory = io.BytesIO()
    for epoch in range(4):
        module.save(epoch, "last.pt")
        module.save(epoch, Path("best.pt"))
        module.save(epoch, memory)
    # THEN the first and fourth of each file are written, and all of what goes to memory
    assert [saved.count(f) for f in ("last.pt", Path("best.pt"), memory)] == [2, 2, 4]
    assert set(site.events) == {"applied"}


def test_one_file_by_two_kinds_of_path_is_one(site: Any) -> None:
    saved: list[Any] = []
    module = SimpleNamespace(save=lambda obj, f: saved.append(f))
    site.modules["torch.serialization"] = module
    checkpoint_every.install(2, site)
    module.save(0, "last.pt")
    module.save(1, Path("last.pt"))
    assert saved == ["last.pt"]


def test_files_that_count_steps_in_their_names_are_one(site: Any) -> None:
    # GIVEN a trainer that saves two files into a folder for each step that it saves at
    saved: list[Any] = []
    site.modules["torch.serialization"] = SimpleNamespace(save=lambda obj, f: saved.append(f))
    module = site.modules["torch.serialization"]
    checkpoint_every.install(2, site)
    for step in (5, 10, 15):
        module.save(step, f"out/checkpoint-{step}/optimizer.pt")
        module.save(step, f"out/checkpoint-{step}/scheduler.pt")
    # THEN every second step's are written
    assert saved == [
        f"out/checkpoint-{step}/{name}.pt" for step in (5, 15) for name in ("optimizer", "scheduler")
    ]

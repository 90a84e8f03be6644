"""A checkpoint that is written beside the training is the file that the script would have written."""

from __future__ import annotations

import json
import sys
import threading
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from trainrx.profiler.agent.intervention.saving import Saver, snapshot


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 4)
        self.last.weight = self.first.weight


def saved(obj: Any, path: Path) -> Any:
    torch.save(obj, path)
    return torch.load(path, weights_only=False)


def test_a_copy_makes_the_same_file(tmp_path: Path) -> None:
    # GIVEN tied weights, a view, a parameter, a mapping with a factory and a list that is held twice
    names = ["a", "b"]
    counts: dict[str, list[int]] = defaultdict(list, steps=[3])
    obj = {
        "model": Tied().state_dict(), "rows": torch.arange(100.0)[10:20:2], "weight": nn.Parameter(torch.ones(3)),
        "empty": torch.empty(0, dtype=torch.int64), "counts": counts, "names": names, "again": names, "lr": 0.1,
    }  # fmt: skip
    # WHEN a copy is saved
    (tmp_path / "copied").mkdir()
    paths = [tmp_path / "state.pt", tmp_path / "copied" / "state.pt"]
    plain, copied = saved(obj, paths[0]), saved(snapshot(obj), paths[1])
    # THEN the file is the same
    assert paths[0].read_bytes() == paths[1].read_bytes()
    for found in (plain, copied):
        model = found["model"]
        assert model["first.weight"].data_ptr() == model["last.weight"].data_ptr()
        assert model._metadata == Tied().state_dict()._metadata  # type: ignore[attr-defined]
        assert found["rows"].tolist() == [10.0, 12.0, 14.0, 16.0, 18.0] and found["rows"].stride() == (2,)
        assert type(found["weight"]) is nn.Parameter and found["weight"].requires_grad
        assert found["counts"].default_factory is list and found["names"] is found["again"]
    assert all(torch.equal(plain["model"][name], copied["model"][name]) for name in plain["model"])


def test_later_updates_do_not_reach_a_copy() -> None:
    weights = {"w": torch.ones(2), "steps": [1]}
    copied = snapshot(weights)
    weights["w"].zero_()  # type: ignore[attr-defined]
    weights["steps"].append(2)  # type: ignore[attr-defined]
    assert copied["w"].tolist() == [1.0, 1.0] and copied["steps"] == [1]


def itself() -> Any:
    circle: list[Any] = []
    circle.append(circle)
    return circle


@pytest.mark.parametrize(
    ("obj", "name"),
    [
        ({"model": nn.Linear(2, 2)}, "m.pt"),
        ([torch.eye(2).to_sparse()], "m.pt"),
        (torch.ones(2, dtype=torch.complex64).conj(), "m.pt"),
        (itself(), "m.pt"),
        ({"w": torch.ones(2)}, None),
    ],
    ids=["an object", "a sparse tensor", "a conjugate", "a circle", "no path"],
)
def test_what_cannot_be_copied_is_saved_at_once(
    site: Any, monkeypatch: pytest.MonkeyPatch, obj: Any, name: str | None
) -> None:
    monkeypatch.setattr(sys, "addaudithook", lambda hook: None)
    calls: list[tuple[Any, threading.Thread]] = []
    module = SimpleNamespace(
        save=lambda obj, f: calls.append((obj, threading.current_thread())), load=lambda f: None
    )
    Saver(site).take_over(module)
    module.save(obj, name or object())
    assert calls == [(obj, threading.current_thread())] and site.told == []


#: Does one thing after another right after a save, and tells whether that waited for the file.
ACTIONS = """
import json, os, shutil, subprocess, sys, threading
import torch

gate = threading.Event()
write = torch.serialization._save

def slow(*args, **kwargs):
    gate.wait(10)
    return write(*args, **kwargs)

torch.serialization._save = slow
state = {"w": torch.arange(1000.0)}

def is_writing():
    return any(thread.name == "checkpoint" for thread in threading.enumerate())

def whole(path):
    return torch.equal(torch.load(path)["w"], state["w"])

def copies():
    shutil.copyfile("a.pt", "b.pt")
    return whole("b.pt")

def renames():
    os.replace("a.pt", "final.pt")
    return whole("final.pt")

def lists():
    return "a.pt" in os.listdir(".")

def reads():
    with open("a.pt", "rb") as file:
        return len(file.read()) > 4000

def runs():
    return subprocess.run([sys.executable, "-c", "import os; print(os.path.getsize('a.pt') > 4000)"],
                          capture_output=True, text=True).stdout == "True\\n"

def opens_another():
    with open("elsewhere/log.txt", "w") as file:
        return bool(file.write("x"))

def asks():
    return os.path.exists("a.pt") or True

os.mkdir("elsewhere")
told = {}
for action in (copies, renames, lists, reads, runs, opens_another, asks):
    gate.clear()
    torch.save(state, "a.pt")
    if action not in (opens_another, asks):
        threading.Timer(0.05, gate.set).start()
    told[action.__name__] = [action(), not is_writing()]
    gate.set()
print(json.dumps(told))
"""


def test_what_touches_the_file_waits_until_it_is_written(
    run_with: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN a script that saves and at once does something, while writing takes its time
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    # WHEN checkpoints are written in a thread
    stdout, events = run_with(ACTIONS, {"checkpoint.asynchronous": "true"})
    # THEN whatever needs the file finds all of it, and the rest goes on
    waits = {name: [True, True] for name in ("copies", "renames", "lists", "reads", "runs")}
    assert json.loads(stdout) == {**waits, "opens_another": [True, False], "asks": [True, False]}
    assert [event for event, _ in events["checkpoint.asynchronous"]] == ["applied"]
    assert Path("elsewhere", "log.txt").is_file()

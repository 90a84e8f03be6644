"""Debugging aids are taken away from a process and from those that it starts, and each of them says so."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from trainrx.profiler.agent.knobs import debug_off


def test_a_child_tells_what_was_taken_from_its_parent(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN a launcher with one aid on and another one off
    environ = {"CUDA_LAUNCH_BLOCKING": "1", "TORCH_DISTRIBUTED_DEBUG": "OFF", "PATH": "/bin"}
    monkeypatch.setattr(os, "environ", environ)
    # WHEN the knob is put on there, and then in a rank, which has its environment
    debug_off.install(True, site)
    first = list(site.told)
    debug_off.install(True, site)
    # THEN both tell of it, and neither has it
    assert first == [("applied", "CUDA_LAUNCH_BLOCKING=1 is taken away")]
    assert site.told == first * 2
    assert "CUDA_LAUNCH_BLOCKING" not in environ and "TORCH_DISTRIBUTED_DEBUG" not in environ


def test_anomaly_detection_stays_off(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {})
    calls: list[tuple[bool, bool]] = []
    torch = SimpleNamespace(set_anomaly_enabled=lambda mode, check_nan=True: calls.append((mode, check_nan)))
    site.modules["torch"] = torch
    debug_off.install(True, site)
    torch.set_anomaly_enabled(False)
    assert site.told == []
    torch.set_anomaly_enabled(True, check_nan=False)
    assert calls == [(False, True), (False, False)] and site.events == ["applied"]

"""Ranks share the cores of a machine once: what a rank starts has the rank's share."""

from __future__ import annotations

import os
from typing import Any

import pytest

from trainrx.profiler.agent.knobs import threads_affinity


def test_a_rank_s_workers_keep_its_share(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN the second of two ranks on eight cores
    bound = [set(range(8))]
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: bound[-1], raising=False)
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cores: bound.append(set(cores)), raising=False)
    monkeypatch.setattr(os, "environ", {"LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"})
    # WHEN it is bound, and then a worker that it starts, which has its environment and its cores
    threads_affinity.install("split", site)
    threads_affinity.install("split", site)
    # THEN the worker's cores are the rank's
    assert bound[1:] == [{4, 5, 6, 7}]
    assert site.told == [("applied", "bound to cores 4,5,6,7")]

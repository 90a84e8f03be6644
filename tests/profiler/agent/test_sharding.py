"""Modules that are sharded, alone or as a list, are told of; the script gets what torch returns."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from trainrx.profiler.agent.hooks import sharding


class Block:
    """A module to shard."""


class Noted:
    """A recorder that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, Any]] = []

    def distributed_model(self, model: Any, fact: str, describe: Any) -> None:
        self.told.append((model, describe(model)["reshard_after_forward"]))


@pytest.mark.parametrize("as_list", [False, True])
def test_each_module_of_a_list_is_told_of(as_list: bool) -> None:
    # GIVEN torch's function, which takes a module or a list of them
    module, recorder = ModuleType("fsdp"), Noted()
    module.__dict__["fully_shard"] = lambda module, **_: module
    sharding.install(module, recorder)  # type: ignore[arg-type]
    one, other = Block(), Block()
    given = [one, other] if as_list else one
    # WHEN it shards THEN its result is the script's, and each module is noted
    assert module.fully_shard(given, reshard_after_forward=True) is given
    assert recorder.told == [(block, True) for block in ([one, other] if as_list else [one])]

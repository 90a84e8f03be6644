"""Every setup fact that advice or diagnosis asks for is one that a recording tells, or is said why it must be asked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import trainrx.advisor as advisor
import trainrx.profiler.diagnosis as diagnosis
from trainrx.advisor.known_setup import known_setup
from trainrx.advisor.questions import question
from trainrx.catalog import Catalog
from trainrx.catalog.fields import SETUP_FIELDS
from trainrx.profiler.agent import environment, model_facts, process
from trainrx.profiler.agent.hooks import loader, optimizer, parallel, sharding
from trainrx.profiler.recording import RankRecording
from trainrx.profiler.report import DeviceTelemetry, Report, RunInfo, Telemetry
from trainrx.profiler.setup_facts import setup_facts
from trainrx.profiler.vocabulary import RunStatus

#: Facts that no recording can tell.
MUST_BE_ASKED = {
    "training.stage": "weights that were loaded look like weights that were made",
}
#: Facts that only a trace made elsewhere brings, in words of its own.
OF_TRACES = {"vendor", "device", "loader", "backend"}
DOTTED = re.compile(r"(cpu|env|torch|python|loader|ddp|model|optimizer|device|memory|batch|task)\.[a-z0-9_]+")
ENVIRONMENT = {name.upper(): "1" for name in environment.NAMES} | {"PYTHONMALLOC": "debug"}


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names of all facts that a run may tell: of a recording in which the agent's own descriptions leave nothing open."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    images = DataLoader(TensorDataset(torch.ones(4, 3, 8, 8)), batch_size=2)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.SyncBatchNorm(4))
    facts: dict[str, list[dict[str, Any]]] = {
        "process": [process.describe()],
        "environment": [environment.describe()],
        "loader": [{"number": 1, **loader.describe(images)}],
        "optimizer": [optimizer.describe(torch.optim.AdamW(model.parameters()))],
        "model": [model_facts.describe(model)],
        "flags": [model_facts.flags(traced=False)],
        "device": [{"name": "NVIDIA A100", "capability": "8.0", "memory_bytes": 80 * 10**9}],
        "inputs": [{"distinct": 1, "index_values": 64}],
        "sharded": [sharding.describe({"reshard_after_forward": True})],
        "parallel": [dict.fromkeys((*parallel.SETTINGS, "gradient_bytes", "tensors"), 1)],
    }
    whole = {
        name: [{key: told(value) for key, value in fact.items()} for fact in ones]
        for name, ones in facts.items()
    }
    nothing = np.empty((0, 4), np.int64)
    setup = setup_facts(RankRecording(0, Path("ranks/0"), nothing, nothing[:, :2], {}, whole))
    seen = DeviceTelemetry(index=0, samples=9, memory_peak_bytes=1, memory_total_bytes=2)
    report = Report(
        run=RunInfo(id="r", command=[], status=RunStatus.FINISHED),
        verdict="",
        setup=setup,
        telemetry=Telemetry(samples=9, interval_s=0.2, devices=[seen]),
    )
    return set(known_setup(report))


def told(value: Any) -> Any:
    """What a setting could be where it is None here."""
    return 1 if value is None else value


def read_by(package: ModuleType) -> set[str]:
    """Names that a package's sources read; trials are left out, whose knobs look like facts."""
    paths = [path for path in Path(str(package.__file__)).parent.rglob("*.py") if path.parent.name != "trial"]
    return {name for path in paths for name in names_in(ast.parse(path.read_text("utf-8")))}


def names_in(tree: ast.Module) -> Iterator[str]:
    """Names of setup facts that a source reads, written where they are read or in a table of names with dots."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name("case"), attr="setup" | "number"),
                args=[ast.Constant(str(name))],
            ):
                yield name
            case ast.Call(
                func=ast.Attribute(value=ast.Name("setup") | ast.Attribute(attr="setup"), attr="get"),
                args=[ast.Constant(str(name)), *_],
            ):
                yield name
            case ast.Constant(str(name)) if DOTTED.fullmatch(name):
                yield name
            case _:
                pass


def test_the_catalog_asks_for_nothing_that_no_run_tells(recorded: set[str], bundled: Catalog) -> None:
    asked = {predicate.field.name for method in bundled.methods.values() for predicate in method.predicates}
    assert asked <= set(SETUP_FIELDS)
    assert asked - recorded == set(MUST_BE_ASKED)


def test_rules_and_remedies_read_nothing_that_no_run_tells(recorded: set[str]) -> None:
    # GIVEN the names that the sources of both rooms read
    read = read_by(advisor) | read_by(diagnosis)
    assert {
        "cpu.bf16",
        "cpu.numa_nodes",
        "local_world_size",
        "python.gc_enabled",
        "optimizer.tensors",
    } <= read
    # THEN each is a fact that a recording tells, or one that only traces have
    assert read - recorded - OF_TRACES - set(MUST_BE_ASKED) == set()


def test_what_must_be_asked_is_asked_in_plain_words(bundled: Catalog) -> None:
    for method in bundled.methods.values():
        for predicate in method.predicates:
            if predicate.field.name in MUST_BE_ASKED:
                assert predicate.field.name not in question(predicate)

"""What a rule may call a cause has an answer, and what an answer knows as a cause some rule finds.

Both sides are read from the source, so that a cause that is added on one side only is told here by name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

import trainrx.advisor.remedies as remedies
import trainrx.profiler.diagnosis as diagnosis
from trainrx.advisor.proposal import Case
from trainrx.advisor.remedies import answers
from trainrx.advisor.remedies.debugging import CAUSES as DEBUGGING
from trainrx.profiler.report import Finding, Report
from trainrx.profiler.vocabulary import Kind

SLUG = re.compile(r"[a-z]+(-[a-z]+)*")
RULES = Path(str(diagnosis.__file__)).parent
REMEDIES = Path(str(remedies.__file__)).parent
KINDS = {kind.value.replace("-", "_"): kind for kind in Kind}
#: Files of rules beside those that are called like their kind.
FILES = {
    **KINDS,
    "batches_by_hand": Kind.DATA_LOADING,
    "gpu_memory": Kind.MEMORY_CAPACITY,
    "memory": Kind.MEMORY_CAPACITY,
}

#: Causes that no rule finds in a recording, and why none can.
NOT_FOUND = {
    "cold-start": "compiling before the timed steps is paid once: how long the run goes on, a person knows",
    "non-fused-optimizer": "needs the optimizer's launches in a device trace",
    "numa-binding": "needs the rate of copies from either socket",
    "slow-link": "needs the rate of copies against what the link can do",
}


def constants(node: ast.expr | None) -> Iterator[str]:
    """The words that an expression may stand for: itself, or the branches of a choice."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and SLUG.fullmatch(node.value):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def told_by(tree: ast.Module) -> Iterator[str]:
    """Words that a rule's source may give as a cause."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="cause"):
                yield from constants(node.value)
            case ast.Assign(
                targets=[ast.Tuple(elts=[ast.Name("cause"), *_])], value=ast.Tuple(elts=[first, *_])
            ):
                yield from constants(first)
            case ast.Assign(targets=[ast.Name(name)], value=ast.Dict() as table) if name.endswith("CAUSES"):
                yield from (word for value in table.values for word in constants(value))
            case ast.FunctionDef(name=name):
                yield from returned_by(node, named="cause" in name)
            case _:
                pass


def returned_by(function: ast.FunctionDef, *, named: bool) -> Iterator[str]:
    """Causes that a function returns: alone where its name says so, else in front of a sentence."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return):
            value = node.value
            if isinstance(value, ast.Tuple):
                yield from constants(value.elts[0])
            elif isinstance(value, ast.BoolOp):
                pairs = [pair for pair in value.values if isinstance(pair, ast.Tuple)]
                yield from (word for pair in pairs for word in constants(pair.elts[0]))
            elif named:
                yield from constants(value)
        elif named and isinstance(node, ast.Dict):
            yield from (word for key in node.keys for word in constants(key))


def found() -> set[tuple[Kind, str]]:
    """Kind and cause of all that rules on recordings and on traces may find."""
    files = [*RULES.glob("*.py"), *(RULES / "device").glob("*.py")]
    return {
        (FILES[path.stem], word)
        for path in files
        if path.stem in FILES
        for word in told_by(ast.parse(path.read_text("utf-8")))
    }


def asked_by(tree: ast.Module) -> Iterator[str]:
    """Words that a remedy's source compares a cause with."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=ast.Attribute(attr="cause"), comparators=[ast.Tuple(elts=words)]):
                yield from (word for element in words for word in constants(element))
            case ast.Compare(left=ast.Attribute(attr="cause"), comparators=[word]):
                yield from constants(word)
            case ast.Match(subject=ast.Attribute(attr="cause"), cases=cases):
                patterns = [part for one in cases for part in ast.walk(one.pattern)]
                yield from (
                    word
                    for part in patterns
                    if isinstance(part, ast.MatchValue)
                    for word in constants(part.value)
                )
            case _:
                pass


def answered() -> set[str]:
    """Every cause that remedies know."""
    known = set(DEBUGGING)
    for path in REMEDIES.glob("*.py"):
        known |= set(asked_by(ast.parse(path.read_text("utf-8"))))
        if path.stem in KINDS:
            module = import_module(f"{remedies.__name__}.{path.stem}")
            known |= {cause for cause in getattr(module, "COMPLETE", ()) if cause is not None}
    return known


def test_both_sides_are_read() -> None:
    causes = {cause for _, cause in found()}
    assert {
        "collate",
        "gc-disabled",
        "thermal",
        "short-kernels",
        "slow-host-code",
        "sync-batchnorm",
    } <= causes
    assert {
        "sync-batchnorm",
        "graph-break",
        "anomaly-detection",
        "small-buckets",
        "storage-latency",
    } <= answered()


def test_every_cause_that_is_answered_is_found_or_said_why_not() -> None:
    missing = answered() - {cause for _, cause in found()}
    assert missing - set(NOT_FOUND) == set(), "these causes have an answer, but no rule finds them"
    assert set(NOT_FOUND) - missing == set(), "rules find these now: take them out of NOT_FOUND"


ANYTHING = {
    "device.kind": "cuda",
    "device.capability": "8.0",
    "model.has": ["conv", "attention"],
    "optimizer.name": "adamw",
    "optimizer.class": "AdamW",
    "loader.num_workers": 8,
    "loader.batch_size": 8,
    "cpu.cores": 4,
    "cpu.threads": 8,
    "ddp.gradient_bytes": 10**8,
    "ddp.find_unused_parameters": True,
}
ON_A_CPU = {**ANYTHING, "device.kind": "cpu"}
FREE_CORES = {**ON_A_CPU, "cpu.threads": 1}


@pytest.mark.parametrize(("kind", "cause"), sorted(found(), key=str), ids=str)
def test_every_cause_that_is_found_has_an_answer(
    kind: Kind, cause: str, make_report: Callable[..., Report], make_finding: Callable[..., Finding]
) -> None:
    # GIVEN a finding of each cause WHEN remedies are asked, on a GPU or a CPU THEN one of them has a proposal
    finding = make_finding(kind, cause=cause)
    setups = (ANYTHING, ON_A_CPU, FREE_CORES)
    said = [answers(Case(make_report(finding, setup=setup), finding)).proposals for setup in setups]
    assert any(said)

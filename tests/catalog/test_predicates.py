"""Conditions: true, false, or unknown because the run did not tell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.catalog import SETUP_FIELDS, PredicateError, Truth, parse_predicate
from trainrx.catalog.predicates import evaluate_all

T, F, U = Truth.TRUE, Truth.FALSE, Truth.UNKNOWN


@pytest.mark.parametrize(
    ("text", "setup", "expected"),
    [
        ("device.kind == cuda", {"device.kind": "cuda"}, T),
        ("device.kind == cuda", {"device.kind": "CUDA"}, T),
        ("device.kind == cuda", {"device.kind": "cpu"}, F),
        ("device.kind == cuda", {}, U),
        ("device.kind in cuda|rocm", {"device.kind": "rocm"}, T),
        ("device.kind != cpu", {"device.kind": "mps"}, T),
        ("world_size > 1", {"world_size": 1}, F),
        ("world_size > 1", {"world_size": 8}, T),
        ("world_size > 1", {"world_size": True}, U),
        ("world_size > 1", {"world_size": "8"}, U),
        ("loader.num_workers == 0", {"loader.num_workers": 0}, T),
        ("memory.headroom < 0.05", {"memory.headroom": 0.02}, T),
        ("memory.headroom < 0.05", {"memory.headroom": float("nan")}, U),
        ("memory.headroom <= 0.05", {"memory.headroom": 0.05}, T),
        ("model.has contains attention", {"model.has": ["conv", "attention"]}, T),
        ("model.has contains attention", {"model.has": frozenset({"conv"})}, F),
        ("model.has contains attention", {"model.has": []}, F),
        ("model.has contains attention", {"model.has": [1]}, U),
        ("model.has contains attention", {"model.has": 3}, U),
        ("torch.version >= 2.6", {"torch.version": "2.10.1+cu130"}, T),
        ("torch.version >= 2.10", {"torch.version": "2.6"}, F),
        ("torch.version >= 2.6", {"torch.version": "2.6.0a0+git12"}, T),
        ("torch.version >= 2.6", {"torch.version": "unknown build"}, U),
        ("device.capability >= 8.9", {"device.capability": (10, 0)}, T),
        ("device.capability >= 8.9", {"device.capability": 8.0}, F),
        ("device.capability >= 10.0", {"device.capability": "9.0"}, F),
        ("batch.variable_length == false", {"batch.variable_length": False}, T),
        ("batch.variable_length == false", {"batch.variable_length": 0}, U),
    ],
)
def test_answers(text: str, setup: dict[str, object], expected: Truth) -> None:
    answer = parse_predicate(text).evaluate(setup)
    assert answer.truth is expected
    assert bool(answer.reason) == (expected is U)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("world_size", "field op value"),
        ("world_size > 1 and nodes > 1", "field op value"),
        ("moon.phase == full", "unknown field 'moon.phase'"),
        ("world_size contains 1", "not 'contains'"),
        ("model.has == conv", "takes contains"),
        ("device.kind == tpu", "one of cpu, cuda"),
        ("world_size > many", "not a number"),
        ("torch.version >= new", "not a version"),
        ("batch.variable_length == maybe", "not true or false"),
        ("optimizer.name == __import__('os')", "not a plain word"),
        ("world_size > " + "9" * 300, "at most 200 characters"),
        ("device.kind in cuda|", "one of"),
    ],
)
def test_refusals_name_the_text_and_what_was_expected(text: str, told: str) -> None:
    with pytest.raises(PredicateError, match=r"\w") as caught:
        parse_predicate(text)
    assert told in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        predicate = parse_predicate(text)
    except PredicateError:
        return
    assert predicate.field.name in SETUP_FIELDS


@given(
    st.dictionaries(
        st.sampled_from(sorted(SETUP_FIELDS)),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
            lambda children: st.lists(children, max_size=3),
            max_leaves=4,
        ),
    )
)
def test_any_setup_is_answered(setup: dict[str, object]) -> None:
    texts = ("world_size > 1", "model.has contains conv", "torch.version >= 2.0", "precision in fp32|tf32")
    needs = evaluate_all(map(parse_predicate, texts), setup)
    assert needs.truth in Truth
    assert len(needs.answers) == 4


@given(st.tuples(*[st.integers(0, 40)] * 3), st.tuples(*[st.integers(0, 40)] * 2))
def test_versions_compare_part_by_part(have: tuple[int, int, int], need: tuple[int, int]) -> None:
    text = f"torch.version >= {need[0]}.{need[1]}"
    answer = parse_predicate(text).evaluate({"torch.version": ".".join(map(str, have))})
    assert (answer.truth is T) == (have >= (*need, 0))


def test_false_outweighs_unknown_and_unknown_outweighs_true() -> None:
    predicates = [parse_predicate("world_size > 1"), parse_predicate("nodes > 1")]
    assert evaluate_all(predicates, {"world_size": 1}).truth is F
    assert evaluate_all(predicates, {"world_size": 2}).truth is U
    assert evaluate_all(predicates, {"world_size": 2, "nodes": 2}).truth is T
    assert evaluate_all([], {}).truth is T
    assert evaluate_all(predicates, {"world_size": 1}).failed == (predicates[0],)
    assert "did not tell nodes" in evaluate_all(predicates, {"world_size": 2}).unknown[0].reason

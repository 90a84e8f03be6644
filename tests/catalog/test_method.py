"""The schema: a method file that is wrong is refused with its file, field and reason."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from trainrx.catalog import CatalogError, Method, Scope, Truth
from trainrx.catalog.method import method_from

MISSING = object()


def changed(facts: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    data = copy.deepcopy(facts)
    *steps, last = path.split(".")
    place: Any = data
    for step in steps:
        place = place[int(step)] if step.isdigit() else place[step]
    if value is MISSING:
        del place[last]
    else:
        place[last] = value
    return data


def test_a_file_in_order_is_read(facts: dict[str, Any]) -> None:
    method = method_from(facts, file="warm-shelf.yaml")
    assert method.auto_trial
    assert method.scope is Scope.IMPLEMENTATION
    assert method.needs_met({"loader.num_workers": 2}).truth is Truth.TRUE
    assert method.serves_domain("vision")


@pytest.mark.parametrize(
    ("path", "value", "field", "told"),
    [
        ("id", "Not A Slug", "id", "pattern"),
        ("id", MISSING, "id", "required"),
        ("colour", "red", "colour", "not permitted"),
        ("one_line", "x" * 141, "one_line", "140"),
        ("reference.year", "2020", "reference.year", "integer"),
        ("reference.year", True, "reference.year", "integer"),
        ("reference.arxiv", "not-an-id", "reference.arxiv", "pattern"),
        ("reference.arxiv", 2001.00001, "reference.arxiv", "string"),
        ("placement.component", "kitchen", "placement.component", "function"),
        ("placement.subcomponent", "architecture", "placement", "no subcomponent of 'system'"),
        ("placement.subcategory", "data-sampling", "placement", "no subcategory of 'system-centric'"),
        ("relieves", [], "relieves", "at least 1"),
        ("relieves", ["hunger"], "relieves.0", "data-loading"),
        ("relieves", "data-loading", "relieves", "tuple"),
        ("lengthens", ["data-loading"], "", "stands in relieves and in lengthens"),
        ("equivalence", "semantic", "", "needs an action"),
        ("needs", ["moon.phase == full"], "needs", "unknown field 'moon.phase'"),
        ("needs", ["world_size > 1", "world_size > 1"], "", "needs names something twice"),
        ("conflicts_with", ["warm-shelf"], "", "with itself"),
        ("how.knob", "rm -rf /", "how.knob", "pattern"),
        ("quality_risk", "some", "quality_risk", "none"),
        ("evidence", [], "", "core method needs an evidence row"),
        ("no_evidence", "none known", "", "stands beside evidence rows"),
        ("expects", [], "expects", "at least 1"),
        ("expects.0.at_least", 0, "expects.0.at_least", "greater than 0"),
        ("expects.0.metric", "mood", "expects.0.metric", "step_time"),
        ("evidence.0.gain", -1, "evidence.0.gain", "greater than 0"),
        ("evidence.0.gain", "twice", "evidence.0.gain", "number"),
        ("evidence.0.grade", "D", "evidence.0.grade", "'A'"),
        ("evidence.0.source", MISSING, "evidence.0.source", "required"),
        ("evidence.0.reported", "", "evidence.0.reported", "at least 1"),
        ("evidence.0.repeats", 0, "evidence.0.repeats", "greater than or equal to 1"),
        ("evidence.0.claim", "x", "evidence.0.claim", "not permitted"),
    ],
)
def test_faults_name_file_field_and_reason(
    facts: dict[str, Any], path: str, value: object, field: str, told: str
) -> None:
    with pytest.raises(CatalogError) as caught:
        method_from(changed(facts, path, value), file="warm-shelf.yaml")
    assert str(caught.value).startswith("warm-shelf.yaml: ")
    assert caught.value.field == field
    assert told in caught.value.reason


@pytest.mark.parametrize("data", [None, [], "text", 3])
def test_a_file_that_is_no_mapping_is_refused(data: object) -> None:
    with pytest.raises(CatalogError, match="expected a mapping"):
        method_from(data, file="x.yaml")


def test_a_method_outside_system_needs_an_action(facts: dict[str, Any]) -> None:
    facts["placement"] = {
        "component": "data",
        "subcomponent": "training-data",
        "category": "data-centric",
        "subcategory": "data-sampling",
    }
    with pytest.raises(CatalogError, match="an action is missing"):
        method_from(facts, file="x.yaml")


def test_a_method_cannot_be_changed_after_reading(facts: dict[str, Any]) -> None:
    method = Method.model_validate(facts)
    with pytest.raises(ValueError, match="frozen"):
        method.tier = "extended"  # type: ignore[assignment,misc]

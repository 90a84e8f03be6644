"""Taxonomic advice: engineering first, then function, data, optimization, by action; cells to avoid with a reason."""

from __future__ import annotations

from collections import Counter

import pytest

from trainrx.advisor.cells import cell_advice, cells_left
from trainrx.catalog import Bottleneck, Catalog, Method, Truth
from trainrx.profiler.vocabulary import Kind

COMPONENTS = ["system", "function", "data", "optimization"]
ACTIONS = [None, "remove", "restrict", "reorder", "replace", "retrofit"]
GPU_TEXT = {
    "device.kind": "cuda",
    "world_size": 2,
    "model.has": ["attention", "embedding"],
    "task.domain": "nlp",
}


@pytest.mark.parametrize("kind", list(Kind))
def test_cells_stand_in_order_and_name_methods_that_relieve(kind: Kind, bundled: Catalog) -> None:
    advice = cell_advice(kind, bundled, GPU_TEXT)
    relieving = {method.id for method in bundled.relieving(kind.value)}
    helping = [cell for cell in advice if not cell.avoid and "saves steps" not in cell.reason]
    assert helping, "every kind has a cell that relieves it"
    assert [COMPONENTS.index(cell.component) for cell in helping] == sorted(
        COMPONENTS.index(cell.component) for cell in helping
    )
    for component in COMPONENTS[1:]:
        actions = [ACTIONS.index(cell.action) for cell in helping if cell.component == component]
        assert actions == sorted(actions)
    assert all(set(cell.methods) <= relieving for cell in helping)
    assert helping[0].component == "system"


@pytest.mark.parametrize("kind", list(Kind))
def test_cells_to_avoid_come_last_and_say_why(kind: Kind, bundled: Catalog) -> None:
    advice = cell_advice(kind, bundled, {})
    assert [cell.avoid for cell in advice] == sorted(cell.avoid for cell in advice)
    harming = {m.id for m in bundled.methods.values() if Bottleneck(kind.value) in m.lengthens}
    for cell in advice:
        if cell.avoid:
            assert set(cell.methods) <= harming
            assert "worse" in cell.reason and "waits for already" in cell.reason


def test_methods_that_this_run_cannot_use_are_not_in_a_cell(bundled: Catalog) -> None:
    advice = cell_advice(
        Kind.COMPUTE, bundled, {"device.kind": "cpu", "model.has": ["conv"], "world_size": 1}
    )
    listed = {method for cell in advice for method in cell.methods}
    assert not listed & {"flash-attention", "tf32", "ddp", "cudnn-benchmark"}


def test_step_savers_come_after_what_makes_steps_faster_and_are_judged_on_curves(bundled: Catalog) -> None:
    helping = [cell for cell in cell_advice(Kind.COMPUTE, bundled, GPU_TEXT) if not cell.avoid]
    assert "curve of quality against cost" in helping[-1].reason
    assert all("saves steps" not in cell.reason for cell in helping[:-1])
    waiting = cell_advice(Kind.DATA_LOADING, bundled, GPU_TEXT)
    assert all("saves steps" not in cell.reason for cell in waiting)


def test_a_cell_of_rounding_is_told_from_one_that_changes_the_learning(bundled: Catalog) -> None:
    cells = {(c.component, c.subcomponent, c.action): c for c in cell_advice(Kind.COMPUTE, bundled, GPU_TEXT)}
    assert "rounding at most" in cells["system", "precision", "restrict"].reason
    assert "leaves what is learned alone" in cells["system", "kernels", None].reason
    assert "judge by quality against cost" in cells["data", "training-data", "remove"].reason


@pytest.mark.parametrize("kind", list(Kind))
def test_cells_and_methods_that_are_not_shown_are_counted(kind: Kind, bundled: Catalog) -> None:
    # GIVEN all methods that relieve a finding on this setup, and those that make it worse
    word = Bottleneck(kind.value)
    possible = [one for one in bundled.methods.values() if one.needs_met(GPU_TEXT).truth is not Truth.FALSE]
    relieving = Counter(place(one) for one in possible if word in one.relieves)
    harming = Counter(place(one) for one in possible if word in one.lengthens)
    # WHEN cells are advised
    advice = [one for one in cell_advice(kind, bundled, GPU_TEXT) if "saves steps" not in one.reason]
    left = {one.component: one.cells for one in cells_left(kind, bundled, GPU_TEXT)}
    # THEN those that are shown and those that are counted are all cells
    for component in COMPONENTS:
        shown = sum(one.component == component and not one.avoid for one in advice)
        assert shown + left.get(component, 0) == sum(cell[0] == component for cell in relieving)
    assert sum(one.avoid for one in advice) + left.get(None, 0) == len(harming)
    assert 0 not in left.values()
    # AND methods that are named and those that are counted are all methods of a cell
    for one in advice:
        cell = (one.component, one.subcomponent, one.action)
        assert len(one.methods) + one.methods_left == (harming if one.avoid else relieving)[cell]


def place(method: Method) -> tuple[str, str, str | None]:
    found = method.placement
    return str(found.component), str(found.subcomponent), None if found.action is None else str(found.action)

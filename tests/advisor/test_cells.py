"""Taxonomic advice: engineering first, then function, data, optimization, by action; cells to avoid with a reason."""

from __future__ import annotations

import pytest

from trainrx.advisor.cells import cell_advice
from trainrx.catalog import Bottleneck, Catalog
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

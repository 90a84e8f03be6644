"""Counts of both taxonomies, and where they meet."""

from trainrx.catalog import Action, Catalog, Component, Subcomponent
from trainrx.catalog.coverage import Filling, cells, crosswalk, groups, thin_cells


def test_every_method_is_counted_once_in_each_taxonomy(bundled: Catalog) -> None:
    assert sum(cell.methods for cell in cells(bundled)) == len(bundled)
    assert sum(group.methods for group in groups(bundled)) == len(bundled)
    assert sum(crossing.methods for crossing in crosswalk(bundled)) == len(bundled)


def test_a_cells_count_is_the_length_of_its_list(bundled: Catalog) -> None:
    for cell in cells(bundled):
        assert len(bundled.cell(cell.component, cell.subcomponent, cell.action)) == cell.methods
        assert cell.core <= cell.methods


def test_core_cells_hold_what_is_known(bundled: Catalog) -> None:
    counted = {(c.subcomponent, c.action): c.methods for c in cells(bundled)}
    assert counted[Subcomponent.ARCHITECTURE, Action.REPLACE] >= 37
    assert counted[Subcomponent.TRAINING_ALGORITHM, Action.REPLACE] >= 40
    assert counted[Subcomponent.PRECISION, Action.RESTRICT] >= 11


def test_thin_cells_are_said_to_be_few_known_to_us(bundled: Catalog) -> None:
    thin = thin_cells(bundled)
    assert thin
    assert all("known to us" in cell.filling.value for cell in thin)
    assert all(cell.component is not Component.SYSTEM for cell in thin)
    assert [cell.methods for cell in thin] == sorted(cell.methods for cell in thin)


def test_system_cells_without_a_method_lie_outside_the_grid(bundled: Catalog) -> None:
    empty = [cell for cell in cells(bundled) if cell.component is Component.SYSTEM and not cell.methods]
    assert {cell.filling for cell in empty} == {Filling.OUTSIDE}

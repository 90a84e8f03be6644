"""The two taxonomy figures as values: counts, selection targets, outlines, alt texts."""

from __future__ import annotations

import pytest

from trainrx.app.figures.taxonomy_matrix import matrix_alt, taxonomy_matrix
from trainrx.app.figures.taxonomy_tree import taxonomy_tree, tree_alt
from trainrx.app.views.catalog import Matrix, matrix
from trainrx.catalog import Catalog, load_catalog
from trainrx.catalog.coverage import Filling, groups


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(scope="module")
def shown(catalog: Catalog) -> Matrix:
    return matrix(catalog)


def test_every_cell_can_be_clicked(shown: Matrix) -> None:
    targets = taxonomy_matrix(shown, dark=False).data[1]
    assert len(targets.customdata) == len(shown.row_labels) * len(shown.column_labels)
    assert list(targets.customdata[0]) == ["function", "architecture", "remove"]
    assert targets.text[0] == str(shown.cells[0][0].methods)


def test_an_absent_cell_has_no_number(shown: Matrix) -> None:
    targets = taxonomy_matrix(shown, dark=False).data[1]
    absent = [
        i for i, cell in enumerate(cell for line in shown.cells for cell in line) if cell.methods is None
    ]
    assert absent
    assert {targets.text[i] for i in absent} == {""}


def test_thin_cells_are_dotted_and_the_chosen_one_outlined(shown: Matrix) -> None:
    thin = sum(cell.note == Filling.THIN.value for line in shown.cells[:6] for cell in line)
    plain = taxonomy_matrix(shown, dark=False).layout.shapes
    assert sum(shape.line.dash == "dot" for shape in plain) == thin > 0
    marked = taxonomy_matrix(shown, dark=False, chosen=("data.training-data", "remove")).layout.shapes
    assert len(marked) == len(plain) + 1
    unknown = taxonomy_matrix(shown, dark=False, chosen=("no.such", "remove")).layout.shapes
    assert len(unknown) == len(plain)


def test_ink_follows_the_page(shown: Matrix) -> None:
    colours = {taxonomy_matrix(shown, dark=dark).data[1].textfont.color for dark in (True, False)}
    assert len(colours) == 2


def test_the_trees_parts_sum_to_their_wholes(catalog: Catalog) -> None:
    tree = taxonomy_tree(groups(catalog), dark=True).data[0]
    value = dict(zip(tree.ids, tree.values, strict=True))
    parent = dict(zip(tree.ids, tree.parents, strict=True))
    for whole in {p for p in parent.values() if p}:
        assert value[whole] == sum(value[part] for part, above in parent.items() if above == whole)
    assert value["all methods"] == len(catalog)


def test_figures_have_words(catalog: Catalog, shown: Matrix) -> None:
    assert "The fullest cell is optimization.training-algorithm × replace" in matrix_alt(shown)
    assert "The largest group is model-centric / basic-modules" in tree_alt(groups(catalog))

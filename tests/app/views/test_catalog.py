"""The catalog's view-model: choices, card, matrix and tables."""

from __future__ import annotations

import pytest

from trainrx.app.views.catalog import (
    Choice,
    allowed_words,
    card,
    chosen,
    crosswalk_table,
    definitions_table,
    group_labels,
    list_table,
    matrix,
    method_document,
    part_labels,
    statements,
    thin_sentence,
    totals_sentence,
)
from trainrx.catalog import Catalog, load_catalog


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def test_labels_become_wishes() -> None:
    choice = Choice.of_labels(part="data.training-data", group="budgeted / compute-allocation", tier="core")
    assert choice == Choice(
        component="data",
        subcomponent="training-data",
        category="budgeted",
        subcategory="compute-allocation",
        tier="core",
    )
    assert Choice.of_labels(part=None, group=None).as_dict() == {}


def test_every_cell_of_the_matrix_lists_as_many_methods_as_it_counts(catalog: Catalog) -> None:
    for line in matrix(catalog).cells:
        for cell in line:
            wish = Choice(component=cell.component, subcomponent=cell.subcomponent, action=cell.action)
            assert len(chosen(catalog, wish)) == (cell.methods or 0)


def test_every_group_lists_its_methods(catalog: Catalog) -> None:
    listed = [
        m for label in group_labels() for m in chosen(catalog, Choice.of_labels(part=None, group=label))
    ]
    assert len(listed) == len(catalog)


def test_a_card_says_negative_first_and_never_a_bare_ratio(catalog: Catalog) -> None:
    for method in catalog.methods.values():
        shown = card(catalog, method)
        verdicts = [line.verdict == "negative" for line in shown.evidence]
        assert verdicts == sorted(verdicts, reverse=True)
        for row in shown.evidence_table():
            for name in ("task", "model", "hardware", "against", "grade", "source", "reported"):
                assert row[name]


def test_a_card_without_evidence_says_so(catalog: Catalog) -> None:
    assert "known to us" in card(catalog, catalog.methods["ddp-static-graph"]).backing


def test_empty_headings_are_left_out(catalog: Catalog) -> None:
    names = [name for name, _ in card(catalog, catalog.methods["mixup"]).conditions]
    assert "Lengthens" in names
    assert "Lengthens" not in [n for n, _ in card(catalog, catalog.methods["specaugment"]).conditions]


def test_a_document_reads_relations_both_ways(catalog: Catalog) -> None:
    document = method_document(catalog, catalog.methods["mixup"])
    assert document["synergises_with"] == list(catalog.synergies["mixup"])
    assert document["scope"] == "algorithmic"


@pytest.mark.parametrize(
    "wish", ["relieves", "component", "action", "category", "domain", "equivalence", "tier"]
)
def test_every_word_of_a_wish_can_be_listed(catalog: Catalog, wish: str) -> None:
    for word in allowed_words(wish):
        assert chosen(catalog, Choice(**{wish: word})), (wish, word)


def test_tables_and_sentences(catalog: Catalog) -> None:
    assert len(part_labels()) == 18
    assert len(list_table(tuple(catalog.methods.values()))) == len(catalog)
    assert sum(int(str(row["methods"])) for row in crosswalk_table(catalog)) == len(catalog)
    assert all(row["meaning"] for row in definitions_table())
    assert [statement.title for statement in statements()] == ["Speed-up at equal quality", "The update"]
    assert "(our pairing)" in statements()[1].points[3]
    assert "not a finding of a survey" in thin_sentence(catalog)
    assert "negative" in totals_sentence(catalog)

"""Every word of both taxonomies has one definition, one place, and an honest basis."""

from enum import Enum

import pytest

from trainrx.catalog import Action, Category, Component, Subcategory, Subcomponent
from trainrx.catalog.crosswalk import CROSSWALK_WORDS
from trainrx.catalog.statements import SPEEDUP, UPDATE, UPDATE_PARTS
from trainrx.catalog.taxonomy import DEFINITIONS, SUBCATEGORIES, SUBCOMPONENTS, define, says
from trainrx.catalog.vocabulary import PlacedBy


@pytest.mark.parametrize("words", [Component, Subcomponent, Action, Category, Subcategory])
def test_every_word_is_defined(words: type[Enum]) -> None:
    for word in words:
        assert define(word).meaning


def test_words_spelled_alike_keep_their_own_definition() -> None:
    assert define(Subcomponent.PRECISION).meaning != define(Subcategory.PRECISION).meaning


def test_every_part_has_one_place() -> None:
    parts = [part for subs in SUBCOMPONENTS.values() for part in subs]
    assert sorted(parts) == sorted(Subcomponent)
    subcategories = [sub for subs in SUBCATEGORIES.values() for sub in subs]
    assert sorted(subcategories) == sorted(Subcategory)


def test_the_survey_says_only_what_was_read() -> None:
    for definition in DEFINITIONS:
        assert ("the survey says" in says(definition)) == (definition.basis is PlacedBy.SURVEY)


def test_system_is_never_attributed_to_the_first_survey() -> None:
    assert says(define(Component.SYSTEM)) == "our own term"


def test_the_formal_statements_hold_their_symbols() -> None:
    assert "q(R) ≥ q(R₀)" in SPEEDUP.formula
    assert "G(f, θₜ, D)" in UPDATE.formula
    assert {part.category for part in UPDATE_PARTS} == set(Category) == set(CROSSWALK_WORDS)

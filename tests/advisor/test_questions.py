"""What is asked of a user reads as a question, for every condition in the catalog."""

from __future__ import annotations

import re

import pytest

from trainrx.advisor.questions import question
from trainrx.catalog import SETUP_FIELDS, Catalog, parse_predicate


def test_every_condition_of_the_catalog_is_a_question_without_code(bundled: Catalog) -> None:
    conditions = {text for method in bundled.methods.values() for text in method.needs}
    assert len(conditions) > 40
    for text in conditions:
        asked = question(parse_predicate(text))
        assert re.fullmatch(r"(Is|Does|Do|Can|Are) .+\?", asked), (text, asked)
        assert not re.search(r"[=<>|]|\bcontains\b|None", asked), (text, asked)


def test_no_field_falls_back_to_its_name(bundled: Catalog) -> None:
    conditions = {text for method in bundled.methods.values() for text in method.needs}
    assert not [text for text in conditions if "Does this hold" in question(parse_predicate(text))]
    assert {parse_predicate(text).field.name for text in conditions} <= set(SETUP_FIELDS)


@pytest.mark.parametrize(
    ("condition", "asked"),
    [
        ("memory.headroom >= 0.2", "Is at least 20 % of the device's memory free at the peak?"),
        ("batch.variable_length == false", "Do all batches have the same shape?"),
        ("training.stage == finetune", "Does training start from a pretrained model?"),
        ("nodes > 1", "Does the run span more than one machine?"),
        ("loader.num_workers > 0", "Does the DataLoader have any worker processes?"),
        ("device.capability >= 8.0", "Is the GPU of compute capability 8.0 or above (A100 or newer)?"),
        ("precision in fp32|tf32", "Does the model multiply in fp32 or tf32 now?"),
        ("device.kind in cuda|rocm", "Does an NVIDIA GPU (CUDA) or an AMD GPU (ROCm) compute this run?"),
    ],
)
def test_conditions_in_words(condition: str, asked: str) -> None:
    assert question(parse_predicate(condition)) == asked

"""Rules over the whole bundled catalog. A new method that breaks one is told what is missing."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml

from trainrx.catalog import (
    Bottleneck,
    Catalog,
    Category,
    Component,
    Equivalence,
    Grade,
    Method,
    Tier,
    load_catalog,
)
from trainrx.catalog.coverage import Filling, cells, groups
from trainrx.catalog.reading import read_yaml
from trainrx.catalog.registry import BUNDLED, method_files, read_method
from trainrx.catalog.vocabulary import Sureness
from trainrx.catalog.wording import gain_sentence

IDS = [path.stem for path in method_files(BUNDLED)]


@pytest.mark.parametrize("method_id", IDS)
def test_a_file_holds_the_method_that_it_is_named_after(method_id: str) -> None:
    assert read_method(BUNDLED / f"{method_id}.yaml").id == method_id


def test_there_are_at_least_560_methods_and_500_rows_with_negatives(bundled: Catalog) -> None:
    assert len(bundled) >= 560
    assert len(bundled.evidence) >= 500
    assert sum(row.is_negative for _, row in bundled.evidence) >= 60


def test_every_algorithmic_cell_is_filled(bundled: Catalog) -> None:
    grid = [cell for cell in cells(bundled) if cell.component is not Component.SYSTEM]
    assert len(grid) == 30
    assert [cell for cell in grid if cell.filling is Filling.EMPTY] == []


def test_every_category_is_filled(bundled: Catalog) -> None:
    for category in Category:
        assert bundled.group(category)


def test_every_group_is_filled(bundled: Catalog) -> None:
    assert all(group.methods for group in groups(bundled))


@pytest.mark.parametrize("kind", list(Bottleneck))
def test_every_bottleneck_has_a_method_that_relieves_it(bundled: Catalog, kind: Bottleneck) -> None:
    assert bundled.relieving(kind), f"nothing relieves {kind}"


def test_conflicts_and_synergies_are_symmetric_and_apart(bundled: Catalog) -> None:
    for relations in (bundled.conflicts, bundled.synergies):
        for method_id, others in relations.items():
            assert all(method_id in relations[other] for other in others)
    for method_id, others in bundled.conflicts.items():
        assert not set(others) & set(bundled.synergies[method_id])


def test_each_pair_is_named_in_one_file_only(bundled: Catalog) -> None:
    for field in ("conflicts_with", "synergises_with"):
        pairs = Counter(
            frozenset((method.id, other))
            for method in bundled.methods.values()
            for other in getattr(method, field)
        )
        assert [sorted(pair) for pair, count in pairs.items() if count > 1] == []


def test_a_core_method_has_evidence_or_says_that_none_is_known(bundled: Catalog) -> None:
    silent = [
        m.id for m in bundled.methods.values() if m.tier is Tier.CORE and not (m.evidence or m.no_evidence)
    ]
    assert silent == []


def test_a_high_quality_risk_is_never_core(bundled: Catalog) -> None:
    assert [m.id for m in bundled.methods.values() if m.tier is Tier.CORE and m.quality_risk == "high"] == []


def test_no_gain_stands_alone(bundled: Catalog) -> None:
    for method_id, row in bundled.evidence:
        sentence = gain_sentence(row)
        for word in ("task: ", "hardware: ", "grade ", "source: ", "against: "):
            assert word in sentence, (method_id, sentence)
        assert row.source
        assert row.reported


def test_no_text_outside_evidence_holds_a_multiplier(bundled: Catalog) -> None:
    for method in bundled.methods.values():
        for text in (method.one_line, method.how.snippet or "", method.no_evidence or ""):
            assert not any(part[:-1].replace(".", "").isdigit() and part[-1] in "x×" for part in text.split())


def test_grade_a_rows_name_their_repeats_or_a_public_log(bundled: Catalog) -> None:
    for method_id, row in bundled.evidence:
        if row.grade is Grade.A:
            assert (row.repeats or 0) >= 3 or "/" in row.source, method_id


def test_a_paper_is_reachable_or_a_library_feature_named(bundled: Catalog) -> None:
    for method in bundled.methods.values():
        reference = method.reference
        assert reference.arxiv or reference.docs or reference.year or method.how.api, method.id


def test_unsure_bibliography_stays_marked(bundled: Catalog) -> None:
    sureness = Counter(method.sure.bibliography for method in bundled.methods.values())
    assert sureness[Sureness.MEDIUM] > 0
    assert sureness[Sureness.LOW] > 0


def test_only_placements_that_were_read_are_the_surveys(bundled: Catalog) -> None:
    said = {method.id for method in bundled.methods.values() if method.sure.placement == "survey"}
    assert said == {"adamw", "adan", "lamb", "lars", "lion"}


def test_semantic_methods_are_judged_on_quality_against_cost(bundled: Catalog) -> None:
    def judged(method: Method) -> bool:
        return any(expected.metric == "cost_to_quality" for expected in method.expects) or method.auto_trial

    semantic = [m for m in bundled.methods.values() if m.equivalence is Equivalence.SEMANTIC]
    assert [method.id for method in semantic if not judged(method)] == []


def test_the_kinds_beside_the_loop_list_their_methods(bundled: Catalog) -> None:
    expected = {
        "garbage-collection": "python-gc-control",
        "cpu-threads": "worker-thread-limit",
        "evaluation": "inference-mode-eval",
        "logging": "eval-and-log-frequency",
        "throttling": "gpu-clock-power",
        "host-python": "torch-compile-default",
    }
    for kind, method_id in expected.items():
        assert method_id in {method.id for method in bundled.relieving(kind)}


def test_files_read_the_same_as_with_a_standard_yaml_reader() -> None:
    # GIVEN our strict reader and PyYAML's safe one WHEN both read every tenth file THEN they agree
    for path in method_files(BUNDLED)[::10]:
        assert read_yaml(path) == yaml.safe_load(path.read_text(encoding="utf-8"))


def test_loading_twice_gives_equal_catalogs() -> None:
    first, second = load_catalog(), load_catalog()
    assert dict(first.methods) == dict(second.methods)

"""Sentences about gains: never a bare multiplier, and links that lead somewhere."""

from __future__ import annotations

import pytest

from trainrx.catalog import Catalog, Direction, Evidence, Expectation, GainKind, Grade, Metric
from trainrx.catalog.wording import (
    evidence_words,
    expectation_sentence,
    gain_sentence,
    placed_by_words,
    ratio_words,
    source_url,
    verdict_words,
)


def row(**changes: object) -> Evidence:
    facts = {"gain_kind": GainKind.STEP_TIME, "source": "2001.00001", "grade": Grade.C, "reported": "a claim"}
    return Evidence.model_validate({**facts, **changes})


def test_what_is_missing_reads_not_stated() -> None:
    sentence = gain_sentence(row(gain=1.5))
    assert sentence == (
        "1.5× faster (step time); task: not stated; model: not stated; hardware: not stated; against: not stated; "
        "grade C; source: arXiv 2001.00001"
    )


def test_a_small_gain_is_not_rounded_away() -> None:
    assert ratio_words(row(gain=1.004)) == "1.004× faster (step time)"
    assert ratio_words(row(gain=0.996)) == "1.004× slower (step time)"


@pytest.mark.parametrize(
    ("kind", "gain", "words"),
    [
        (GainKind.MEMORY, 1.07, "1.07× less memory"),
        (GainKind.MEMORY, 0.8, "1.25× more memory"),
        (GainKind.THROUGHPUT, 2.0, "2× faster (throughput)"),
        (GainKind.FLOPS, 1.0, "no change (flops)"),
    ],
)
def test_a_ratio_says_which_way_it_goes(kind: GainKind, gain: float, words: str) -> None:
    assert ratio_words(row(gain_kind=kind, gain=gain)) == words


def test_no_ratio_is_said_so() -> None:
    assert ratio_words(row()) == "no ratio given (step-time)"


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"gain": 1.2}, "gain"),
        ({"gain": 0.8}, "price"),
        ({"gain": 0.8, "grade": "N"}, "negative"),
        ({"gain": None, "grade": "N"}, "negative"),
        ({"gain": None}, "gain"),
    ],
)
def test_verdicts(changes: dict[str, object], verdict: str) -> None:
    assert verdict_words(row(**changes)) == verdict


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ("2210.06640", "https://arxiv.org/abs/2210.06640"),
        ("pytorch/pytorch#111180", "https://github.com/pytorch/pytorch/issues/111180"),
        ("pytorch/ao:README.md", "https://github.com/pytorch/ao"),
        ("mosaicml/composer v0.3.0 channels_last card", "https://github.com/mosaicml/composer"),
        ("FFCV-SSL#12", None),
        ("pytorch.org blog: activation-checkpointing-techniques, via allenai/OLMo-core#297", None),
        ("ASPLOS 2024, Ansel et al.", None),
        ("javascript:alert(1)", None),
    ],
)
def test_source_links(source: str, url: str | None) -> None:
    assert source_url(source) == url


def test_every_bundled_link_is_https(bundled: Catalog) -> None:
    for _, evidence in bundled.evidence:
        url = source_url(evidence.source)
        assert url is None or url.startswith(("https://arxiv.org/abs/", "https://github.com/"))


def test_expectations_read_as_sentences() -> None:
    expected = Expectation(metric=Metric.DATA_WAIT, direction=Direction.FALLS, at_least=0.2)
    assert expectation_sentence(expected) == (
        "time per step spent waiting for data must fall by at least 20 %"
    )


def test_the_survey_says_only_where_it_does(bundled: Catalog) -> None:
    assert "the survey says" in placed_by_words(bundled.methods["adamw"])
    assert "our reading" in placed_by_words(bundled.methods["pin-memory"])


def test_backing_counts_negatives(bundled: Catalog) -> None:
    assert "negative" in evidence_words(bundled.methods["torch-compile-default"])
    assert "known" in evidence_words(bundled.methods["ddp-static-graph"])

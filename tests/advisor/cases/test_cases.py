"""Public reports with a confirmed cause: the fix that helped stands among the first three prescriptions.

In the counter-cases, in which a textbook fix did not help, that fix does not stand first. The facts stand in `cases.yaml`
beside this file; a case whose facts allow no answer says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainrx.catalog import Catalog
from trainrx.profiler.report import Report

CASES: list[Mapping[str, Any]] = yaml.safe_load(Path(__file__).with_name("cases.yaml").read_text("utf-8"))
TESTED = [case for case in CASES if "impossible" not in case]
FIXED = [case for case in TESTED if "first_three" in case]
COUNTER = [case for case in TESTED if "not_first" in case]

Advised = Callable[[Mapping[str, Any]], Report]


def ids(cases: list[Mapping[str, Any]]) -> list[str]:
    return [case["id"] for case in cases]


def methods(report: Report) -> list[str]:
    return [prescription.method for prescription in report.prescriptions]


def test_all_public_cases_are_here_once_and_few_are_impossible() -> None:
    names = ids(CASES)
    assert len(names) == len(set(names))
    variants = [case for case in CASES if "variant_of" in case]
    assert len(CASES) - len(variants) == 75
    assert len([case for case in CASES if "impossible" in case]) <= 3


@pytest.mark.parametrize("case", TESTED, ids=ids(TESTED))
def test_a_tested_case_expects_something(case: Mapping[str, Any]) -> None:
    assert {"first_three", "not_first", "promises_at_most"} & set(case)


@pytest.mark.parametrize("case", FIXED, ids=ids(FIXED))
def test_the_confirmed_fix_is_among_the_first_three(case: Mapping[str, Any], advised: Advised) -> None:
    # GIVEN the facts of a public report WHEN they are diagnosed and prescribed for THEN its fix stands near the top
    assert set(case["first_three"]) & set(methods(advised(case))[:3]), methods(advised(case))


@pytest.mark.parametrize("case", COUNTER, ids=ids(COUNTER))
def test_the_textbook_fix_that_did_not_help_is_not_first(case: Mapping[str, Any], advised: Advised) -> None:
    assert methods(advised(case))[:1] not in [[method] for method in case["not_first"]]


PROMISING = [case for case in TESTED if "promises_at_most" in case]


@pytest.mark.parametrize("case", PROMISING, ids=ids(PROMISING))
def test_no_gain_is_promised_that_did_not_come(case: Mapping[str, Any], advised: Advised) -> None:
    for prescription in advised(case).prescriptions:
        limit = case["promises_at_most"].get(prescription.method)
        if limit is not None and prescription.predicted_speedup is not None:
            assert prescription.predicted_speedup.mid <= limit


DIAGNOSED = [case for case in TESTED if "headline" in case]


@pytest.mark.parametrize("case", DIAGNOSED, ids=ids(DIAGNOSED))
def test_the_headline_is_the_confirmed_bottleneck(case: Mapping[str, Any], advised: Advised) -> None:
    first = advised(case).findings[0]
    assert [str(first.kind), first.cause] == case["headline"]


@pytest.mark.parametrize("case", TESTED, ids=ids(TESTED))
def test_every_prescription_of_a_case_is_whole(
    case: Mapping[str, Any], advised: Advised, catalog: Catalog
) -> None:
    report = advised(case)
    for prescription in report.prescriptions:
        assert prescription.method in catalog.methods
        assert prescription.how and prescription.basis and prescription.verify and prescription.risk
        assert all(question.endswith("?") for question in prescription.asks)
    assert all(row.reason for row in report.ruled_out)

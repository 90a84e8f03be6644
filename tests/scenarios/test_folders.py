"""Every scenario is whole, and its scripts give nothing away."""

from __future__ import annotations

import re

import pytest

from trainrx.catalog.registry import load_catalog
from trainrx.profiler.vocabulary import Kind

from .truth import FOLDER, Scenario, all_scenarios

SCENARIOS = all_scenarios()
MAX_LINES = 80
#: Kinds that no machine without a GPU, or none without a fault of its own, can show.
NOT_PLANTED = {Kind.H2D_TRANSFER, Kind.HOST_SYNC, Kind.MEMORY_BANDWIDTH, Kind.THROTTLING}
GIVEAWAY = re.compile(r"#|trainrx|slow|bottleneck|inefficien|wasteful", re.IGNORECASE)


def test_there_are_enough_scenarios_and_every_kind_has_one() -> None:
    assert len(SCENARIOS) >= 36
    assert sum(scenario.truth.kind is None for scenario in SCENARIOS) >= 3
    planted = {scenario.truth.kind for scenario in SCENARIOS} - {None}
    assert set(Kind) - NOT_PLANTED == planted


def test_every_kind_has_a_scenario_in_which_the_textbook_is_wrong() -> None:
    warned = {scenario.truth.kind for scenario in SCENARIOS if scenario.truth.wrong_first}
    assert {scenario.truth.kind for scenario in SCENARIOS} <= warned


def test_every_folder_with_a_script_is_a_scenario() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/slow.py")}
    assert folders == {scenario.name for scenario in SCENARIOS}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_scenario_is_whole(scenario: Scenario) -> None:
    # GIVEN a scenario, THEN its places stand in its script once each
    assert len(scenario.line_numbers()) == len(scenario.truth.lines)
    # AND a fault has a fix, a healthy run none; a model that fills the step may have one
    if scenario.truth.kind is not Kind.COMPUTE:
        assert scenario.fixed.is_file() == (scenario.truth.kind is not None)
    # AND the methods that it names are in the catalog
    named = {*scenario.truth.remedies, *scenario.truth.wrong_first}
    assert named <= {method.id for method in load_catalog().methods.values()}
    assert not set(scenario.truth.remedies) & set(scenario.truth.wrong_first)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_scripts_are_short_and_do_not_name_the_fault(scenario: Scenario) -> None:
    for script in (scenario.slow, scenario.fixed):
        if script.is_file():
            text = script.read_text()
            assert len(text.splitlines()) <= MAX_LINES
            assert not GIVEAWAY.findall(text)
            assert "print(" in text or "logging_steps=" in text

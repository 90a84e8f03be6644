"""``trainrx catalog``: one JSON document on stdout, clear words, clear refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from trainrx.app.cli import app
from trainrx.profiler.errors import InputError, UsageError

RUNNER = CliRunner()


def run(*words: str) -> str:
    result = RUNNER.invoke(app, ["catalog", *words], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_list_json_holds_all_methods_in_both_taxonomies() -> None:
    document = json.loads(run("list", "--json"))
    assert document["count"] == len(document["methods"]) >= 560
    assert document["evidence_rows"] >= 500
    for method in document["methods"]:
        assert {"component", "subcomponent", "action", "category", "subcategory"} <= set(method["placement"])
    assert any(row["grade"] == "N" for method in document["methods"] for row in method["evidence"])


@pytest.mark.parametrize(
    ("options", "holds"),
    [
        (["--relieves", "data-loading"], "dataloader-num-workers"),
        (["--component", "optimization", "--action", "replace"], "adamw"),
        (["--component", "system", "--action", "none"], "pin-memory"),
        (["--category", "budgeted"], "budgeted-linear-decay"),
        (["--subcategory", "data-sampling"], "infobatch"),
        (["--domain", "vision", "--tier", "core"], "mixup"),
        (["--equivalence", "exact"], "pin-memory"),
        (["--knob", "loader."], "pin-memory"),
        (["--tryable"], "pin-memory"),
        (["pinned", "--tier", "core"], "pin-memory"),
    ],
)
def test_filters(options: list[str], holds: str) -> None:
    document = json.loads(run("list", *options, "--json"))
    ids = [method["id"] for method in document["methods"]]
    assert holds in ids
    assert len(ids) < 560


def test_filters_join() -> None:
    document = json.loads(run("list", "--domain", "recsys", "--not-tryable", "--tier", "core", "--json"))
    assert document["choice"] == {"domain": "recsys", "tier": "core", "tryable": False}
    assert not any(method["auto_trial"] for method in document["methods"])


def test_an_empty_list_is_no_fault() -> None:
    assert json.loads(run("list", "nothing is called this", "--json"))["methods"] == []
    assert "0 of 5" in run("list", "nothing is called this")


def test_alone_it_lists() -> None:
    assert "pin-memory" in run()
    assert json.loads(run("--json")) == json.loads(run("list", "--json"))


def test_list_says_how_to_go_on() -> None:
    assert "trainrx catalog show ID" in run("list", "--tier", "core")


def test_show_puts_negatives_first_and_no_gain_alone() -> None:
    text = run("show", "torch-compile-default")
    assert text.index("NEGATIVE") < text.index("gain ")
    assert "2 of them negative" in text
    assert text.count("hardware:") >= text.count("× ") - 1


def test_show_json_reads_relations_both_ways() -> None:
    one = json.loads(run("show", "pin-memory", "--json"))
    for other in one["synergises_with"]:
        assert "pin-memory" in json.loads(run("show", other, "--json"))["synergises_with"]


def test_show_says_that_no_evidence_is_known() -> None:
    assert "no published effect of it is known to us" in run("show", "ddp-static-graph")


def test_cells_json_holds_both_matrices_and_the_crosswalk() -> None:
    document = json.loads(run("cells", "--json"))
    grid = [cell for cell in document["first_taxonomy"] if cell["component"] != "system"]
    assert len(grid) == 30
    assert all(cell["methods"] > 0 for cell in grid)
    assert "few methods known to us" in {cell["note"] for cell in grid}
    assert {group["category"] for group in document["second_taxonomy"]} == {
        "data-centric", "model-centric", "optimization-centric", "budgeted", "system-centric",
    }  # fmt: skip
    assert document["crosswalk"]


def test_cells_says_few_known_to_us() -> None:
    assert "Few methods known to us" in run("cells")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["list", "--relieves", "hunger"], "--relieves is 'hunger', expected one of data-loading"),
        (["list", "--action", "repaint"], "expected one of remove"),
        (["list", "--tier", "gold"], "core, extended"),
        (["show", "pin-memry"], "near are pin-memory"),
        (["--json", "cells"], "put it at the end"),
        (["show", "zzzzzz"], "trainrx catalog list"),
    ],
)
def test_usage_faults(words: list[str], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        run(*words)
    assert told in str(caught.value)


def test_a_broken_own_method_is_an_input_fault(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("id: bad\ncolour: red\n")
    with pytest.raises(InputError, match=r"bad\.yaml: field "):
        run("list", "--methods", str(tmp_path))
    (tmp_path / "bad.yaml").write_text("id: bad\nid: bad\n")
    with pytest.raises(InputError, match=r"bad\.yaml: the key 'id' stands twice"):
        run("cells", "--methods", str(tmp_path))

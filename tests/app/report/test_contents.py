"""What a report contains, in the states a run can be in: all of what the pages say, and nothing said twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainrx.app.report.blocks import (
    Chart,
    Contents,
    Findings,
    KeyFigures,
    Prescriptions,
    Sentences,
    Settings,
    Stages,
    Table,
)
from trainrx.app.report.contents import MAX_ROWS, contents
from trainrx.app.report.html import html
from trainrx.app.report.markdown import MAX_ROWS as MARKDOWN_ROWS
from trainrx.app.report.markdown import markdown
from trainrx.app.stored import open_run, open_with_trials
from trainrx.app.views import headings
from trainrx.profiler.report import ClockInfo, CollectiveUse
from trainrx.profiler.vocabulary import ClockBasis


def report_of(runs: Path, samples: Any, report: Any, **more: Any) -> Contents:
    return contents(open_run(samples.store(runs, report.run.id, report=report, **more)))


def section_names(found: Contents) -> list[str]:
    return [section.name for section in found.sections]


def blocks(found: Contents, kind: type) -> list[Any]:
    return [block for section in found.sections for block in section.blocks if isinstance(block, kind)]


def test_a_recorded_run_has_the_diagnosis_then_the_advice_then_the_details(runs: Path, samples: Any) -> None:
    report = samples.advised_report("a", loader=samples.loader(), telemetry=samples.telemetry())
    found = report_of(runs, samples, report, steps=samples.step_table())
    assert section_names(found) == [
        "stages", "findings", "advice", "trials", "steps", "lines", "loader", "telemetry", "cells", "ruled-out", "setup",
    ]  # fmt: skip
    assert found.head.verdict == samples.VERDICT
    assert found.first_advice is not None
    assert found.first_advice.startswith("First to try: DataLoader worker processes")
    assert [len(blocks(found, kind)) for kind in (Stages, Findings, Prescriptions)] == [1, 1, 1]
    assert blocks(found, Prescriptions)[0].run == "a"
    where_else = next(section for section in found.sections if section.name == "cells")
    assert where_else.blocks[-1] == Sentences(
        ("And more cells: 4 of function, 2 to avoid. The catalog has them all.",)
    )


def test_an_imported_trace_has_device_ranks_memory_and_what_ifs(runs: Path, samples: Any) -> None:
    report = samples.traced_report("a")
    report = report.model_copy(
        update={
            "run": report.run.model_copy(update={"source": "kineto"}),
            "prescriptions": [samples.prescription()],
        }
    )
    found = report_of(runs, samples, report)
    assert {"device", "what-ifs", "ranks", "memory"} <= set(section_names(found))
    assert "trials" not in section_names(found), "a trace has no command to try"
    assert blocks(found, Prescriptions)[0].run is None
    assert sum(block.themed for block in blocks(found, Chart)) == 2


def test_a_run_on_a_gpu_has_what_its_page_shows(runs: Path, samples: Any) -> None:
    found = report_of(runs, samples, samples.gpu_report("a"))
    titles = [section.title for section in found.sections]
    assert {headings.DEVICE_STAGES, headings.CROSSINGS, "What fills the GPU's memory"} <= set(titles)
    text = markdown(found)
    assert (
        "train.py:30" in text
        and "| parameters | 1\\.0 GiB |" in text
        and "| largest batch, predicted | 700 |" in text
    )


def test_what_ranks_exchange_and_how_their_clocks_stand_is_told(runs: Path, samples: Any) -> None:
    report = samples.traced_report("a")
    ahead = report.ranks[1].model_copy(update={"clock": ClockInfo(offset_s=2.5, basis=ClockBasis.WALL)})
    use = CollectiveUse(operation="barrier", calls_per_step=0.5, wait_s_per_step=0.001)
    changes = {"ranks": [report.ranks[0], ahead], "collective_uses": [use]}
    ranks = next(
        section
        for section in report_of(runs, samples, report.model_copy(update=changes)).sections
        if section.name == "ranks"
    )
    assert any(getattr(block, "title", "") == headings.COLLECTIVES for block in ranks.blocks)
    assert any(
        "Rank 1's clock is 2.5 s ahead" in sentence
        for block in ranks.blocks
        for sentence in getattr(block, "sentences", ())
    )


def test_an_estimate_has_shares_and_no_stage_table(runs: Path, samples: Any) -> None:
    found = report_of(runs, samples, samples.attached_report("a"))
    assert section_names(found)[0] == "estimate"
    assert not blocks(found, Stages)


def test_a_run_without_steps_says_why(runs: Path, samples: Any) -> None:
    reason = "No step was recorded: the command never imported torch."
    report = samples.full_report(
        "a", step_time=None, step_time_reason=reason, verdict=reason, stages=[], findings=[], host_lines=[]
    )
    found = report_of(runs, samples, report)
    assert found.head.verdict == reason
    assert section_names(found) == ["stages", "advice", "trials", "setup"]
    assert "no step was timed" in found.sections[0].caption


def test_a_healthy_run_says_so(runs: Path, samples: Any) -> None:
    found = report_of(runs, samples, samples.full_report("a", findings=[], verdict="Nothing dominates."))
    findings = next(section for section in found.sections if section.name == "findings")
    assert (findings.blocks, findings.caption[:4]) == ((), "None")
    assert next(section for section in found.sections if section.name == "advice").caption.startswith(
        "Nothing is"
    )


def test_a_run_going_on_is_told_as_far_as_it_is(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a", kept=samples.recording_manifest("a"))
    samples.write_recording(run, 8)
    found = contents(open_run(run))
    assert found.head.verdict.startswith("So far, over 6 timed steps:")


def test_a_damaged_report_is_made_anew_and_said(runs: Path, samples: Any) -> None:
    run = samples.store(runs, "a", kept=samples.manifest("a", options={"warmup": 2}))
    samples.write_recording(run, 12)
    (run.path / "report.json").write_text("{")
    found = contents(open_run(run))
    assert "analysed anew" in found.head.warnings[0]
    assert blocks(found, Stages)


def test_trials_of_the_folder_are_told_where_the_report_lacks_them(runs: Path, samples: Any) -> None:
    from trainrx.advisor.trial.store import TrialFile, TrialFolder

    run = samples.store(runs, "a", report=samples.advised_report("a", trials=[]))
    (run.path / "trials" / "1").mkdir(parents=True)
    TrialFolder(run.path / "trials" / "1").write(
        TrialFile(summary=samples.trial(), command=["train.py"], cwd=None, steps=30, warmup=5)
    )
    found = contents(open_with_trials(run))
    trials = next(section for section in found.sections if section.name == "trials")
    row = trials.blocks[0].rows[0]
    assert (row["measured"], row["predicted"]) == ("1.70× (1.60 to 1.80)", "1.80× (1.20 to 2.20)")
    assert blocks(found, Prescriptions)[0].prescriptions[0].measured


def test_very_long_tables_are_cut_and_say_so(runs: Path, samples: Any) -> None:
    report = samples.full_report("a")
    report = report.model_copy(update={"host_lines": [report.host_lines[0]] * (MAX_ROWS + 7)})
    found = report_of(runs, samples, report)
    lines = next(section for section in found.sections if section.name == "lines")
    assert len(lines.blocks[1].rows) == MAX_ROWS
    assert lines.blocks[1].left_out == 7
    # AND Markdown, which cuts sooner, says it once
    told = [line for line in markdown(found).splitlines() if "left out" in line]
    assert told == [f"{MAX_ROWS + 7 - MARKDOWN_ROWS} more rows left out here: report.json has all."]
    assert html(found).count("7 more rows left out here: report.json has all.") == 1


@pytest.mark.parametrize(
    "maker", ["full_report", "gpu_report", "traced_report", "advised_report", "attached_report"]
)
def test_no_block_is_empty_and_every_chart_has_words(runs: Path, samples: Any, maker: str) -> None:
    found = report_of(runs, samples, getattr(samples, maker)("a"), steps=samples.step_table())
    assert all(table.rows for table in blocks(found, Table))
    assert all(figures.figures for figures in blocks(found, KeyFigures))
    assert all(settings.groups for settings in blocks(found, Settings))
    assert all(chart.words for chart in blocks(found, Chart))
    assert len(set(section_names(found))) == len(found.sections)

"""Writes a report as Markdown for an issue or a pull request: words and tables, details folded away.

Every text of a run is escaped, so that it neither formats nor links, and calls nobody: `@name` and `#1` stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

from ..views import headings
from ..views.advice import PrescriptionView, try_command
from ..views.diagnosis import Figure as KeyFigure
from ..views.diagnosis import FindingView, SetupGroup, StageView
from .blocks import (
    Block,
    Chart,
    Contents,
    Findings,
    KeyFigures,
    Prescriptions,
    Section,
    Sentences,
    Settings,
    Stages,
    Table,
    left_out,
)

#: The first line of every such file.
MARK = "<!-- trainrx report -->"
#: An issue holds 65,536 characters; a table beyond this is cut, and says so.
MAX_ROWS = 20
#: What formats or links, wherever it stands in a line; the dot and the dash of numbers may stay.
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$&#])")
#: What makes a list, a heading or a rule at the beginning of a line.
_AT_BEGINNING = re.compile(r"^(\d*)([-+=.):])")
#: What GitHub takes for a person, an issue, an address or a host, and links, whatever is escaped.
_CALLS = re.compile(r"(@|\\#|:(?=//)|\bwww(?=\.))(?=\S)", re.IGNORECASE)
_BREAK = "<!-- -->"
_NOT_ONE_LINE = re.compile(r"[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]+")
_BACKTICKS = re.compile(r"`+")


def markdown(contents: Contents) -> str:
    """The report as the text of a Markdown file."""
    return "\n".join([MARK, *_head(contents), *_sections(contents.sections), *_foot(contents)]) + "\n"


def plain(text: str) -> str:
    """Text of unknown origin on one line, that means nothing to Markdown or GitHub."""
    line = _SPECIAL.sub(r"\\\1", _one_line(text).strip())
    return _CALLS.sub(rf"\1{_BREAK}", _AT_BEGINNING.sub(r"\1\\\2", line))


def code(text: str) -> str:
    """Text as code on one line, whatever backticks it holds."""
    line = _one_line(text).strip() or " "
    fence = "`" * (_longest_backticks(line) + 1)
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{room}{line}{room}{fence}"


def _code_block(text: str, language: str) -> Iterator[str]:
    fence = "`" * max(3, _longest_backticks(text) + 1)
    yield from (f"{fence}{language}", *(_one_line(line) for line in text.splitlines()), fence)


def _longest_backticks(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def _one_line(text: str) -> str:
    return _NOT_ONE_LINE.sub(" ", text)


def _head(contents: Contents) -> Iterator[str]:
    head = contents.head
    yield f"## {plain(head.script or head.id)}: {plain(head.label)}"
    yield from ("", f"**{plain(head.verdict)}**", "")
    for warning in head.warnings:
        yield from (f"> {plain(warning)}", "")
    if contents.first_advice is not None:
        yield from (plain(contents.first_advice), "")
    yield f"{code(head.command)}, {plain(head.started)}, {plain(head.ending)}; run {code(head.id)}"


def _sections(sections: Iterable[Section]) -> Iterator[str]:
    for section in sections:
        body = list(_body(section))
        if not body:
            continue
        if section.aside:
            yield from (
                "",
                "<details>",
                f"<summary>{escape(section.title)}</summary>",
                *body,
                "",
                "</details>",
            )
        else:
            yield from ("", f"### {plain(section.title)}", *body)


def _body(section: Section) -> Iterator[str]:
    if section.caption:
        yield from ("", plain(section.caption))
    for block in section.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Chart():
            return
        case Table():
            yield from _titled(block.title)
            yield from _table([dict(row) for row in block.rows], left_out_before=block.left_out)
        case Stages():
            yield from _table([_stage(stage) for stage in block.stages])
        case KeyFigures():
            yield from ("", *(_key_figure(figure) for figure in block.figures))
        case Findings():
            for found in block.findings:
                yield from _finding(found)
        case Prescriptions():
            for found in block.prescriptions:
                yield from _prescription(found, block.run)
        case Settings():
            for group in block.groups:
                yield from _group(group)
        case Sentences():
            yield from ("", *(f"- {plain(sentence)}" for sentence in block.sentences))


def _titled(title: str) -> Iterator[str]:
    if title:
        yield from ("", f"**{plain(title)}**")


def _table(rows: list[dict[str, str]], *, left_out_before: int = 0) -> Iterator[str]:
    if not rows:
        return
    columns = list(rows[0])
    yield from ("", _row(columns), "|" + " --- |" * len(columns))
    for row in rows[:MAX_ROWS]:
        yield _row(row[column] for column in columns)
    more = max(len(rows) - MAX_ROWS, 0) + left_out_before
    if more:
        yield from ("", left_out(more))


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"


def _stage(stage: StageView) -> dict[str, str]:
    return {"stage": stage.stage.label, "per step": stage.time, "share": stage.percent}


def _key_figure(figure: KeyFigure) -> str:
    return f"- {plain(figure.name)}: **{plain(figure.value)}** ({plain(figure.detail)})"


def _finding(found: FindingView) -> Iterator[str]:
    cause = f", {found.cause}" if found.cause else ""
    yield from (
        "",
        f"**{plain(f'{found.severity}: {found.kind}{cause}, {found.cost}')}**",
        "",
        plain(found.summary),
    )
    yield f"Confidence {plain(found.confidence)}."
    if found.where:
        yield from ("", "Where: " + ", ".join(code(place) for place in found.where))
    if found.evidence:
        facts = "; ".join(
            f"{plain(fact.name)} **{plain(fact.value)}** ({plain(fact.basis)})" for fact in found.evidence
        )
        yield from ("", f"Evidence: {facts}")


def _prescription(found: PrescriptionView, run: str | None) -> Iterator[str]:
    effort = f", {found.effort}" if found.effort else ""
    yield from (
        "",
        f"**{plain(found.heading)}**",
        "",
        f"For {plain(found.finding)}; {plain(found.equivalence + effort)}.",
    )
    yield from ("", *_code_block(found.how, "python" if found.how_is_code else ""), "")
    yield from (f"- {plain(name)}: {plain(words)}" for name, words in found.said)
    if run is not None and found.knob:
        yield f"- try it: {code(try_command(run, found.knob))}"
    negatives = [row for row in found.evidence if row.negative]
    yield from (f"- **{plain(headings.NEGATIVE_EVIDENCE)}** {plain(row.text)}" for row in negatives)


def _group(group: SetupGroup) -> Iterator[str]:
    yield from _titled(group.title)
    yield from ("", *(f"- {plain(name)}: {plain(value)}" for name, value in group.rows))


def _foot(contents: Contents) -> Iterator[str]:
    yield from ("", f"Written by {plain(contents.written_by)}.")

"""The HTML report: whole, accessible, and never markup, whatever a run is called."""

from __future__ import annotations

import json
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

from trainrx.app.report.contents import contents
from trainrx.app.report.file import as_bytes
from trainrx.app.report.html import MARK, html
from trainrx.app.stored import open_run

VOID = {"meta", "br", "hr", "img", "input", "link"}
EVIL = '"><img src=x onerror=alert(1)></script><script>alert(2)</script><!--{{ 7*7 }}&amp;\u202e'


class Reader(HTMLParser):
    """What a browser would make of the file: elements with attributes, and the text of each kind of element."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.unmatched: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unmatched.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def words(self) -> str:
        return " ".join(data for tag, data in self.texts if tag not in ("script", "style"))


def written(runs: Path, samples: Any, report: Any, **more: Any) -> str:
    return html(contents(open_run(samples.store(runs, "a", report=report, **more))))


def test_the_page_is_whole_and_well_formed(runs: Path, samples: Any, everything: Any) -> None:
    page = Reader(written(runs, samples, everything, steps=samples.step_table()))
    assert (page.unmatched, page.open) == ([], [])
    assert page.words().strip().startswith("train.py: high · data loading")
    assert samples.VERDICT in page.words()
    for said in ("throughput model", "data wait must fall by 30 %", "bound 2.50×", "exact", "It did not pay here.",
                 "train.py:12", "1.70× (1.60 to 1.80)", "torch", "2.13.0", "rank 1", "Allocated at most", "0.4 %"):  # fmt: skip
        assert said.lower() in page.words().lower(), said


def test_nothing_is_fetched(runs: Path, samples: Any, everything: Any) -> None:
    page = Reader(written(runs, samples, everything))
    assert not [element for element in page.elements if {"src", "srcset", "action", "data"} & set(element[1])]
    assert not page.of("link")
    assert all((link["href"] or "").startswith("#") for link in page.of("a"))
    policy = next(meta["content"] for meta in page.of("meta") if meta.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-inline" not in policy.split("style-src")[0]


def test_it_can_be_read_without_eyes(runs: Path, samples: Any, everything: Any) -> None:
    page = Reader(written(runs, samples, everything, steps=samples.step_table()))
    headings = [tag for tag, _ in page.elements if tag in ("h1", "h2", "h3", "h4")]
    assert headings.count("h1") == 1
    assert headings[0] == "h1"
    levels = [int(tag[1]) for tag in headings]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.of("html") == [{"lang": "en"}]
    counts = Counter(tag for tag, _ in page.elements)
    assert counts["main"] == counts["nav"] == counts["title"] == 1
    assert counts["figure"] == counts["figcaption"] > 8
    assert all(cell.get("scope") in ("col", "row") for cell in page.of("th"))
    identities = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(identities) == len(set(identities))
    assert {(link["href"] or "#")[1:] for link in page.of("a")} <= set(identities)


def test_a_report_without_charts_carries_no_script(runs: Path, samples: Any) -> None:
    report = samples.full_report(
        "a", step_time=None, step_time_reason="no", verdict="No.", stages=[], findings=[], host_lines=[]
    )
    text = written(runs, samples, report)
    assert len(text) < 20_000
    assert not Reader(text).of("script")
    assert "script-src &#39;none&#39;" in text


def test_plotly_is_carried_once(runs: Path, samples: Any, everything: Any) -> None:
    text = written(runs, samples, everything)
    assert text.count('id="plotly"') == 1
    assert len(text) < 2_600_000


def test_text_of_a_run_is_never_markup(runs: Path, samples: Any, everything: Any, poisoned: Any) -> None:
    report = poisoned(everything, EVIL)
    kept = samples.manifest("a", note=EVIL, versions={EVIL: EVIL}, git={"commit": EVIL}).model_copy(
        update={"command": ["python", EVIL + ".py"], "started": EVIL}
    )
    text = written(runs, samples, report, kept=kept, steps=samples.step_table())
    page = Reader(text)
    assert (page.unmatched, page.open) == ([], [])
    assert not page.of("img")
    assert len(page.of("script")) == 2 + sum(tag == "figure" for tag, _ in page.elements)
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert "{{ 7*7 }}" in page.words()
    assert "49" not in page.of("title")
    assert "\u202e" not in page.words()
    for tag, data in page.texts:
        if tag == "script" and data.startswith("["):
            json.loads(data)


def test_half_a_character_can_be_written() -> None:
    assert as_bytes("a\ud800b") == b"a?b"


def test_the_mark_stands_near_the_top(runs: Path, samples: Any) -> None:
    text = written(runs, samples, samples.full_report("a"))
    assert text.startswith("<!doctype html>")
    assert MARK in text[:1024]

"""The cards of the diagnosis page as HTML: every text of a run is escaped here, so none is taken for markup.

Colours come from the palette; grounds are see-through, so that both themes carry them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

from ...figures.palette import BETTER, NEUTRAL, NEUTRAL_FAINT, WORSE
from ...figures.tones import CAUTION, SEVERITY_COLORS, TONE_COLORS
from ...views.diagnosis import DiagnosisView, EvidenceView, FindingView, SetupGroup, Tone

_COLORS = {
    "neutral": NEUTRAL,
    "faint": NEUTRAL_FAINT,
    "caution": CAUTION,
    "better": BETTER,
    "worse": WORSE,
}


_CODE = re.compile("`([^`]+)`")


@cache
def style() -> str:
    """What makes cards of the HTML below; a page writes it once."""
    colors = "".join(f"--rx-{name}: {color};" for name, color in _COLORS.items())
    rules = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    return f"<style>:root {{ {colors} }}\n{rules}</style>"


def verdict(view: DiagnosisView) -> str:
    """The sentence on top, with its grade in words and colour."""
    return sentence(view.label, view.verdict, view.tone)


def sentence(label: str, words: str, tone: Tone) -> str:
    """One sentence that answers a page's question, with its grade in words and colour."""
    return (
        f'<div class="rx-verdict" role="status" style="--rx-tone:{TONE_COLORS[tone]}">'
        f'<div class="rx-label"><span class="rx-dot"></span>{escape(label)}</div>'
        f"<p>{escape(words)}</p></div>"
    )


def side(name: str, step_time: str, verdict: str) -> str:
    """One of two compared runs."""
    return (
        f'<div class="rx-finding"><div class="rx-head"><span class="rx-kind">{escape(name)}</span>'
        f'<span class="rx-cost">{escape(step_time)}</span></div><p>{escape(verdict)}</p></div>'
    )


def problem(message: str) -> str:
    """Why a page cannot be shown; the message may hold text from the URL."""
    return (
        f'<div class="rx-verdict" role="alert" style="--rx-tone:{WORSE}">'
        f'<div class="rx-label"><span class="rx-dot"></span>cannot be shown</div>'
        f"<p>{escape(message)}</p></div>"
    )


def identity(view: DiagnosisView) -> str:
    """Which run this is: when, how it ended, its command."""
    return (
        f'<div class="rx-ids"><span>{escape(view.started)}</span><span>{escape(view.ending)}</span>'
        f"<code>{escape(view.command)}</code></div>"
    )


def warnings(sentences: Iterable[str]) -> str:
    """What of the run could not be read or went wrong, one line each."""
    return "".join(f'<p class="rx-warning">{escape(sentence)}</p>' for sentence in sentences)


def findings(items: Iterable[FindingView]) -> str:
    """One card per finding."""
    return "".join(_finding(item) for item in items)


def setup(groups: Iterable[SetupGroup]) -> str:
    """The settings, group by group."""
    return f'<div class="rx-setup">{"".join(_group(group) for group in groups)}</div>'


def notes(sentences: Iterable[str]) -> str:
    """What the recorder could not see or do, one line each."""
    return f'<ul class="rx-notes">{"".join(f"<li>{inline(note)}</li>" for note in sentences)}</ul>'


def inline(words: str) -> str:
    """Words as HTML in which what stands between backticks is code."""
    return _CODE.sub(r"<code>\1</code>", escape(words))


def _finding(item: FindingView) -> str:
    color = SEVERITY_COLORS[item.severity]
    cause = f" · {item.cause}" if item.cause else ""
    places = "".join(f"<li><code>{escape(place)}</code></li>" for place in item.where)
    return (
        f'<div class="rx-finding" style="--rx-tone:{color}"><div class="rx-head">'
        f'<span class="rx-label"><span class="rx-dot"></span>{escape(item.severity)}</span>'
        f'<span class="rx-kind">{escape(item.kind)}</span>'
        f'<span class="rx-quiet">{escape(item.family + cause)} · confidence {escape(item.confidence)}</span>'
        f'<span class="rx-cost">{escape(item.cost)}</span></div>'
        f"<p>{escape(item.summary)}</p>"
        + (f'<ul class="rx-places">{places}</ul>' if places else "")
        + f'<ul class="rx-facts">{"".join(_fact(fact) for fact in item.evidence)}</ul></div>'
    )


def _fact(fact: EvidenceView) -> str:
    return (
        f'<li class="{escape(fact.basis)}">{escape(fact.name)} <b>{escape(fact.value)}</b>'
        f'<span class="rx-basis">{escape(fact.basis)}</span></li>'
    )


def _group(group: SetupGroup) -> str:
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in group.rows)
    return f"<section><h4>{escape(group.title)}</h4><table>{rows}</table></section>"

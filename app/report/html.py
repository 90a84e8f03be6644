"""Writes a report as one HTML file that needs nothing else: no network, no account, no trainrx.

Every text of a run is escaped by the template engine; beyond that, the page's own policy lets two scripts run, each
named by its hash, and lets nothing be fetched. Without scripts all words and tables are there, and charts in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..figures.palette import BETTER, DARK_PAGE, LIGHT_PAGE, NEUTRAL, NEUTRAL_FAINT, WORSE, ink, stage_color
from ..figures.tones import CAUTION, SEVERITY_COLORS, TONE_COLORS
from ..views import headings
from ..views.advice import try_command
from ..views.visible import visible
from .blocks import Block, Chart, Contents, left_out
from .plotly_script import fingerprint, packed, source_hash

#: Stands near the top of every report, so that a report is known for one.
MARK = '<meta name="generator" content="trainrx report">'
_TEMPLATES = Path(__file__).with_name("templates")
#: What JSON may not hold in a script element: it could end the element, or begin a comment.
_UNSAFE_IN_SCRIPTS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
#: What templates know beside the report.
_WORDS: Mapping[str, object] = MappingProxyType(
    {
        "headings": headings,
        "tone_color": TONE_COLORS,
        "severity_color": SEVERITY_COLORS,
        "stage_color": stage_color,
        "try_command": try_command,
        "left_out": left_out,
    }
)


def html(contents: Contents) -> str:
    """The report as the text of an HTML file."""
    has_charts = any(isinstance(block, Chart) for part in contents.sections for block in part.blocks)
    script = _own("report.js")
    hashes = (source_hash(script), fingerprint()) if has_charts else ()
    return _environment().get_template("report.html.j2", globals=dict(_WORDS)).render(
        contents=contents,
        head=contents.head,
        mark=Markup(MARK),
        policy="; ".join(_policy(hashes)),
        style=Markup(_style()),
        script=Markup(script) if has_charts else None,
        plotly=Markup(packed()) if has_charts else None,
    ).lstrip()  # fmt: skip


def _policy(hashes: tuple[str, ...]) -> list[str]:
    scripts = " ".join(f"'{one}'" for one in hashes) or "'none'"
    return [
        "default-src 'none'",
        f"script-src {scripts}",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = _kind
    environment.filters["figure"] = _figure
    return environment


def _seen(value: object) -> object:
    return visible(value) if type(value) is str else value


def _kind(block: Block) -> str:
    return type(block).__name__


def _figure(chart: Chart) -> Markup:
    """The chart as JSON, for both grounds where they differ."""
    grounds = (False, True) if chart.themed else (False,)
    drawn = ",".join(str(chart.draw(dark).to_json()) for dark in grounds)
    return Markup(f"[{drawn}]".translate(_UNSAFE_IN_SCRIPTS))


def _style() -> str:
    colors = {
        "neutral": NEUTRAL,
        "faint": NEUTRAL_FAINT,
        "caution": CAUTION,
        "better": BETTER,
        "worse": WORSE,
        "light-page": LIGHT_PAGE,
        "light-ink": ink(dark=False),
        "dark-page": DARK_PAGE,
        "dark-ink": ink(dark=True),
    }
    named = "".join(f"--{name}: {color}; " for name, color in colors.items())
    return f":root {{ {named}}}\n{_own('report.css')}"


@cache
def _own(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")

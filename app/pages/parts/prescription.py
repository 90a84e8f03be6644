"""One prescription of the advice page: what, how sure, how, how to check, and what others saw."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Literal

import streamlit as st

from trainrx.app.views.advice import EvidenceRow, PrescriptionView

_Color = Literal["gray", "green", "blue", "orange"]
_LEARNING: dict[str, _Color] = {"exact": "green", "numerical": "blue", "semantic": "orange"}


def show(found: PrescriptionView, *, run: str, can_try: bool) -> None:
    """The body of a prescription; its heading stands on the expander around it."""
    _badges(found, can_try=can_try)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.code(found.how, language="python" if found.how_is_code else None, wrap_lines=True)
        st.html(_said(found))
    with right:
        st.html(_evidence(found.evidence))
    _links(found, run, can_try=can_try)


def _badges(found: PrescriptionView, *, can_try: bool) -> None:
    with st.container(horizontal=True, gap="small"):
        st.badge(f"for {found.finding}", color="gray")
        st.badge(found.equivalence, color=_LEARNING.get(found.equivalence, "gray"))
        if found.effort:
            st.badge(found.effort, color="gray")
        if found.knob and can_try:
            st.badge("trainrx can try it", color="green", icon=":material/science:")


def _said(found: PrescriptionView) -> str:
    rows = [
        ("predicted", found.gain.words if found.gain else found.predicted),
        ("rests on", found.basis),
        *(("measured", sentence) for sentence in found.measured),
        ("risk", found.risk),
        ("check", found.verify),
        ("then", found.next_bottleneck or ""),
        *(("not known", question) for question in found.asks),
    ]
    shown = "".join(f"<dt>{escape(name)}</dt><dd>{escape(words)}</dd>" for name, words in rows if words)
    return f'<dl class="rx-said">{shown}</dl>'


def _evidence(rows: Iterable[EvidenceRow]) -> str:
    said = "".join(
        f'<div class="rx-{"negative" if row.negative else "evidence"}">'
        f"{'<b>It did not pay here.</b> ' if row.negative else ''}{escape(row.text)}</div>"
        for row in rows
    )
    return said or '<p class="rx-quiet">No published evidence with numbers is known to us.</p>'


def _links(found: PrescriptionView, run: str, *, can_try: bool) -> None:
    with st.container(horizontal=True, gap="medium"):
        st.page_link(
            "catalog.py",
            label="Method card",
            icon=":material/menu_book:",
            query_params={"method": found.method},
        )
        if found.knob and can_try:
            st.code(f"trainrx try {run} {found.knob}", language="bash", wrap_lines=True, width="content")

"""One prescription of the advice page: what, how sure, how, how to check, and what others saw."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Literal

import streamlit as st

from trainrx.app.pages.parts import cards
from trainrx.app.views import headings
from trainrx.app.views.advice import EvidenceRow, PrescriptionView, try_command
from trainrx.app.views.markdown import escaped

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
        st.badge(f"for {escaped(found.finding)}", color="gray")
        st.badge(escaped(found.equivalence), color=_LEARNING.get(found.equivalence, "gray"))
        if found.effort:
            st.badge(escaped(found.effort), color="gray")
        if found.knob and can_try:
            st.badge("trainrx can try it", color="green", icon=":material/science:")


def _said(found: PrescriptionView) -> str:
    shown = "".join(f"<dt>{escape(name)}</dt><dd>{cards.inline(words)}</dd>" for name, words in found.said)
    return f'<dl class="rx-said">{shown}</dl>'


def _evidence(rows: Iterable[EvidenceRow]) -> str:
    said = "".join(
        f'<div class="rx-{"negative" if row.negative else "evidence"}">'
        f"{f'<b>{headings.NEGATIVE_EVIDENCE}</b> ' if row.negative else ''}{escape(row.text)}</div>"
        for row in rows
    )
    return said or f'<p class="rx-quiet">{headings.NO_EVIDENCE}</p>'


def _links(found: PrescriptionView, run: str, *, can_try: bool) -> None:
    with st.container(horizontal=True, gap="medium"):
        st.page_link(
            "catalog.py",
            label="Method card",
            icon=":material/menu_book:",
            query_params={"method": found.method},
        )
        if found.knob and can_try:
            st.code(try_command(run, found.knob), language="bash", wrap_lines=True, width="content")

"""Draws a figure on a page: full width, no tool bar that is not needed, with its words for screen readers."""

from __future__ import annotations

import streamlit as st

from trainrx.app.figures.template import Figure

_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def draw(figure: Figure, *, key: str, alt: str) -> None:
    """Draw ``figure``; ``key`` keeps it in place over reruns, ``alt`` says what it shows."""
    st.plotly_chart(figure, key=key, alt=alt, config=_CONFIG)


def is_dark() -> bool:
    """Whether the page is shown on a dark ground."""
    return st.context.theme.type == "dark"

"""Draws a figure on a page: full width, no tool bar that is not needed, with its words for screen readers."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def draw(figure: go.Figure, *, key: str, alt: str) -> None:
    """Draw ``figure``; ``key`` keeps it in place over reruns, ``alt`` says what it shows."""
    st.plotly_chart(figure, key=key, alt=alt, config=_CONFIG)

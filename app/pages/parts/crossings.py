"""What crosses between host and GPU, on the diagnosis page."""

from __future__ import annotations

import streamlit as st

from trainrx.app.pages.parts.caption import caption
from trainrx.app.views import headings
from trainrx.app.views.crossings import CrossingsView
from trainrx.app.views.tables import crossing_rows


def show(view: CrossingsView) -> None:
    """One row a line."""
    st.subheader(headings.CROSSINGS, anchor=False)
    caption(view.caption)
    st.dataframe(
        crossing_rows(view.rows),
        hide_index=True,
        alt="Copies between host and GPU, and calls that wait for it, by line",
    )

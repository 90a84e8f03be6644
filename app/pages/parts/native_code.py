"""The native code below the lines of Python, on the diagnosis page."""

from __future__ import annotations

import streamlit as st

from trainrx.app.pages.parts.caption import caption
from trainrx.app.views import headings
from trainrx.app.views.native_code import NativeView
from trainrx.app.views.tables import native_rows


def show(view: NativeView) -> None:
    """One row a line."""
    st.subheader(headings.NATIVE, anchor=False)
    caption(view.caption)
    st.dataframe(native_rows(view.rows), hide_index=True, alt="Native functions below the lines of Python")

"""A caption of words that may hold text of a run: it is shown as it is, and nothing in it formats, links or loads."""

from __future__ import annotations

import streamlit as st

from trainrx.app.views.markdown import escaped


def caption(words: str) -> None:
    """The words in small print."""
    st.caption(escaped(words))

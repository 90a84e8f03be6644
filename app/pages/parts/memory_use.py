"""What fills the memory, on the diagnosis page."""

from __future__ import annotations

import streamlit as st

from trainrx.app.pages.parts.caption import caption
from trainrx.app.views.memory_use import MemoryUseView
from trainrx.app.views.tables import memory_fact_rows, memory_use_rows


def show(view: MemoryUseView) -> None:
    """The uses, and what else is known of the memory."""
    st.subheader(view.title, anchor=False)
    caption(view.caption)
    left, right = st.columns(2, gap="large")
    if view.parts:
        left.dataframe(memory_use_rows(view), hide_index=True, alt="Memory at its peak, by use")
    if view.facts:
        right.dataframe(
            memory_fact_rows(view), hide_index=True, alt="Growth, reserves and limits of the memory"
        )

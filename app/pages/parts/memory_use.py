"""What fills the memory, on the diagnosis page."""

from __future__ import annotations

import streamlit as st

from trainrx.app.views.memory_use import MemoryUseView


def show(view: MemoryUseView) -> None:
    """The uses, and what else is known of the memory."""
    st.subheader(view.title, anchor=False)
    st.caption(view.caption)
    left, right = st.columns(2, gap="large")
    if view.parts:
        rows = [
            {"use": name, "size": size, "of the peak": share, "basis": basis}
            for name, size, share, basis in view.parts
        ]
        left.dataframe(rows, hide_index=True, alt="Memory at its peak, by use")
    if view.facts:
        facts = [{"": name, "value": value} for name, value in view.facts]
        right.dataframe(facts, hide_index=True, alt="Growth, reserves and limits of the memory")

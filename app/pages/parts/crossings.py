"""What crosses between host and GPU, on the diagnosis page."""

from __future__ import annotations

import streamlit as st

from trainrx.app.views.crossings import CrossingsView


def show(view: CrossingsView) -> None:
    """One row a line."""
    st.subheader("Between host and GPU", anchor=False)
    st.caption(view.caption)
    st.dataframe(
        [
            {
                "what": row.what,
                "line": row.line,
                "per step": row.time,
                "calls": row.calls,
                "copied": row.size,
                "from": row.memory,
            }
            for row in view.rows
        ],
        hide_index=True,
        alt="Copies between host and GPU, and calls that wait for it, by line",
    )

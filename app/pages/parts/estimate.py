"""What a run looked at from outside spends its time on, on the diagnosis page."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from trainrx.app.figures import estimate_bars
from trainrx.app.pages.parts.caption import caption
from trainrx.app.pages.parts.charts import draw
from trainrx.app.views import headings
from trainrx.app.views.estimate import EstimateView


def show(view: EstimateView) -> None:
    """Shares with their intervals, then lines and workers."""
    st.subheader(headings.ESTIMATE, anchor=False)
    caption(view.caption)
    draw(estimate_bars.estimate_bars(view.shares), key="estimate", alt=estimate_bars.alt(view.shares))
    left, right = st.columns([3, 2], gap="large")
    with left:
        _table(headings.ESTIMATED_LINES, view.lines)
    with right:
        _table(headings.ESTIMATED_WORKERS, view.workers)


def _table(title: str, rows: tuple[dict[str, str], ...]) -> None:
    if rows:
        st.markdown(f"**{title}**")
        st.dataframe(pd.DataFrame(rows), hide_index=True, alt=title)

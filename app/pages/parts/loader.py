"""The loader on the diagnosis page: what a batch costs, where, and in which worker."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from trainrx.app.figures import loader_costs
from trainrx.app.pages.parts import metrics
from trainrx.app.pages.parts.caption import caption
from trainrx.app.pages.parts.charts import draw
from trainrx.app.views import headings
from trainrx.app.views.loader import LoaderView


def show(view: LoaderView) -> None:
    """How the training loader makes its batches."""
    st.subheader(headings.LOADER, anchor=False)
    caption(view.caption)
    metrics.show(view.figures)
    left, right = st.columns([3, 2], gap="large")
    with left:
        draw(loader_costs.loader_costs(view.costs), key="loader", alt=loader_costs.alt(view.costs))
    with right:
        _table(headings.LOADER_WORKERS, view.workers)
        _table(headings.LOADER_LINES, view.lines)


def _table(title: str, rows: tuple[dict[str, str], ...]) -> None:
    if rows:
        st.markdown(f"**{title}**")
        st.dataframe(pd.DataFrame(rows), hide_index=True, alt=title)

"""Device memory on the diagnosis page."""

from __future__ import annotations

import streamlit as st

from trainrx.app.figures import memory_curve
from trainrx.app.pages.parts.caption import caption
from trainrx.app.pages.parts.charts import draw
from trainrx.app.views import headings
from trainrx.app.views.memory import MemoryView


def show(view: MemoryView) -> None:
    """Memory over time, and its peaks."""
    st.subheader(headings.MEMORY, anchor=False)
    caption(view.caption)
    if view.time_s:
        draw(memory_curve.memory_curve(view), key="memory", alt=memory_curve.alt(view))

"""What-ifs on the diagnosis page, drawn as the predictions that they are."""

from __future__ import annotations

import streamlit as st

from trainrx.app.figures import what_ifs
from trainrx.app.pages.parts.caption import caption
from trainrx.app.pages.parts.charts import draw
from trainrx.app.views import headings
from trainrx.app.views.what_ifs import WhatIfView


def show(view: WhatIfView) -> None:
    """What a step would take with one thing changed."""
    st.subheader(headings.WHAT_IFS, anchor=False)
    caption(view.caption)
    if view.rows:
        draw(what_ifs.what_ifs(view), key="what-ifs", alt=what_ifs.alt(view))
    if view.rest:
        caption(view.rest)

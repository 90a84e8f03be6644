"""Ranks on the diagnosis page: the late one named, their stages side by side, their waits in collectives."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from trainrx.app.figures import rank_matrix
from trainrx.app.pages.parts.caption import caption
from trainrx.app.pages.parts.charts import draw, is_dark
from trainrx.app.views import headings
from trainrx.app.views.markdown import escaped
from trainrx.app.views.ranks import RankMatrix


def show(matrix: RankMatrix) -> None:
    """Which rank is late, and in which stage it takes longer."""
    st.markdown(f"**{escaped(matrix.sentence)}**")
    caption(matrix.caption)
    draw(rank_matrix.rank_matrix(matrix, dark=is_dark()), key="ranks", alt=rank_matrix.alt(matrix))
    if matrix.clocks:
        caption(matrix.clocks_sentence)
    if matrix.uses:
        with st.expander(headings.COLLECTIVES):
            st.dataframe(pd.DataFrame(matrix.uses), hide_index=True, alt="Collectives of a step by kind")
    if matrix.waits:
        with st.expander(headings.RANK_WAITS):
            st.dataframe(pd.DataFrame(matrix.waits), hide_index=True, alt="Waiting and wire time by rank")

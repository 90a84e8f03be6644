"""A row of key figures: nothing here is better or worse than something else, so none has a colour."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from trainrx.app.views.diagnosis import Figure


def show(figures: Sequence[Figure]) -> None:
    """One card per figure, all of the same height."""
    for column, figure in zip(st.columns(len(figures)), figures, strict=True):
        column.metric(
            figure.name,
            figure.value,
            figure.detail,
            delta_color="off",
            delta_arrow="off",
            help=figure.explanation,
            border=True,
            height="stretch",
        )

"""The machine on the diagnosis page: host, devices, and how they went over time."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from trainrx.app.figures import series_lines
from trainrx.app.pages.parts import cards
from trainrx.app.pages.parts.caption import caption
from trainrx.app.pages.parts.charts import draw
from trainrx.app.views import headings
from trainrx.app.views.diagnosis import SetupGroup
from trainrx.app.views.telemetry import TelemetryView


def show(view: TelemetryView) -> None:
    """What the machine did."""
    st.subheader(headings.TELEMETRY, anchor=False)
    caption(view.caption)
    if view.series:
        draw(series_lines.series_lines(view.series), key="telemetry", alt=series_lines.alt(view.series))
    left, right = st.columns([1, 2], gap="large")
    with left:
        st.html(cards.setup([SetupGroup(headings.HOST, view.host or (("host", view.host_reason),))]))
    with right:
        st.markdown(f"**{headings.DEVICES}**")
        if view.devices:
            st.dataframe(pd.DataFrame(view.devices), hide_index=True, alt="Devices during the timed steps")
        else:
            caption(view.devices_reason)

"""The stages by the GPU's clock, on the diagnosis page."""

from __future__ import annotations

import streamlit as st

from trainrx.app.figures import stage_bar
from trainrx.app.pages.parts.caption import caption
from trainrx.app.pages.parts.charts import draw
from trainrx.app.views import headings
from trainrx.app.views.device_stages import DeviceStagesView


def show(view: DeviceStagesView) -> None:
    """One step as the device saw it."""
    st.subheader(headings.DEVICE_STAGES, anchor=False)
    caption(view.caption)
    draw(stage_bar.stage_bar(view.stages), key="device-stages", alt=stage_bar.alt(view.stages))

"""The device on the diagnosis page: its bar, its kernels, its steps."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from trainrx.app.figures import device_bar, device_steps, kernel_classes
from trainrx.app.pages.parts.caption import caption
from trainrx.app.pages.parts.charts import draw, is_dark
from trainrx.app.views import headings
from trainrx.app.views.device import DeviceSteps, DeviceView
from trainrx.app.views.tables import kernel_rows


def show(view: DeviceView) -> None:
    """What the device was spent on, and why it idled."""
    st.subheader(headings.DEVICE, anchor=False)
    if view.bar is None:
        caption(view.bar_reason)
    else:
        caption(view.caption)
        draw(device_bar.device_bar(view.bar, dark=is_dark()), key="device", alt=device_bar.alt(view.bar))
    left, right = st.columns(2, gap="large")
    with left:
        _kernels(view)
    with right:
        _steps(view)
        _kernel_table(view)


def _kernels(view: DeviceView) -> None:
    if view.kernels:
        st.markdown(f"**{headings.KERNELS}**")
        draw(kernel_classes.kernel_classes(view.kernels), key="kernels", alt=kernel_classes.alt(view.kernels))


def _kernel_table(view: DeviceView) -> None:
    for note in view.notes:
        caption(note)
    if not view.kernels:
        return
    with st.expander("Kernel classes as a table"):
        rows = pd.DataFrame(kernel_rows(view.kernels))
        st.dataframe(rows, hide_index=True, alt="Kernel classes: time, share, count, mean")


def _steps(view: DeviceView) -> None:
    if not view.steps:
        return
    st.markdown(f"**{headings.DEVICE_STEPS}**")
    chosen = view.steps[0]
    if len(view.steps) > 1:
        chosen = _picked(view.steps) or chosen
    draw(device_steps.device_steps(chosen), key="device-steps", alt=device_steps.alt(chosen))


def _picked(steps: tuple[DeviceSteps, ...]) -> DeviceSteps | None:
    return st.selectbox(
        "Rank",
        steps,
        format_func=lambda one: f"rank {one.rank}",
        key="device-rank",
        label_visibility="collapsed",
    )

"""The advice page of one run, named by ``?run=``: what to try, how, how sure, and where else to look."""

import pandas as pd
import streamlit as st

from trainrx.app.figures import gains
from trainrx.app.pages.parts import cells, prescription
from trainrx.app.pages.parts.charts import draw
from trainrx.app.pages.parts.run_choice import cannot_show, chosen_run
from trainrx.app.pages.parts.stored import run_called, stored_run
from trainrx.app.stored import with_trials
from trainrx.app.views import headings
from trainrx.app.views.advice import AdviceView, PrescriptionView, advice_view, wanted
from trainrx.app.views.markdown import escaped
from trainrx.profiler.errors import TrainrxError

OPEN_AT_FIRST = 3


def show(view: AdviceView) -> None:
    """The whole page of a run."""
    st.markdown(f"**{escaped(view.verdict)}**")
    with st.container(horizontal=True, gap="medium"):
        link = {"run": view.id}
        st.page_link("diagnosis.py", label="Diagnosis", icon=":material/stethoscope:", query_params=link)
        if view.can_try:
            st.page_link("trials.py", label="Trials", icon=":material/science:", query_params=link)
    if view.nothing:
        st.info(escaped(view.nothing), icon=":material/check:")
    else:
        show_prescriptions(view)
    show_cells(view)
    show_ruled_out(view)


def show_prescriptions(view: AdviceView) -> None:
    """What to try, in order."""
    st.subheader(headings.ADVICE, anchor=False)
    st.caption(headings.ADVICE_CAPTION)
    shown = chosen(view)
    if not shown:
        st.info("No prescription matches these filters.", icon=":material/filter_alt_off:")
        return
    predicted = [one.gain for one in shown if one.gain is not None]
    if predicted:
        draw(gains.gains(predicted), key="gains", alt=gains.alt(predicted))
    for position, one in enumerate(shown):
        with st.expander(f"**{escaped(one.heading)}**", expanded=position < OPEN_AT_FIRST):
            prescription.show(one, run=view.id, can_try=view.can_try)


def chosen(view: AdviceView) -> list[PrescriptionView]:
    """The prescriptions that the reader wants to see; the choice is in the URL."""
    left, right = st.columns(2)
    findings = left.pills("For", view.findings, selection_mode="multi", key="for", bind="query-params")
    learning = right.pills(
        "Effect on training",
        view.equivalences,
        selection_mode="multi",
        format_func=escaped,
        key="learning",
        bind="query-params",
    )
    return wanted(view.prescriptions, findings=findings, equivalences=learning)


def show_cells(view: AdviceView) -> None:
    """The cells of the taxonomy that can relieve each finding, and those that make it worse."""
    if not view.cells:
        return
    st.subheader(headings.CELLS, anchor=False)
    st.caption(headings.CELLS_CAPTION)
    for matrix, tab in zip(view.cells, st.tabs([matrix.finding for matrix in view.cells]), strict=True):
        tab.html(cells.matrix(matrix))


def show_ruled_out(view: AdviceView) -> None:
    """What relieves a finding elsewhere but not here, with the reason."""
    if view.ruled_out:
        with st.expander(f"{headings.RULED_OUT}: {len(view.ruled_out)}"):
            st.dataframe(
                pd.DataFrame(view.ruled_out), hide_index=True, alt="Methods that were ruled out, and why"
            )


name = chosen_run("Advice")
try:
    run = run_called(name)
    show(advice_view(with_trials(stored_run(run), run).report))
except TrainrxError as error:
    cannot_show(error)

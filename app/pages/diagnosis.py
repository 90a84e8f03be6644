"""The diagnosis page of one run, named by ``?run=``: verdict first, then the numbers it rests on."""

import streamlit as st

from trainrx.app.figures import host_lines, stage_bar, steps_over_time
from trainrx.app.pages.parts import (
    cards,
    crossings,
    device,
    device_stages,
    estimate,
    loader,
    memory,
    memory_use,
    metrics,
    native_code,
    ranks,
    telemetry,
    what_ifs,
)
from trainrx.app.pages.parts.caption import caption
from trainrx.app.pages.parts.charts import draw
from trainrx.app.pages.parts.run_choice import cannot_show, chosen_run
from trainrx.app.pages.parts.stored import DiagnosisPage, finished, followed, report_file, run_called
from trainrx.app.stored import status_of
from trainrx.app.views import headings
from trainrx.app.views.diagnosis import DiagnosisView
from trainrx.app.views.markdown import escaped
from trainrx.app.views.tables import line_rows, rank_rows
from trainrx.profiler.errors import TrainrxError
from trainrx.profiler.store import RunFolder
from trainrx.profiler.vocabulary import RunStatus

FOLLOW_S = 2


def show(page: DiagnosisPage, run: RunFolder) -> None:
    """The whole page of a run: what it has of these parts, in this order."""
    view, details = page.view, page.details
    st.html(cards.verdict(view))
    st.html(cards.identity(view))
    if view.warnings:
        st.html(cards.warnings(view.warnings))
    if details.first_advice is not None:
        show_advice(details.first_advice, view.id)
    if details.estimate is None:
        metrics.show(view.figures)
    else:
        estimate.show(details.estimate)
    if view.timed:
        show_stages(view, details.compute)
    if details.device_stages is not None:
        device_stages.show(details.device_stages)
    if details.device is not None:
        device.show(details.device)
    show_steps(page)
    if view.timed or view.findings:
        show_findings(view)
    if details.what_ifs is not None:
        what_ifs.show(details.what_ifs)
    if view.timed:
        show_lines(view)
    if details.native is not None:
        native_code.show(details.native)
    if details.loader is not None:
        loader.show(details.loader)
    if details.crossings is not None:
        crossings.show(details.crossings)
    show_ranks(page)
    if details.memory is not None:
        memory.show(details.memory)
    if details.memory_use is not None:
        memory_use.show(details.memory_use)
    if details.telemetry is not None:
        telemetry.show(details.telemetry)
    show_setup(view)
    show_downloads(page, run)


def show_advice(sentence: str, run: str) -> None:
    """What to do first, as a link to the advice."""
    st.page_link(
        "advice.py", label=f"**{escaped(sentence)}**", icon=":material/healing:", query_params={"run": run}
    )


def show_stages(view: DiagnosisView, compute: str | None) -> None:
    """Where a step goes, and how much the model computes in it."""
    st.subheader(headings.STAGES, anchor=False)
    caption(view.stages_caption)
    draw(stage_bar.stage_bar(view.stages), key="stages", alt=stage_bar.alt(view.stages))
    if compute is not None:
        caption(compute)


def show_steps(page: DiagnosisPage) -> None:
    """Each step, in order."""
    if page.series is None:
        return
    st.subheader(headings.STEPS, anchor=False)
    caption(page.series.caption)
    draw(steps_over_time.steps_over_time(page.series), key="steps", alt=steps_over_time.alt(page.series))


def show_findings(view: DiagnosisView) -> None:
    """What was found, headline first."""
    st.subheader(headings.FINDINGS, anchor=False)
    if view.findings:
        st.html(cards.findings(view.findings))
    else:
        st.caption(headings.NO_FINDINGS)


def show_lines(view: DiagnosisView) -> None:
    """Which lines of Python the training thread was in."""
    st.subheader(headings.LINES, anchor=False)
    if not view.lines:
        st.caption(headings.NO_LINES)
        return
    st.caption(headings.LINES_CAPTION)
    draw(host_lines.host_lines(view.lines), key="lines", alt=host_lines.alt(view.lines))
    with st.expander(headings.ALL_LINES):
        st.dataframe(line_rows(view.lines), hide_index=True, alt="All sampled lines by stage")


def show_ranks(page: DiagnosisPage) -> None:
    """The training processes, if there is more than one."""
    if not page.view.ranks:
        return
    st.subheader(headings.RANKS, anchor=False)
    if page.details.ranks is not None:
        ranks.show(page.details.ranks)
    st.dataframe(rank_rows(page.view.ranks), hide_index=True, alt="Ranks: steps, median step, biggest stage")


def show_setup(view: DiagnosisView) -> None:
    """Machine, software and settings, and what the recorder has to say."""
    st.subheader(headings.SETUP, anchor=False)
    st.html(cards.setup(view.setup))
    if view.notes:
        st.subheader(headings.NOTES, anchor=False)
        st.html(cards.notes(view.notes))


def show_downloads(page: DiagnosisPage, run: RunFolder) -> None:
    """The way out: the whole as one file for someone else, the report, and the steps as a table."""
    with st.container(horizontal=True):
        st.download_button(
            "Report as one HTML file",
            lambda: report_file(run),
            file_name=f"{page.view.id}.html",
            mime="text/html",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            "report.json",
            page.report_json,
            file_name=f"{page.view.id}.report.json",
            mime="application/json",
            icon=":material/download:",
            on_click="ignore",
        )
        if page.steps_csv is not None:
            st.download_button(
                "Steps as CSV",
                page.steps_csv,
                file_name=f"{page.view.id}.steps.csv",
                mime="text/csv",
                icon=":material/download:",
                on_click="ignore",
            )


@st.fragment(run_every=FOLLOW_S)
def follow(run: RunFolder) -> None:
    """A run that goes on, looked at again every few seconds until it ends."""
    if status_of(run) is not RunStatus.RECORDING:
        st.rerun()
    show(followed(run), run)


def open_page(name: str) -> None:
    """The page of the run called ``name``."""
    run = run_called(name)
    if status_of(run) is RunStatus.RECORDING:
        follow(run)
    else:
        show(finished(run), run)


name = chosen_run()
try:
    open_page(name)
except TrainrxError as error:
    cannot_show(error)

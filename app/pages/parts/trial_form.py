"""Starts, follows and cancels a trial from the browser, if this request may start commands."""

from __future__ import annotations

import os
import shlex

import streamlit as st

from trainrx.app import background_trial
from trainrx.app.background_trial import AUTOPILOT, BackgroundTrial
from trainrx.app.pages.parts.token import session_token
from trainrx.app.permission import why_not
from trainrx.app.views.format import duration
from trainrx.app.views.knobs import KnobOption, knob_options
from trainrx.app.views.markdown import escaped
from trainrx.app.views.visible import visible
from trainrx.profiler.errors import TrainrxError
from trainrx.profiler.report import Report
from trainrx.profiler.store import RunFolder

FOLLOW_S = 2
BUDGETS_S = {"1 minute": 60.0, "5 minutes": 300.0, "10 minutes": 600.0, "30 minutes": 1800.0}
DEFAULT_BUDGET = "5 minutes"
_AUTO = KnobOption(
    "autopilot", "", "tries what is prescribed, one after the other", "exact and numerical", "all of it"
)


def show(run: RunFolder, report: Report) -> None:
    """What is going on, or the form that starts something, or why there is none."""
    going_on = background_trial.last_started(run)
    if going_on is not None and going_on.running:
        _follow(run)
        return
    _last_output(run, going_on)
    reason = _why_not()
    if reason is not None:
        st.info(escaped(reason[0].upper() + reason[1:]) + ".", icon=":material/lock:")
        return
    _form(run, report)


def _why_not() -> str | None:
    """Asked again at every click: what a page shows is no permission."""
    return why_not(os.environ, host=st.context.headers.get("Host"), token=session_token())


def _form(run: RunFolder, report: Report) -> None:
    _what_runs(run)
    options = [_AUTO, *knob_options(report)]
    what, value, time, button = st.columns([5, 2, 2, 1.4], vertical_alignment="bottom")
    chosen = what.selectbox(
        "Change", options, format_func=lambda one: one.label, index=min(1, len(options) - 1), key="change"
    )
    chosen = chosen or _AUTO
    text = value.text_input("Value", chosen.value, key=f"value-{chosen.name}", disabled=chosen is _AUTO)
    budget = time.selectbox(
        "Time to spend", list(BUDGETS_S), index=list(BUDGETS_S).index(DEFAULT_BUDGET), key="budget"
    )
    words = [AUTOPILOT] if chosen.name == _AUTO.name else [f"{chosen.name}={text.strip()}"]
    if button.button("Start", icon=":material/play_arrow:", type="primary", key="start", width="stretch"):
        _start(run, words, BUDGETS_S[budget or DEFAULT_BUDGET])


def _what_runs(run: RunFolder) -> None:
    """The command that the button starts, as the run's folder names it: that may come from elsewhere."""
    manifest = run.manifest
    st.caption(
        "Runs this again and again on this machine, in its own folder, in pairs with and without the change; the "
        "script itself stays as it is, what it writes there is written over. It goes on when this page is closed."
    )
    st.code(
        visible(f"cd {shlex.quote(manifest.cwd)}\n{shlex.join(manifest.command)}"),
        language="bash",
        wrap_lines=True,
    )


def _start(run: RunFolder, words: list[str], budget_s: float) -> None:
    reason = _why_not()
    if reason is not None:
        st.error(escaped(reason))
        return
    try:
        background_trial.start(run, words, budget_s=budget_s)
    except TrainrxError as error:
        st.error(escaped(str(error)))
        return
    st.rerun()


@st.fragment(run_every=FOLLOW_S)
def _follow(run: RunFolder) -> None:
    """The trial that goes on, looked at again every few seconds until it ends."""
    found = background_trial.last_started(run)
    if found is None or not found.running:
        st.rerun()
    with st.container(border=True):
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.markdown(f"**Measuring** {escaped(' '.join(found.words))} for {duration(found.elapsed_s)}")
        if _why_not() is None and right.button(
            "Cancel", icon=":material/stop:", key="cancel", width="stretch"
        ):
            with st.spinner("Ending it…"):
                background_trial.cancel(run)
            st.rerun()
        st.code(background_trial.log_tail(run) or "Starting…", language=None)


def _last_output(run: RunFolder, last: BackgroundTrial | None) -> None:
    text = background_trial.log_tail(run, lines=40) if last is not None else ""
    if last is not None and text:
        with st.expander(f"What the last trial printed: {escaped(' '.join(last.words))}"):
            st.code(text, language=None)

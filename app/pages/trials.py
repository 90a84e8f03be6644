"""The trials page of one run, named by ``?run=``: what was measured beside what was predicted, and a start button."""

import pandas as pd
import streamlit as st

from trainrx.advisor.trial.calibration import calibration as scored
from trainrx.advisor.trial.store import stored_trials
from trainrx.app.figures import calibration
from trainrx.app.pages.parts import trial_form
from trainrx.app.pages.parts.charts import draw
from trainrx.app.pages.parts.run_choice import cannot_show, chosen_run
from trainrx.app.pages.parts.stored import run_called, runs_dir, stored_run
from trainrx.app.views import headings
from trainrx.app.views.advice import can_try
from trainrx.app.views.markdown import escaped, with_code
from trainrx.app.views.trials import calibration_sentence, trial_table
from trainrx.profiler.errors import TrainrxError
from trainrx.profiler.report import Report
from trainrx.profiler.store import RunFolder

#: High enough for sentences to wrap.
ROW_PX = 80


def show(run: RunFolder, report: Report) -> None:
    """The whole page of a run."""
    st.markdown(f"**{escaped(report.verdict)}**")
    with st.container(horizontal=True, gap="medium"):
        link = {"run": run.path.name}
        st.page_link("diagnosis.py", label="Diagnosis", icon=":material/stethoscope:", query_params=link)
        st.page_link("advice.py", label="Advice", icon=":material/healing:", query_params=link)
    st.subheader("Try a change", anchor=False)
    if can_try(report):
        trial_form.show(run, report)
    else:
        st.info("Only a run that trainrx recorded has a command to run again.", icon=":material/info:")
    show_trials(run)
    show_calibration(run)


def show_trials(run: RunFolder) -> None:
    """The trials that are over, newest first."""
    st.subheader(headings.TRIALS, anchor=False)
    rows = trial_table(stored_trials(run))
    if not rows:
        st.caption(headings.NO_TRIALS)
        return
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        row_height=ROW_PX,
        alt="Trials: change, verdict, measured, predicted, losses, pairs",
        column_config={
            "trial": st.column_config.TextColumn(width=50),
            "change": st.column_config.TextColumn(width=175),
            "verdict": st.column_config.TextColumn(width=90),
            "measured": st.column_config.TextColumn(width=150),
            "predicted": st.column_config.TextColumn(width=150),
            "losses": st.column_config.TextColumn(width=330),
            "pairs": st.column_config.TextColumn(width=60),
            "on top of": st.column_config.TextColumn(width=110),
            "why": st.column_config.TextColumn(width=220),
        },
    )


def show_calibration(run: RunFolder) -> None:
    """Predicted against measured speed-ups of all runs."""
    st.subheader("Predicted against measured", anchor=False)
    found = scored(runs_dir())
    st.caption(with_code(calibration_sentence(found)))
    if found.predictions:
        figure = calibration.calibration(found.predictions, run=run.path.name)
        place, _ = st.columns([3, 2])
        with place:
            draw(figure, key="calibration", alt=calibration.alt(found.predictions))


name = chosen_run("Trials")
try:
    folder = run_called(name)
    show(folder, stored_run(folder).report)
except TrainrxError as error:
    cannot_show(error)

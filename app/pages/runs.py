"""The page of runs: all that were recorded, newest first; a click opens one."""

from dataclasses import asdict

import pandas as pd
import streamlit as st

from trainrx.app.pages.parts.stored import run_rows, runs_dir, sample_rows
from trainrx.app.views.run_list import RunRow, families, matching

REFRESH_S = 5
ROW_PX = 72
ROWS_AT_ONCE = 9
TALL_PX = 690
COLUMNS = {
    "started": st.column_config.TextColumn("Started", width=105),
    "script": st.column_config.TextColumn("Script", width=150),
    "status": st.column_config.TextColumn("Status", width=90),
    "verdict": st.column_config.TextColumn("Verdict", width=430),
    "step_ms": st.column_config.NumberColumn("Median step", format="%.1f ms", width=95),
    "worst": st.column_config.TextColumn("Waits for", width=110),
    "id": st.column_config.TextColumn("Run", width=260),
}


def show_how_to_begin() -> None:
    """What to type where there is no run yet."""
    st.info(f"No runs yet in `{runs_dir()}`. Record one; it appears here by itself.", icon=":material/info:")
    st.code("trainrx profile train.py", language="bash")
    st.caption("No script at hand? This trains a small network on pictures and records it:")
    st.code("python -m trainrx.app.demo", language="bash")
    st.subheader("Runs that come with trainrx", anchor=False)
    st.caption("Real recordings, one for each family of bottlenecks. Click one to open its diagnosis.")
    table(sample_rows(), key="samples")


def chosen(rows: list[RunRow]) -> list[RunRow]:
    """The rows that the reader searches for."""
    left, right = st.columns([2, 3], vertical_alignment="top")
    words = left.text_input(
        "Search", key="q", type="search", bind="query-params", placeholder="script, verdict, status, id"
    )
    wanted = right.pills(
        "Waits for", families(rows), selection_mode="multi", key="waits", bind="query-params"
    )
    return matching(rows, words=words or "", families=wanted)


def table(rows: list[RunRow], *, key: str = "runs") -> None:
    """The table; a click on a row opens its run.

    A click names a position in what was shown when it was made; since then a run may have come or gone.
    """
    ids = [row.id for row in rows]
    clicked_in = st.session_state.get(f"{key}-shown", ids)
    st.session_state[f"{key}-shown"] = ids
    event = st.dataframe(
        pd.DataFrame([asdict(row) for row in rows]),
        key=key,
        column_order=list(COLUMNS),
        column_config=COLUMNS,
        hide_index=True,
        row_height=ROW_PX,
        height="content" if len(rows) <= ROWS_AT_ONCE else TALL_PX,
        placeholder="n/a",
        on_select="rerun",
        selection_mode="single-cell",
        alt="Table of runs: started, script, status, verdict, median step, what it waits for, run",
    )
    selection = event["selection"]
    for position, _ in selection["cells"]:
        if position < len(clicked_in):
            st.switch_page("diagnosis.py", query_params={"run": clicked_in[position]})


@st.fragment(run_every=REFRESH_S)
def list_of_runs() -> None:
    """The list, looked through again every few seconds."""
    rows = run_rows()
    if not rows:
        show_how_to_begin()
        return
    shown = chosen(rows)
    if shown:
        table(shown)
    else:
        st.info("No run matches all search terms.", icon=":material/search_off:")
    st.caption(f"{len(shown)} of {len(rows)} runs in `{runs_dir()}`. Click a run to open its diagnosis.")


st.title("Runs", anchor=False)
list_of_runs()

"""Which run a page shows: the one in the URL or the newest, and the box that switches."""

from __future__ import annotations

import streamlit as st

from trainrx.app.bundled import is_sample
from trainrx.app.pages.parts import cards
from trainrx.app.pages.parts.stored import run_rows, runs_dir, sample_rows
from trainrx.app.views.markdown import escaped
from trainrx.profiler.errors import TrainrxError


def chosen_run(what: str = "") -> str:
    """The name of the run to show, with the page's heading drawn; stops the page where there is none.

    ``what`` stands before the script's name in the heading.
    """
    st.html(cards.style())
    name = _requested()
    if name is None:
        st.info(
            f"No runs yet in `{runs_dir()}`: record one with `trainrx profile train.py`.",
            icon=":material/info:",
        )
        st.page_link("runs.py", label="Look at the runs that come with trainrx", icon=":material/list:")
        st.stop()
    _choose(name, what)
    return name


def cannot_show(error: TrainrxError) -> None:
    """One sentence in place of the page, and the way back."""
    st.html(cards.problem(str(error)))
    st.page_link("runs.py", label="All runs", icon=":material/list:")


def _requested() -> str | None:
    """The run that the URL names, or the newest; None where there is none at all."""
    named = st.query_params.get("run")
    if named:
        return named
    rows = run_rows()
    return rows[0].id if rows else None


def _choose(current: str, what: str) -> None:
    """The script's name, and the box that switches to another run; the URL names what is shown."""
    rows = run_rows()
    if is_sample(current) and all(row.id != current for row in rows):
        rows = sample_rows()
    scripts = {row.id: row.script for row in rows}
    names = list(scripts)
    position = names.index(current) if current in scripts else None
    title, switch = st.columns([3, 2], vertical_alignment="center")
    title.title(" · ".join(filter(None, (what, escaped(scripts.get(current) or "")))) or "Run", anchor=False)
    picked = switch.selectbox(
        "Run",
        names,
        index=position,
        key=f"run-{current}",
        label_visibility="collapsed",
        placeholder="Choose a run",
    )
    if picked is not None and picked != current:
        st.query_params["run"] = picked
        st.rerun()
    st.query_params["run"] = current

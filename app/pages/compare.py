"""The compare page: what changed between two runs, ``?runs=first,second``; quality against cost, ``?part=quality``.

Where no number stands, it says why.
"""

import pandas as pd
import streamlit as st

from trainrx.app.figures import device_bar, paired
from trainrx.app.pages.parts import cards, quality
from trainrx.app.pages.parts.caption import caption
from trainrx.app.pages.parts.charts import draw, is_dark
from trainrx.app.pages.parts.run_choice import cannot_show
from trainrx.app.pages.parts.stored import run_called, run_rows, runs_dir, stored_run
from trainrx.app.views.compare import CompareView, compare_view, headline_tone
from trainrx.app.views.run_list import RunRow, described
from trainrx.profiler.errors import TrainrxError

STEPS, QUALITY = "steps", "quality"
PARTS = {STEPS: "Step time of two runs", QUALITY: "Quality against cost"}


def chosen_part() -> str:
    """Which of the two comparisons is shown; the URL names it."""
    named = st.query_params.get("part", STEPS)
    part = st.segmented_control(
        "What to compare",
        list(PARTS),
        default=named if named in PARTS else STEPS,
        required=True,
        format_func=PARTS.__getitem__,
        key="part",
        label_visibility="collapsed",
    )
    if part == QUALITY:
        st.query_params["part"] = QUALITY
    else:
        st.query_params.pop("part", None)
    return part or STEPS


def requested(rows: list[RunRow]) -> tuple[str, str]:
    """The two runs that the URL names; where it leaves one out, the newest others."""
    named = [name for name in st.query_params.get("runs", "").split(",") if name][:2]
    others = [row.id for row in rows if row.readable and row.id not in named]
    first, second = (*named, *others[: 2 - len(named)][::-1])
    return first, second


def choose(rows: list[RunRow], chosen: tuple[str, str]) -> None:
    """The two boxes; the URL names what is shown."""
    labels = {row.id: described(row) for row in rows}
    picked: list[str] = []
    for place, name, title in zip(st.columns(2), chosen, ("First run", "Second run"), strict=True):
        position = list(labels).index(name) if name in labels else None
        picked.append(
            place.selectbox(
                title, list(labels), index=position, format_func=labels.__getitem__, key=f"{title}-{name}"
            )
            or name
        )
    if tuple(picked) != chosen:
        st.query_params["runs"] = ",".join(picked)
        st.rerun()
    st.query_params["runs"] = ",".join(chosen)


def show(view: CompareView) -> None:
    """The whole page of two runs."""
    label, tone = headline_tone(view)
    st.html(cards.sentence(label, view.headline, tone))
    for place, side in zip(st.columns(2), view.sides, strict=True):
        place.html(cards.side(f"{side.name} run", side.step_time, side.verdict))
        place.page_link(
            "diagnosis.py",
            label=f"Diagnosis of the {side.name} run",
            icon=":material/stethoscope:",
            query_params={"run": side.id},
        )
    show_stages(view)
    show_devices(view)
    show_settings(view)
    show_rules(view)


def show_stages(view: CompareView) -> None:
    """Stages in pairs, and how step times spread."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("Stages", anchor=False)
        if view.stages:
            st.caption("Largest change first; what changed stands beside the second run's bar.")
            draw(paired.paired_stages(view.stages), key="stages", alt=paired.stages_alt(view.stages))
        else:
            st.caption("n/a: neither run has timed stages.")
    with right:
        st.subheader("Step times", anchor=False)
        if any(side.steps_ms for side in view.sides):
            st.caption("Every timed step; the line in a box is the median.")
            draw(paired.step_times(view.sides), key="steps", alt=paired.steps_alt(view.sides))
        else:
            st.caption("n/a: the steps of these runs are not at hand.")


def show_devices(view: CompareView) -> None:
    """The device views on one axis, where there are any."""
    bars = [(side.name, side.device) for side in view.sides if side.device is not None]
    if not bars:
        return
    st.subheader("What the device did", anchor=False)
    for side in view.sides:
        if side.device is None:
            caption(f"{side.name} run {side.device_reason}")
    draw(
        device_bar.device_bars(bars, dark=is_dark()),
        key="devices",
        alt=" ".join(f"{name} run: {device_bar.alt(bar)}" for name, bar in bars),
    )


def show_settings(view: CompareView) -> None:
    """What differs in the setup."""
    st.subheader("What differs in the setup", anchor=False)
    if view.settings:
        st.dataframe(
            pd.DataFrame(view.settings), hide_index=True, alt="Settings that differ between the runs"
        )
    else:
        st.caption("Nothing that was recorded.")


def show_rules(view: CompareView) -> None:
    """Rules of a fair comparison that these two runs break."""
    st.subheader("Rules of a fair comparison that these runs break", anchor=False)
    if view.serious:
        st.html(cards.warnings(f"Forbids a headline number: {rule}" for rule in view.serious))
    if view.breaches:
        st.html(cards.notes(view.breaches))


st.title("Compare", anchor=False)
st.html(cards.style())
if chosen_part() == QUALITY:
    quality.show()
    st.stop()
known = run_rows()
if len([row for row in known if row.readable]) < 2:
    st.info(
        f"Comparing needs two runs in `{runs_dir()}`: record them with `trainrx profile`.",
        icon=":material/info:",
    )
    st.stop()
pair = requested(known)
choose(known, pair)
if pair[0] == pair[1]:
    st.info("The same run twice: choose another one.", icon=":material/info:")
    st.stop()
try:
    show(compare_view(*(stored_run(run_called(name)) for name in pair)))
except TrainrxError as error:
    cannot_show(error)

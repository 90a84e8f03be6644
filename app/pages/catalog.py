"""The methods: both taxonomies, a list that every filter narrows, and the card of one method.

Every wish is a bound widget, so the address bar always holds a link to what is seen; ``?method=<id>`` opens
a card.
"""

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from trainrx.advisor.trial.own_evidence import own_evidence
from trainrx.app.figures.taxonomy_matrix import matrix_alt, taxonomy_matrix
from trainrx.app.figures.taxonomy_tree import taxonomy_tree, tree_alt
from trainrx.app.pages.parts.charts import is_dark
from trainrx.app.pages.parts.stored import runs_dir
from trainrx.app.views.catalog import (
    Card,
    Choice,
    allowed_words,
    card,
    catalog_key,
    chosen,
    crosswalk_points,
    crosswalk_table,
    definitions_table,
    group_labels,
    list_table,
    matrix,
    open_catalog,
    part_labels,
    statements,
    totals_sentence,
)
from trainrx.app.views.markdown import escaped, with_code
from trainrx.app.views.own_evidence import own_evidence_sentence, own_evidence_table
from trainrx.catalog import Catalog, Method
from trainrx.catalog.coverage import groups
from trainrx.profiler.errors import TrainrxError

VIEWS = ["Matrix", "Tree", "Definitions"]


@st.cache_resource(max_entries=2, show_spinner="Reading the methods")
def load(key: str) -> Catalog:
    """The catalog of a fingerprint."""
    return open_catalog()


def filters(catalog: Catalog) -> Choice:
    """The bound widgets, and the choice that they state."""
    first = st.columns([2.2, 2.2, 1.5, 1.3, 1.0])
    text = first[0].text_input(
        "Search",
        key="q",
        bind="query-params",
        icon=":material/search:",
        placeholder="name, paper, API, knob …",
    )
    first[1].selectbox(
        "Open a method",
        sorted(catalog.methods),
        index=None,
        key="method",
        bind="query-params",
        placeholder="method id",
    )
    relieves = wish(first[2], "Relieves", "relieves", allowed_words("relieves"))
    learning = wish(first[3], "Effect on training", "learning", allowed_words("equivalence"))
    tier = wish(first[4], "Tier", "tier", allowed_words("tier"))
    second = st.columns([2.2, 1.2, 2.2, 1.2, 1.4])
    part = wish(second[0], "Part (first taxonomy)", "part", part_labels())
    action = wish(second[1], "Action", "action", allowed_words("action"))
    group = wish(second[2], "Group (second taxonomy)", "group", group_labels())
    domain = wish(second[3], "Domain", "domain", allowed_words("domain"))
    with second[4].container(height="stretch", vertical_alignment="bottom"):
        tryable = st.toggle("trainrx can try it", key="tryable", bind="query-params")
    return Choice.of_labels(
        text=text or None,
        relieves=relieves,
        equivalence=learning,
        tier=tier,
        part=part,
        action=action,
        group=group,
        domain=domain,
        tryable=tryable or None,
    )


def wish(place: DeltaGenerator, label: str, key: str, words: tuple[str, ...]) -> str | None:
    """A bound box for one wish; empty means any."""
    return place.selectbox(label, words, index=None, key=key, bind="query-params", placeholder="any")


def take_cell() -> None:
    """A click on a cell becomes the wishes part and action; a click into nothing takes them back."""
    points = st.session_state["matrix"]["selection"]["points"]
    component, part, action = points[0]["customdata"] if points else (None, None, None)
    st.session_state["part"] = f"{component}.{part}" if points else None
    st.session_state["action"] = action


def show_matrix(catalog: Catalog) -> None:
    """The first taxonomy."""
    shown = matrix(catalog)
    part, action = st.session_state["part"], st.session_state["action"]
    figure = taxonomy_matrix(shown, dark=is_dark(), chosen=(part, action) if part and action else None)
    st.plotly_chart(
        figure,
        key="matrix",
        on_select=take_cell,
        selection_mode="points",
        alt=matrix_alt(shown),
        config={"displayModeBar": False},
    )
    st.caption(
        "Click a cell to list its methods. Dotted: few methods known to us, which is no finding of a survey. "
        "Below the line: system methods, our own rows."
    )


def show_tree(catalog: Catalog) -> None:
    """The second taxonomy."""
    counted = groups(catalog)
    st.plotly_chart(
        taxonomy_tree(counted, dark=is_dark()),
        key="tree",
        alt=tree_alt(counted),
        config={"displayModeBar": False},
    )
    st.caption(
        "Area is the number of methods known to us. Click to go into a category; choose a group above to "
        "list it."
    )


def show_definitions(catalog: Catalog) -> None:
    """The formal statements, all definitions with their basis, and where the taxonomies meet."""
    for place, statement in zip(st.columns(2, border=True), statements(), strict=True):
        place.markdown(f"**{statement.title}**")
        place.code(statement.formula, language=None)
        place.markdown(bullets(statement.words, statement.points))
        place.caption(escaped(statement.source))
    st.markdown("**Words**")
    st.dataframe(
        pd.DataFrame(definitions_table()), hide_index=True, height=330, alt="Definitions of all words"
    )
    words, counts = st.columns(2, gap="medium")
    words.markdown(bullets("Where the taxonomies meet; all of it our reading:", crosswalk_points()))
    counts.dataframe(
        pd.DataFrame(crosswalk_table(catalog)),
        hide_index=True,
        height=430,
        alt="Numbers of methods by group of the second and part of the first taxonomy",
    )


def bullets(words: str, points: tuple[str, ...]) -> str:
    """A paragraph and its points."""
    return "\n".join((escaped(words), "", *(f"- {escaped(point)}" for point in points)))


def open_row() -> None:
    """A click on a row opens its card."""
    rows = st.session_state[list_key()]["selection"]["rows"]
    if rows:
        st.session_state["method"] = st.session_state["listed"][rows[0]]


def list_key() -> str:
    """The list's key: a new one after each closed card, so that no row stays selected."""
    return f"list-{st.session_state.get('closed', 0)}"


def show_list(methods: tuple[Method, ...]) -> None:
    """The chosen methods, one a row."""
    st.session_state["listed"] = [method.id for method in methods]
    if not methods:
        st.info("No method matches all filters.", icon=":material/filter_alt_off:")
        return
    st.dataframe(
        pd.DataFrame(list_table(methods)),
        hide_index=True,
        key=list_key(),
        on_select=open_row,
        height=430,
        selection_mode="single-row",
        alt=f"List of {len(methods)} methods",
        column_config={
            "method": st.column_config.TextColumn(width=205),
            "what it does": st.column_config.TextColumn(width=390),
            "relieves": st.column_config.ListColumn(width=200),
            "learning": st.column_config.TextColumn(width=85),
            "risk": st.column_config.TextColumn(width=65),
            "tier": st.column_config.TextColumn(width=75),
            "knob": st.column_config.TextColumn(width=110),
            "evidence": st.column_config.TextColumn(
                help="grades: A repeated or logged, B documented, C claimed, N negative", width=75
            ),
        },
    )


def close_card() -> None:
    """Forget the opened method."""
    st.session_state["method"] = None
    st.session_state["closed"] = st.session_state.get("closed", 0) + 1


def open_related(key: str) -> None:
    """Go on to a related method."""
    if st.session_state[key]:
        st.session_state["method"] = st.session_state[key]


def show_card(shown: Card) -> None:
    """The card: what it does, honest negatives first, conditions, how, and all evidence."""
    with st.container(horizontal=True, gap="small"):
        for text, color in shown.badges:
            st.badge(text, color=color)
    st.markdown(escaped(shown.one_line))
    negative = [line for line in shown.evidence if line.verdict == "negative"]
    if negative:
        rows = "\n".join(f"- {escaped(line.reported)} ({escaped(line.claim)})" for line in negative)
        st.warning(f"**It did not pay here**\n{rows}", icon=":material/block:")
    left, right = st.columns(2, gap="medium")
    for label, values in shown.conditions:
        left.markdown(headed(label, values))
    if shown.snippet or shown.api:
        right.markdown("**How**")
        right.code(shown.snippet or shown.api or "", language="python", wrap_lines=True)
    for label, values in shown.places:
        right.markdown(headed(label, values))
    link = (
        f"[{escaped(shown.reference)}]({shown.reference_url})"
        if shown.reference_url
        else escaped(shown.reference)
    )
    right.markdown(f"**Reference**  \n{link}")
    related("Goes with", shown.id, shown.synergies)
    related("Conflicts with", shown.id, shown.conflicts)
    show_evidence(shown)
    show_own_evidence(known.methods[shown.id])


def headed(label: str, values: tuple[str, ...]) -> str:
    """A heading with one line for every value."""
    return "  \n".join((f"**{label}**", *map(escaped, values)))


def related(label: str, method_id: str, others: tuple[str, ...]) -> None:
    """Related methods, each a step further."""
    if others:
        key = f"{label}-{method_id}"
        if st.pills(label, others, key=key, on_change=open_related, args=(key,)):
            st.rerun()


def show_evidence(shown: Card) -> None:
    """Every evidence row, with all that must stand beside a ratio."""
    st.markdown(f"**Evidence**: {escaped(shown.backing)}")
    if shown.evidence:
        st.dataframe(
            pd.DataFrame(shown.evidence_table()),
            hide_index=True,
            row_height=35,
            alt=f"Evidence rows of {shown.id}",
            column_config={
                "verdict": st.column_config.TextColumn(width=72),
                "grade": st.column_config.TextColumn(width=52),
                "reported": st.column_config.TextColumn(width=250),
                "ratio": st.column_config.TextColumn(width=140),
                "task": st.column_config.TextColumn(width=150),
                "model": st.column_config.TextColumn(width=105),
                "hardware": st.column_config.TextColumn(width=105),
                "against": st.column_config.TextColumn(width=125),
                "source": st.column_config.TextColumn(width=140),
                "open": st.column_config.LinkColumn(display_text="open", width=55),
            },
        )


def show_own_evidence(method: Method) -> None:
    """What trials of this folder's runs measured."""
    own = own_evidence(runs_dir(), method)
    st.markdown(f"**Measured here**: {with_code(own_evidence_sentence(own, method))}")
    if own.trials:
        st.dataframe(
            pd.DataFrame(own_evidence_table(own)),
            hide_index=True,
            row_height=35,
            alt=f"Trials of {method.id} in this folder of runs",
        )


st.markdown("### Methods")
try:
    known = load(catalog_key())
except TrainrxError as fault:
    st.error(escaped(str(fault)))
    st.stop()
st.caption(
    f"{totals_sentence(known)}. A gain holds for its own task and hardware: it is no forecast for your run."
)
choice = filters(known)
found = chosen(known, choice)
view = st.segmented_control(
    "View",
    VIEWS,
    default="Matrix",
    key="view",
    bind="query-params",
    required=True,
    label_visibility="collapsed",
)
if view == "Matrix":
    show_matrix(known)
elif view == "Tree":
    show_tree(known)
else:
    show_definitions(known)
st.markdown(
    f"**{len(found)} methods**{' match the filters' if choice.as_dict() else ''}; click a row for its card"
)
show_list(found)
if st.session_state["method"]:
    opened = card(known, known.methods[st.session_state["method"]])
    st.dialog(escaped(opened.title), width="large", on_dismiss=close_card)(show_card)(opened)

"""Quality against cost on the compare page: which trainings, which quality over which cost, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from trainrx.advisor.compare.curve_fairness import RULES, Check, Standing
from trainrx.advisor.compare.methods import Source
from trainrx.advisor.compare.metric_names import direction_of
from trainrx.advisor.compare.quality_cost import Question, SharedQualities, compare_curves, shared_qualities
from trainrx.app.bundled import SAMPLES
from trainrx.app.comparing_curves import NO_COST, NO_QUALITY, ask, axes_of, document
from trainrx.app.curve_files import CURVES_FOLDER
from trainrx.app.figures import quality_curves, quality_front, speedup_curve
from trainrx.app.pages.parts import cards, quality_sources
from trainrx.app.pages.parts.caption import caption
from trainrx.app.pages.parts.charts import draw
from trainrx.app.pages.parts.stored import runs_dir
from trainrx.app.views.markdown import escaped
from trainrx.app.views.quality import QualityView, quality_view
from trainrx.app.views.quality_choice import Better, cost_choices, cost_label, metric_choices
from trainrx.app.views.quality_words import check_words
from trainrx.profiler.errors import InputError, TrainrxError

#: The target can be put to this many places between the worst and the best shared quality.
TARGET_STEPS = 100
RAW, BEST = "as logged", "best so far"
_KEPT = {Standing.KEPT: "Kept", Standing.BROKEN: "Not kept", Standing.ASKED: "Asked"}
_EXAMPLE = """# adam-seed1.csv: one training per file, called METHOD-seedN
# a cost that grows, the learning rate if there is one, a quality
step,seconds,lr,val_loss
100,12.4,0.001,2.31
200,24.9,0.001,1.87"""


def show() -> None:
    """The whole part."""
    sources = quality_sources.chosen()
    if not sources:
        _empty()
        return
    try:
        question = _question(sources)
        if question is not None:
            _show(sources, question)
    except TrainrxError as error:
        st.html(cards.problem(str(error)))


def _question(sources: Sequence[Source]) -> Question | None:
    """What the boxes ask; None where something has to be told first."""
    metrics, costs = metric_choices(sources), cost_choices(sources, axes_of(sources))
    methods = list(dict.fromkeys(source.label.method for source in sources))
    if not metrics or not costs:
        raise InputError(NO_COST if metrics else NO_QUALITY)
    first, second, third = st.columns(3)
    metric = first.selectbox("Quality", metrics, key="metric", bind="query-params") or metrics[0]
    cost = (
        second.selectbox("Cost", costs, format_func=cost_label, key="cost", bind="query-params") or costs[0]
    )
    baseline = third.selectbox("Baseline", methods, key="baseline", bind="query-params") or methods[0]
    better = direction_of(metric)
    if better is None:
        told = st.segmented_control(
            f"Which way does {escaped(metric)} get better?", list(Better), key=f"better-{metric}"
        )
        if told is None:
            return None
        better = told
    return ask(
        sources, metric=metric, better=str(better.value), cost=cost, baseline=baseline, answers=_answers()
    )


def _answers() -> dict[str, bool]:
    """What was answered to the questions at the end of the page."""
    told = {rule: st.session_state.get(f"answer-{rule}") for rule in RULES}
    return {rule: answer == "yes" for rule, answer in told.items() if answer is not None}


def _show(sources: Sequence[Source], question: Question) -> None:
    shared = shared_qualities(sources, question)
    place = st.container()
    curves, log_cost, log_quality, target = _looks(shared)
    comparison = compare_curves(sources, _aimed(question, target))
    view = quality_view(comparison, raw=curves == RAW)
    with place:
        st.html(cards.sentence(view.headline.label, view.headline.sentence, view.headline.tone))
    _table(view)
    draw(
        quality_curves.quality_curves(view, log_cost=log_cost, log_quality=log_quality),
        key="quality-curves",
        alt=quality_curves.alt(view),
    )
    _beside(view, log_cost=log_cost)
    _rules(view)
    st.download_button(
        "Comparison as JSON",
        document(comparison),
        "comparison.json",
        on_click="ignore",
        icon=":material/download:",
    )


def _aimed(question: Question, target: float | None) -> Question:
    """The question with the target that the slider says; it was chosen from the curves, so it is not called fixed."""
    return replace(question, target=target)


def _looks(shared: SharedQualities | None) -> tuple[str, bool, bool, float | None]:
    """How curves are drawn, and the target; None for the best quality that all reach."""
    left, middle, right = st.columns([2, 2, 4], vertical_alignment="bottom")
    curves = left.segmented_control("Curves", [BEST, RAW], default=BEST, required=True, key="curves")
    with middle.container(horizontal=True):
        log_cost = st.toggle("log cost", key="log-cost")
        log_quality = st.toggle("log quality", key="log-quality")
    return str(curves), log_cost, log_quality, _target(right, shared)


def _target(place: DeltaGenerator, shared: SharedQualities | None) -> float | None:
    if shared is None or shared.worst == shared.best:
        return None
    low, high = sorted((shared.worst, shared.best))
    step = (high - low) / TARGET_STEPS
    picked = place.slider(
        "Target quality, within what all methods reach",
        low,
        high,
        value=shared.by_all,
        step=step,
        format="%.4g",
        key=f"target-{low:.6g}-{high:.6g}",
    )
    return None if abs(float(picked) - shared.by_all) < step / 2 else float(picked)


def _table(view: QualityView) -> None:
    st.dataframe(
        pd.DataFrame(view.rows),
        hide_index=True,
        alt="Methods: seeds, best quality, cost to the target, speed-up",
    )
    left_out = f" Charts leave out {', '.join(view.left_out)}." if view.left_out else ""
    caption(f"Intervals are 95 % over seeds; bands reach from the least to the greatest seed.{left_out}")


def _beside(view: QualityView, *, log_cost: bool) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("Speed-up at equal quality", anchor=False)
        if any(line.speedups is not None for line in view.lines):
            caption(
                f"Cost of {view.lines[0].name} over that of the method; above 1× the method is cheaper. "
                "A band at the edge has no bound there: some seeds never reach that quality."
            )
            draw(speedup_curve.speedup_curve(view), key="speedups", alt=speedup_curve.alt(view))
        else:
            st.caption("n/a: there is no quality that a method and the baseline both reach.")
    with right:
        st.subheader("Where trainings ended", anchor=False)
        st.caption(
            "In full colour, joined by the line: trainings that no other one beats in both cost and quality."
        )
        draw(quality_front.quality_front(view, log_cost=log_cost), key="front", alt=quality_front.alt(view))


def _rules(view: QualityView) -> None:
    """Questions with their answers, then what is broken and what is kept."""
    st.subheader("Rules of a fair comparison", anchor=False)
    open_or_said = [
        check for check in view.checks if check.standing is Standing.ASKED or check.answer is not None
    ]
    asked = sorted(open_or_said, key=lambda check: RULES.index(check.rule))
    forbidding = [check_words(check) for check in view.checks if check.forbids]
    if forbidding:
        st.html(cards.warnings(f"Forbids a headline number: {words}" for words in forbidding))
    for check in asked:
        _ask(check)
    told = [check for check in view.checks if check not in asked and not check.forbids]
    if told:
        st.html(cards.notes(f"{_KEPT[check.standing]}: {check.sentence}" for check in told))


def _ask(check: Check) -> None:
    words, answer = st.columns([5, 1], vertical_alignment="center")
    words.markdown(escaped(check.sentence))
    answer.segmented_control(
        escaped(check.sentence), ["yes", "no"], key=f"answer-{check.rule}", label_visibility="collapsed"
    )


def _empty() -> None:
    # Nobody's files belong into the folder of the runs that come with trainrx.
    where = "" if runs_dir() == SAMPLES else f", or put them in `{runs_dir() / CURVES_FOLDER}`"
    st.info(
        f"No metric files yet. Upload some above{where}: one file per training, three seeds or more of each method. "
        "In a terminal: `trainrx compare --curves FILE…`",
        icon=":material/info:",
    )
    st.code(_EXAMPLE, language=None)

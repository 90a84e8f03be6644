"""The exclusive partition: its pieces sum to the window, and of nested spans the innermost shows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trainrx.profiler.timeline.partition import Segments, paint

GROUND = 99
Span = tuple[int, int, int]


def painted(spans: list[Span], cuts: list[int]) -> Segments:
    columns = np.array(spans, dtype=np.int64).reshape(-1, 3)
    return paint(
        columns[:, 0], columns[:, 1], columns[:, 2], cuts_ns=np.array(cuts, dtype=np.int64), ground=GROUND
    )


@st.composite
def nested_spans(draw: st.DrawFn) -> list[Span]:
    """Spans that lie side by side or in one another, as the calls of one thread do; each has its own label."""
    spans: list[Span] = []

    def fill(low: int, high: int, depth: int) -> None:
        edges = sorted(draw(st.lists(st.integers(low, high), max_size=6)))
        for start, end in zip(edges[::2], edges[1::2], strict=False):
            spans.append((start, end, len(spans)))
            if depth:
                fill(start, end, depth - 1)

    fill(0, 1000, 3)
    return spans


any_spans = st.lists(
    st.tuples(st.integers(-50, 150), st.integers(0, 80), st.integers(0, 8)).map(
        lambda drawn: (drawn[0], drawn[0] + drawn[1], drawn[2])
    ),
    max_size=25,
)
cuts = st.lists(st.integers(0, 100), min_size=2, max_size=8, unique=True).map(sorted)


@given(any_spans, cuts)
def test_pieces_sum_to_the_window_and_cross_no_cut(spans: list[Span], cuts: list[int]) -> None:
    segments = painted(spans, cuts)
    assert segments.durations_ns.sum() == cuts[-1] - cuts[0]
    assert (segments.durations_ns > 0).all()
    assert set(cuts) <= set(segments.bounds_ns.tolist())


@given(any_spans, cuts)
def test_a_piece_has_the_label_of_a_span_over_it_or_the_ground(spans: list[Span], cuts: list[int]) -> None:
    segments = painted(spans, cuts)
    for low, high, label in zip(segments.bounds_ns, segments.bounds_ns[1:], segments.labels, strict=False):
        over = {span[2] for span in spans if span[0] <= low and high <= span[1]}
        assert label in (over or {GROUND})


@given(nested_spans())
def test_the_innermost_of_nested_spans_shows(spans: list[Span]) -> None:
    segments = painted(spans, [0, 1000])
    for low, high, label in zip(segments.bounds_ns, segments.bounds_ns[1:], segments.labels, strict=False):
        over = [span for span in spans if span[0] <= low and high <= span[1]]
        # of equal spans the later one is the inner one
        inner = min(over, key=lambda span: (span[1] - span[0], -span[2]), default=(0, 0, GROUND))
        assert label == inner[2]


@given(any_spans, cuts, st.lists(st.integers(-20, 120), max_size=20))
def test_a_label_can_be_asked_for_at_any_time(spans: list[Span], cuts: list[int], times: list[int]) -> None:
    segments = painted(spans, cuts)
    labels = segments.label_at(np.array(times, dtype=np.int64))
    for time, label in zip(times, labels.tolist(), strict=True):
        assert (label == -1) == (not cuts[0] <= time < cuts[-1])

"""The front: nobody on it is beaten, everybody else is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trainrx.advisor.compare.curves import Direction
from trainrx.advisor.compare.pareto import pareto_front

POINTS = st.lists(st.tuples(st.integers(0, 9).map(float), st.integers(0, 9).map(float)), max_size=20)


def beats(one: tuple[float, float], other: tuple[float, float], sign: float) -> bool:
    return one != other and one[0] <= other[0] and one[1] * sign >= other[1] * sign


@given(POINTS, st.sampled_from(Direction))
def test_the_front_holds_exactly_the_points_that_no_other_beats(
    points: list[tuple[float, float]], direction: Direction
) -> None:
    front = pareto_front(points, direction)
    for at, point in enumerate(points):
        assert (at in front) == (not any(beats(other, point, direction.sign) for other in points))


@given(POINTS, st.sampled_from(Direction))
def test_the_front_does_not_depend_on_the_order(
    points: list[tuple[float, float]], direction: Direction
) -> None:
    front = {points[at] for at in pareto_front(points, direction)}
    turned = points[::-1]
    assert front == {turned[at] for at in pareto_front(turned, direction)}

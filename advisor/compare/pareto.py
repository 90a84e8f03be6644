"""The front: the trainings that no other one beats in both cost and quality."""

from __future__ import annotations

from collections.abc import Sequence

from .curves import Direction

Point = tuple[float, float]


def pareto_front(points: Sequence[Point], direction: Direction) -> list[int]:
    """Which (cost, quality) points are not dominated, as positions in order of cost.

    A point is dominated if another one costs no more, is no worse, and is better in one of the two. Of equal points all
    are kept.
    """
    order = sorted(range(len(points)), key=lambda at: (points[at][0], -direction.sign * points[at][1]))
    front: list[int] = []
    for at in order:
        if not front or _adds(points[at], points[front[-1]], direction):
            front.append(at)
    return front


def _adds(point: Point, last: Point, direction: Direction) -> bool:
    return point == last or direction.sign * point[1] > direction.sign * last[1]

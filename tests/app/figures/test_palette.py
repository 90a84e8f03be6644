"""The palette: every stage has its own colour, seen on both pages."""

import itertools

import pytest

from trainrx.app.figures.palette import DARK_PAGE, LIGHT_PAGE, STAGE_COLORS, ink, stage_color
from trainrx.profiler.vocabulary import Stage


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("stage", list(Stage))
@pytest.mark.parametrize("page", [LIGHT_PAGE, DARK_PAGE])
def test_a_stage_is_seen_on_both_pages(stage: Stage, page: str) -> None:
    assert contrast(stage_color(stage), page) >= 2


def test_no_two_stages_share_a_colour() -> None:
    for one, other in itertools.combinations(Stage, 2):
        assert STAGE_COLORS[one] != STAGE_COLORS[other]


def test_ink_is_readable() -> None:
    assert contrast(ink(dark=True), DARK_PAGE) > 7
    assert contrast(ink(dark=False), LIGHT_PAGE) > 7

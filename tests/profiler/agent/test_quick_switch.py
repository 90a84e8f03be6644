"""The sampler sees pure Python code, and leaves the interpreter as it found it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from trainrx.profiler.agent.quick_switch import PYTHONS_OWN_S, QUICK_S, quick_switch


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(PYTHONS_OWN_S)
    yield
    sys.setswitchinterval(before)


def test_the_interval_is_lowered_and_put_back() -> None:
    with quick_switch():
        assert sys.getswitchinterval() == pytest.approx(QUICK_S)
    assert sys.getswitchinterval() == PYTHONS_OWN_S


def test_an_interval_of_the_scripts_own_is_left_alone() -> None:
    sys.setswitchinterval(0.02)
    with quick_switch():
        assert sys.getswitchinterval() == pytest.approx(0.02)
    assert sys.getswitchinterval() == pytest.approx(0.02)


def test_an_interval_that_the_script_chooses_meanwhile_stays() -> None:
    with quick_switch():
        sys.setswitchinterval(0.001)
    assert sys.getswitchinterval() == pytest.approx(0.001)

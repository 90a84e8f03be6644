"""Only copies of page-locked tensors that say nothing themselves are made not to block."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from trainrx.profiler.agent.knobs import copy_non_blocking


class Tensor:
    """Stands in for ``torch.Tensor``, with the signatures of its two copies."""

    def __init__(self, device: str = "cpu", *, pinned: bool = True) -> None:
        self.device = SimpleNamespace(type=device)
        self._pinned = pinned

    def is_pinned(self) -> bool:
        return self._pinned

    def to(self, device: Any, dtype: Any = None, non_blocking: bool = False, copy: bool = False) -> bool:
        return non_blocking

    def cuda(self, device: Any = None, non_blocking: bool = False) -> bool:
        return non_blocking


@pytest.fixture
def kind(site: Any) -> Any:
    class Changed(Tensor): ...

    site.modules["torch"] = SimpleNamespace(Tensor=Changed)
    copy_non_blocking.install(True, site)
    return Changed


def test_copies_that_say_nothing_do_not_block(kind: Any, site: Any) -> None:
    assert kind().to("cuda") and kind().cuda() and kind().to("cuda", dtype="float16")
    assert set(site.events) == {"applied"}


def test_what_a_script_says_by_place_or_name_stays(kind: Any, site: Any) -> None:
    assert kind().cuda(None, True) and not kind().cuda(None, False)
    assert kind().to("cuda", "float16", True) and not kind().to("cuda", non_blocking=False)
    assert site.told == []


def test_other_copies_stay_as_they_are(kind: Any, site: Any) -> None:
    assert not kind(pinned=False).to("cuda") and not kind("cuda").to("cpu")
    assert site.told == []

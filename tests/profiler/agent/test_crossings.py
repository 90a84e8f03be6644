"""What crosses between host and device in the counted step: copies and calls that make the host wait."""

from __future__ import annotations

import _thread
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from trainrx.profiler.agent import crossings
from trainrx.profiler.agent.crossings import Crossings, crossing


def a_tensor(device: str = "cuda", *, pinned: bool = False, dtype: str = "torch.float32") -> Any:
    return SimpleNamespace(
        device=SimpleNamespace(type=device),
        dtype=dtype,
        numel=lambda: 1000,
        element_size=lambda: 4,
        is_pinned=lambda: pinned,
    )


def operator(name: str) -> Any:
    return SimpleNamespace(_overloadpacket=f"aten.{name}")


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "expected"),
    [
        (
            "_to_copy", (a_tensor("cpu"),), {"device": SimpleNamespace(type="cuda")},
            {"kind": "to-device", "bytes": 4000, "pinned": False, "non_blocking": False},
        ),
        (
            "_to_copy", (a_tensor("cpu", pinned=True),), {"device": "cuda:1", "non_blocking": True},
            {"kind": "to-device", "bytes": 4000, "pinned": True, "non_blocking": True},
        ),
        ("_to_copy", (a_tensor("cuda"),), {"device": "cpu"}, {"kind": "to-host", "bytes": 4000, "non_blocking": False}),
        ("_to_copy", (a_tensor("cuda"),), {"dtype": "bf16"}, None),
        ("_to_copy", (a_tensor("cuda"),), {"device": "cuda:1"}, None),
        ("copy_", (a_tensor("cuda"), a_tensor("cpu"), True), {}, {"kind": "to-device", "bytes": 4000, "pinned": False, "non_blocking": True}),
        ("copy_", (a_tensor("cuda"), a_tensor("cuda")), {}, None),
        ("_local_scalar_dense", (a_tensor("cuda"),), {}, {"kind": "item", "bytes": 4}),
        ("_local_scalar_dense", (a_tensor("cpu"),), {}, None),
        ("nonzero", (a_tensor("cuda"),), {}, {"kind": "shape", "bytes": 0}),
        ("repeat_interleave", (a_tensor("cuda"),), {"output_size": 3}, None),
        ("index", (a_tensor("cuda"), [None, a_tensor(dtype="torch.bool")]), {}, {"kind": "mask", "bytes": 0}),
        ("index", (a_tensor("cuda"), [a_tensor(dtype="torch.int64")]), {}, None),
        ("mm", (a_tensor("cuda"), a_tensor("cuda")), {}, None),
        ("rand", ([3],), {"device": "cuda"}, None),
        ("empty", (), {}, None),
    ],
)  # fmt: skip
def test_what_crosses(name: str, args: Any, kwargs: Any, expected: dict[str, Any] | None) -> None:
    assert crossing(operator(name), args, kwargs) == expected


def test_calls_of_one_line_are_counted_and_named_by_it() -> None:
    found = Crossings()

    def reads(times: int) -> None:
        for _ in range(times):
            passes_on(found, operator("_local_scalar_dense"))

    reads(3)
    reads(2)  # the same call on another way
    assert [call["count"] for call in found.calls()] == [3, 2]
    assert "passes_on(found" in found.calls()[0]["frames"][0][3]


def passes_on(found: Crossings, func: Any) -> None:
    found.saw(func, (a_tensor(),), {}, None)


def test_a_backward_in_a_thread_of_autograd_is_counted_without_a_place() -> None:
    # GIVEN a thread in which no Python lies above the dispatch
    found, over = Crossings(), threading.Lock()
    over.acquire()

    def dispatches() -> None:
        for _ in range(2):
            found.saw(operator("_index_put_impl_"), (a_tensor(), [a_tensor(dtype="torch.bool")]), {}, None)
        over.release()

    # WHEN it puts gradients where a mask says
    _thread.start_new_thread(dispatches, ())
    assert over.acquire(timeout=10)
    # THEN that is counted
    assert found.calls() == [{"kind": "mask", "bytes": 0, "count": 2, "frames": []}]


def test_places_beyond_a_number_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossings, "MAX_PLACES", 1)
    found = Crossings()
    passes_on(found, operator("nonzero"))
    passes_on(found, operator("nonzero"))
    assert len(found.calls()) == 1

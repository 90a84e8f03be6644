"""The switches of torch are read by whichever interface the script has set them, and one at a time."""

from types import SimpleNamespace

import pytest
import torch

from trainrx.profiler.agent.matmul_precision import convolutions_are_rounded, matmul_precision
from trainrx.profiler.agent.model_facts import flags


@pytest.mark.parametrize(("set_to", "told"), [("tf32", "high"), ("ieee", "highest")])
def test_the_precision_that_torchs_newer_switch_says(set_to: str, told: str) -> None:
    # GIVEN a script that uses the switch beside which the older question is an error
    switch = torch.backends.cuda.matmul
    if not hasattr(torch._C, "_get_fp32_precision_getter"):
        pytest.skip("this torch has the older switch alone")
    before = switch.fp32_precision
    switch.fp32_precision = set_to
    # WHEN the settings are read THEN all are known
    try:
        found = flags(traced=False)
    finally:
        switch.fp32_precision = before
    assert found["matmul_precision"] == told and found["unread"] == {}
    assert None not in found.values()


def test_the_precision_of_an_older_torch() -> None:
    older = SimpleNamespace(
        _C=SimpleNamespace(),
        get_float32_matmul_precision=lambda: "medium",
        backends=SimpleNamespace(cudnn=SimpleNamespace(allow_tf32=True)),
    )
    assert matmul_precision(older) == "medium" and convolutions_are_rounded(older)


def test_a_setting_that_cannot_be_read_is_told_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> bool:
        raise RuntimeError("mixed")

    monkeypatch.setattr(torch, "are_deterministic_algorithms_enabled", refuse)
    found = flags(traced=True)
    assert found["deterministic"] is None and found["unread"] == {"deterministic": "RuntimeError('mixed')"}
    assert found["profiler"] is None and isinstance(found["threads"], int)

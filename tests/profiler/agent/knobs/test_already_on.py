"""A knob that finds the script doing it already says so and changes nothing."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from trainrx.profiler.agent.knobs import (
    compile_default,
    cudnn_benchmark,
    eval_inference_mode,
    memory_format_channels_last,
    precision_tf32,
)


@pytest.mark.parametrize("before", [True, False])
def test_cudnn_s_benchmark(site: Any, monkeypatch: pytest.MonkeyPatch, before: bool) -> None:
    cudnn = SimpleNamespace(is_available=lambda: True, benchmark=before)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(backends=SimpleNamespace(cudnn=cudnn)))
    cudnn_benchmark.install(True, site)
    site.meets[0](None)
    assert cudnn.benchmark and site.told == [
        ("not applied", "cudnn.benchmark is True already")
        if before
        else ("applied", "cudnn.benchmark = True")
    ]


@pytest.mark.parametrize(
    ("matmul", "conv", "expected"),
    [("tf32", "tf32", "not applied"), ("ieee", "tf32", "applied"), ("tf32", "ieee", "applied")],
)
def test_tf32(site: Any, monkeypatch: pytest.MonkeyPatch, matmul: str, conv: str, expected: str) -> None:
    # GIVEN a torch with a GPU, whose older question would be an error
    fake = SimpleNamespace(
        cuda=SimpleNamespace(is_available=lambda: True),
        backends=SimpleNamespace(cudnn=SimpleNamespace(allow_tf32=False)),
        _C=SimpleNamespace(
            _get_fp32_precision_getter=lambda backend, what: {"matmul": matmul, "conv": conv}[what]
        ),
        set_float32_matmul_precision=lambda name: chosen.extend([name]),
    )
    chosen: list[str] = []
    monkeypatch.setitem(sys.modules, "torch", fake)
    # WHEN a model is met THEN both switches are on, unless they were
    precision_tf32.install(True, site)
    site.meets[0](None)
    assert site.events == [expected]
    assert (chosen, fake.backends.cudnn.allow_tf32) == (
        (["high"], True) if expected == "applied" else ([], False)
    )


@pytest.mark.parametrize("before", [True, False])
def test_channels_last(site: Any, before: bool) -> None:
    # GIVEN a model whose weights have their channels last, or not
    model = nn.Sequential(nn.Conv2d(3, 4, 3))
    if before:
        model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    memory_format_channels_last.install(True, site)
    # WHEN it is met and called
    site.meets[0](model)
    got = site.arounds[0](model, lambda x: x, (torch.ones(2, 3, 5, 5),), {})
    # THEN the weights and the images have them last
    assert site.events == ["not applied" if before else "applied"]
    for tensor in (model[0].weight, got):
        assert tensor.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("what", ["forward", "call"])
def test_a_compiled_model(site: Any, what: str) -> None:
    # GIVEN a model whose forward, or whose call, the script has compiled
    model = nn.Linear(2, 2)

    def compiled(x: Any) -> Any:
        return x

    if what == "forward":
        compiled._torchdynamo_orig_callable = model.forward  # type: ignore[attr-defined]
        model.forward = compiled
    else:
        model._compiled_call_impl = compiled
    # WHEN it is met THEN it is not compiled a second time
    compile_default.install(True, site)
    site.meets[0](model)
    assert site.told == [("not applied", "Linear is compiled already")]
    assert model._compiled_call_impl is (None if what == "forward" else compiled)


def test_inference_mode(site: Any) -> None:
    eval_inference_mode.install(True, site)
    (around,) = site.arounds
    model = nn.Linear(2, 2)

    def is_on(*_: Any) -> bool:
        return torch.is_inference_mode_enabled()

    # GIVEN a model in training, or an evaluation that the script runs so THEN nothing is told
    assert not around(model, is_on, (), {})
    model.eval()
    with torch.inference_mode():
        assert around(model, is_on, (), {})
    assert site.told == []
    # WHEN it does not THEN the knob does
    assert around(model, is_on, (), {}) and site.events == ["applied"]

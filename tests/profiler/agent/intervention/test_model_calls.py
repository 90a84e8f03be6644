"""What counts as a call of a model, while models are looked for and after."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from trainrx.profiler.agent.intervention.model_calls import DISCOVERY_STEPS, ModelCalls


class Module:
    """Stands in for ``torch.nn.Module``."""

    def __init__(self, *parameters: int) -> None:
        self._parameters = parameters

    def parameters(self) -> Any:
        return iter(self._parameters)

    def __call__(self, value: int) -> int:
        return value + 1


class Steps:
    def after(self, function: Any) -> None:
        self.step = function

    def forget(self, function: Any) -> None: ...


def test_a_module_without_parameters_is_no_model_though_its_class_is_one_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # GIVEN a knob that runs models in a context, for which it asks their first parameter
    class Base(Module): ...

    class Container(Base): ...

    torch = SimpleNamespace(nn=SimpleNamespace(Module=Base))
    monkeypatch.setitem(sys.modules, "torch", torch)
    watch: Any = SimpleNamespace(when_imported=lambda name, after: after(torch))
    steps, devices = Steps(), []

    def around(module: Any, call: Any, args: Any, kwargs: Any) -> Any:
        devices.append(next(module.parameters()))
        return call(*args, **kwargs)

    calls = ModelCalls(watch, steps, lambda wrapper: None)  # type: ignore[arg-type]
    calls.around(around)
    calls.start()
    model, augment = Container(3), Container()
    # WHEN a script calls both in each step, while models are looked for and after
    for _ in range(DISCOVERY_STEPS + 3):
        assert model(augment(1)) == 3
        steps.step(None)
    # THEN only the one with parameters ran in the context
    assert devices == [3] * (DISCOVERY_STEPS + 3)

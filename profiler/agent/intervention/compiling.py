"""Compiles the models of a script in place, so that names, state dicts and checkpoints stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .models import is_compiled, unwrapped
from .setup import anywhere
from .site import loaded
from .values import argument

if TYPE_CHECKING:
    from collections.abc import Callable

    from .setup import Setup
    from .site import Actions, Site


def compile_in_place(module: Any, **options: Any) -> None:
    """What ``module.compile`` does, and for torch's own containers too, whose frames TorchDynamo passes over."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return module._call_impl(*args, **kwargs)

    module._compiled_call_impl = loaded("torch").compile(call, **options)


def compiled_model(applies: Callable[[Setup], str | None] = anywhere, **options: Any) -> Actions:
    """A knob that compiles each model before its first call, with options of ``torch.compile``."""

    def install(value: bool, site: Site) -> None:
        def compile_model(module: Any) -> None:
            inner = unwrapped(module)
            if is_compiled(inner):
                site.not_applied(f"{type(inner).__name__} is compiled already")
            else:
                compile_in_place(inner, **options)
                site.applied(f"{type(inner).__name__} is compiled")

        site.on_model(compile_model)

    written = ", ".join(argument(name, value) for name, value in options.items())
    return applies, install, lambda value: f"model.compile({written})"

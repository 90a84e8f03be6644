"""Compiles the models of a script in place, so that names, state dicts and checkpoints stay as they are."""

from __future__ import annotations

from functools import wraps
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

    return applies, install, lambda value: f"model.compile({_written(options)})"


def compilation_with(**options: Any) -> Actions:
    """A knob that gives the script's calls of ``torch.compile`` these options, and compiles models that it does not."""
    written = _written(options)

    def install(value: bool, site: Site) -> None:
        changed: list[str] = []

        def set_options(torch: Any) -> None:
            original = torch.compile

            @wraps(original)
            def compile(*args: Any, **kwargs: Any) -> Any:
                if any(kwargs.get(name) != wanted for name, wanted in options.items()):
                    changed.append(written)
                    site.applied(f"torch.compile is called with {written}")
                return original(*args, **{**kwargs, **options})

            torch.compile = compile

        def compile_model(module: Any) -> None:
            inner = unwrapped(module)
            if not is_compiled(inner):
                compile_in_place(inner, **options)
                site.applied(f"{type(inner).__name__} is compiled")
            elif not changed:
                site.not_applied(f"{type(inner).__name__} is compiled with {written} already")

        site.when_imported("torch", set_options)
        site.on_model(compile_model)

    return anywhere, install, lambda value: f"torch.compile(model, {written})"


def _written(options: dict[str, Any]) -> str:
    return ", ".join(argument(name, value) for name, value in options.items())

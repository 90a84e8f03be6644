"""Runs models under ``torch.autocast`` and hands their results on in float32, as a loss outside expects them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .site import loaded

if TYPE_CHECKING:
    from .site import Site


def around_models(site: Site, dtype: str) -> None:
    """Run the outermost calls of models under autocast to a data type of torch."""

    def around(module: Any, call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        torch = loaded("torch")
        device = next(module.parameters()).device.type
        if torch.is_autocast_enabled(device):
            site.not_applied("the script uses autocast itself")
            return call(*args, **kwargs)
        site.applied(f"{type(module).__name__} under autocast to {dtype}")
        with torch.autocast(device, dtype=getattr(torch, dtype)):
            result = call(*args, **kwargs)
        return in_float32(result)

    site.around_model(around)


def in_float32(result: Any) -> Any:
    """The same tensors, tuples, lists and mappings with half-precision tensors in float32."""
    torch = loaded("torch")
    if isinstance(result, torch.Tensor):
        return result.float() if result.dtype in (torch.float16, torch.bfloat16) else result
    if isinstance(result, dict):
        for name in result:
            result[name] = in_float32(result[name])
        return result
    if type(result) in (tuple, list):
        return type(result)(in_float32(part) for part in result)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*(in_float32(part) for part in result))
    return result

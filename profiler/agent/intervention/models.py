"""What knobs ask of a model: what lies inside wrappers, which blocks repeat, which layers it has."""

from __future__ import annotations

from typing import Any

_WRAPPERS = ("DistributedDataParallel", "DataParallel")


def unwrapped(module: Any) -> Any:
    """The module inside ``DistributedDataParallel`` and the like."""
    while type(module).__name__ in _WRAPPERS:
        module = module.module
    return module


def is_compiled(module: Any) -> bool:
    """Whether the script compiles this module itself, or its ``forward``."""
    compiled_forward = hasattr(vars(module).get("forward"), "_torchdynamo_orig_callable")
    return (
        compiled_forward
        or hasattr(module, "_orig_mod")
        or getattr(module, "_compiled_call_impl", None) is not None
    )


def has_convolutions(module: Any) -> bool:
    """Whether the module holds a two-dimensional convolution."""
    return any(type(part).__name__.startswith("Conv") and _is_4d(part) for part in module.modules())


def is_channels_last(module: Any, channels_last: Any) -> bool:
    """Whether all weights that have four dimensions lie in the memory format ``torch.channels_last``."""
    return all(
        part.weight.is_contiguous(memory_format=channels_last) for part in module.modules() if _is_4d(part)
    )


def repeated_blocks(module: Any) -> list[Any]:
    """The members of the largest container whose members are of one class and have members themselves."""
    found: list[Any] = []
    for part in module.modules():
        if type(part).__name__ not in ("ModuleList", "Sequential"):
            continue
        members = list(part.children())
        same = len({type(member) for member in members}) == 1
        if same and len(members) > max(len(found), 1) and next(members[0].children(), None) is not None:
            found = members
    return found


def _is_4d(part: Any) -> bool:
    weight = getattr(part, "weight", None)
    return weight is not None and weight.dim() == 4

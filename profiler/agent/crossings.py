"""Notes what goes from host to device and back in one step: copies, and operators that make the host wait.

It looks at operators on their way, in the step whose operations are counted anyway, so it wraps none of torch's
functions: a wrapper around ``Tensor.to`` or ``Tensor.item`` would be seen by tensor subclasses and by TorchDynamo, and
``torch.cuda.set_sync_debug_mode`` speaks through the script's own warnings. What such calls cost is told by the sampled
stacks of the timed steps.
"""

from __future__ import annotations

import sys
from typing import Any

from .sampler import describe_stack

MAX_PLACES = 64
#: Frames to keep of a stack: enough to come from an operator to the script through a library.
MAX_FRAMES = 24
TO_DEVICE, TO_HOST, ITEM, SHAPE, MASK = "to-device", "to-host", "item", "shape", "mask"
_HOSTS = ("cpu", "meta")
#: Operators whose result's size depends on values, so that the host has to read them.
_SHAPES = frozenset(
    {
        "nonzero", "masked_select", "_unique", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive",
        "repeat_interleave",
    }
)  # fmt: skip


class Crossings:
    """Calls by kind and place; what is beyond `MAX_PLACES` is left out."""

    def __init__(self) -> None:
        self._found: dict[tuple[Any, ...], dict[str, Any]] = {}

    def saw(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """An operator has run; its caller's frame is two above.

        A backward on a GPU runs in a thread of autograd's own, in which no Python lies above.
        """
        found = crossing(func, args, kwargs)
        if found is None:
            return
        frame = sys._getframe(1).f_back
        code = None if frame is None else frame.f_code
        key = (found["kind"], found.get("pinned"), found.get("non_blocking"), code, *_lines(frame))
        known = self._found.get(key)
        if known is not None:
            known["count"] += 1
            known["bytes"] += found["bytes"]
        elif len(self._found) < MAX_PLACES:
            self._found[key] = {**found, "count": 1, "frames": describe_stack(frame)[:MAX_FRAMES]}

    def calls(self) -> list[dict[str, Any]]:
        """What was seen, as values of a fact."""
        return list(self._found.values())


def crossing(func: Any, args: Any, kwargs: Any) -> dict[str, Any] | None:
    """What an operator carries over between host and device: kind, bytes and how; None for one that stays."""
    name = str(getattr(func, "_overloadpacket", func)).rpartition(".")[2]
    if name == "_to_copy":
        target = kwargs.get("device")
        return None if target is None else _copy(args[0], target, bool(kwargs.get("non_blocking")))
    if name == "copy_":
        blocks = kwargs.get("non_blocking", args[2] if len(args) > 2 else False)
        return _copy(args[1], args[0].device, bool(blocks))
    if not args or not _on_device(args[0]):
        return None
    if name in ("_local_scalar_dense", "equal"):
        return {"kind": ITEM, "bytes": args[0].element_size()}
    if name in _SHAPES and kwargs.get("output_size") is None:
        return {"kind": SHAPE, "bytes": 0}
    if name in ("index", "index_put_", "index_put", "_index_put_impl_") and _has_mask(args[1]):
        return {"kind": MASK, "bytes": 0}
    return None


def _copy(source: Any, target: Any, non_blocking: bool) -> dict[str, Any] | None:
    came, goes = source.device.type, getattr(target, "type", str(target).partition(":")[0])
    if came == "cpu" and goes not in _HOSTS:
        return {
            "kind": TO_DEVICE,
            "bytes": _bytes(source),
            "pinned": bool(source.is_pinned()),
            "non_blocking": non_blocking,
        }
    if goes == "cpu" and came not in _HOSTS:
        return {"kind": TO_HOST, "bytes": _bytes(source), "non_blocking": non_blocking}
    return None


def _bytes(tensor: Any) -> int:
    return int(tensor.numel() * tensor.element_size())


def _on_device(value: Any) -> bool:
    device = getattr(value, "device", None)
    return device is not None and device.type not in _HOSTS


def _has_mask(indices: Any) -> bool:
    return any(str(getattr(index, "dtype", None)) in ("torch.bool", "torch.uint8") for index in indices)


def _lines(frame: Any) -> tuple[int, ...]:
    """Line numbers of the innermost frames, which tell places apart."""
    lines: list[int] = []
    while frame is not None and len(lines) < MAX_FRAMES:
        lines.append(frame.f_lineno or 0)
        frame = frame.f_back
    return tuple(lines)

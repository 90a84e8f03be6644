"""``DistributedDataParallel``: its settings, and whether a backward will average gradients over the ranks."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..recorder import Recorder

MODULE = "torch.nn.parallel.distributed"
SETTINGS = (
    "bucket_bytes_cap", "find_unused_parameters", "static_graph", "gradient_as_bucket_view", "broadcast_buffers",
)  # fmt: skip


def install(module: Any, recorder: Recorder) -> None:
    """Note every model that is wrapped."""
    original = module.DistributedDataParallel.__init__

    @wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        recorder.parallel_model(self, describe)

    module.DistributedDataParallel.__init__ = __init__


def describe(model: Any) -> dict[str, Any]:
    """The settings that decide how gradients travel."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return {
        **{name: getattr(model, name, None) for name in SETTINGS},
        "gradient_bytes": sum(parameter.numel() * parameter.element_size() for parameter in parameters),
        "tensors": len(parameters),
    }

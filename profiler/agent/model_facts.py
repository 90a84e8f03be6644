"""Facts on the model and its inputs, seen at outermost forward calls in training; looked at in the first steps only."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from .matmul_precision import matmul_precision

if TYPE_CHECKING:
    from collections.abc import Callable

    from .recorder import Recorder

WATCHED_CALLS = 64
LARGE_VOCABULARY = 30_000
_TRAITS = (
    ("attention", ("attention", "transformerencoderlayer", "transformerdecoderlayer")),
    ("conv", ("conv1d", "conv2d", "conv3d", "convtranspose")),
    ("batchnorm", ("batchnorm",)),
    ("layernorm", ("layernorm", "rmsnorm")),
    ("embedding", ("embedding",)),
    ("moe", ("mixtureofexperts", "moelayer", "sparsemoe", "switch")),
    ("rnn", ("rnn", "lstm", "gru")),
)


class ModelFacts:
    """Describes each model once, and the shapes of its inputs while they are watched.

    Attributes:
        is_watching: calls still need to be shown to `saw`.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._calls = 0
        self.is_watching = True
        self._shapes: set[str] = set()
        self._indices = 0

    def saw(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """An outermost forward call in training is about to run."""
        self._calls += 1
        self.is_watching = self._calls < WATCHED_CALLS
        self._recorder.number(model, "model", describe)
        tensors = [value for value in (*args, *kwargs.values()) if hasattr(value, "shape")]
        shapes = str([tuple(value.shape) for value in tensors])
        if any(self._parameters(model)):
            self._shapes.add(f"{type(model).__name__} {shapes}")
            self._indices = max([self._indices, *map(_index_count, tensors)])
        if (
            self._calls in (WATCHED_CALLS // 8, WATCHED_CALLS // 2, WATCHED_CALLS)
            and self._recorder.folder is not None
        ):
            self._recorder.folder.fact(
                "inputs",
                shapes=sorted(self._shapes)[:8],
                distinct=len(self._shapes),
                index_values=self._indices,
            )
            self._recorder.folder.fact("flags", **flags(traced=self._recorder.traced))

    @staticmethod
    def _parameters(model: Any) -> list[Any]:
        first = next(iter(model.parameters()), None)
        return [] if first is None else [first.numel()]


def describe(model: Any) -> dict[str, Any]:
    """The model's class, size, numeric type and traits."""
    inner = getattr(model, "_orig_mod", model)
    kinds = Counter(type(module).__name__ for module in inner.modules())
    parameters = list(inner.parameters())
    return {
        "type": _kind(getattr(inner, "module", inner)).__name__,
        "key": id(model),
        "parameters": sum(parameter.numel() for parameter in parameters),
        "parameter_bytes": sum(parameter.numel() * parameter.element_size() for parameter in parameters),
        "device": parameters[0].device.type if parameters else None,
        "dtypes": sorted({str(parameter.dtype).removeprefix("torch.") for parameter in parameters}),
        "traits": _traits(inner, kinds),
        "modules": dict(kinds.most_common(24)),
        "compiled": inner is not model,
        "channels_last": _is_channels_last(parameters),
        "sync_batchnorm": sum(count for name, count in kinds.items() if "SyncBatchNorm" in name),
        **_dense_embeddings(inner),
        "autocast": _autocast_dtype(),
    }


def _kind(model: Any) -> type:
    """The model's own class: ``fully_shard`` puts one of its making before it."""
    kinds = list(type(model).__mro__)
    return kinds[2] if len(kinds) > 2 and kinds[1].__name__ == "FSDPModule" else kinds[0]


def _index_count(value: Any) -> int:
    """Values of an input that looks rows up: whole numbers; 0 for any other."""
    dtype = getattr(value, "dtype", None)
    return value.numel() if dtype in (sys.modules["torch"].int64, sys.modules["torch"].int32) else 0


#: The switches of torch and Python that change how fast it runs.
_FLAGS: dict[str, Callable[[Any], Any]] = {
    "cudnn_benchmark": lambda torch: bool(torch.backends.cudnn.benchmark),
    "matmul_precision": matmul_precision,
    "deterministic": lambda torch: bool(torch.are_deterministic_algorithms_enabled()),
    "anomaly_mode": lambda torch: bool(torch.is_anomaly_enabled()),
    "profiler": lambda torch: bool(torch.autograd._profiler_enabled()),
    "gc_enabled": lambda torch: gc.isenabled(),
    "threads": lambda torch: torch.get_num_threads(),
    "interop_threads": lambda torch: torch.get_num_interop_threads(),
}


def flags(*, traced: bool) -> dict[str, Any]:
    """The switches by name; ``traced`` while a profiler of ours is on.

    One that cannot be read is None, and ``unread`` says why.
    """
    torch = sys.modules["torch"]
    found: dict[str, Any] = {}
    unread: dict[str, str] = {}
    for name, read in _FLAGS.items():
        try:
            found[name] = None if traced and name == "profiler" else read(torch)
        except Exception as error:
            found[name], unread[name] = None, repr(error)
    return {**found, "unread": unread}


def _traits(model: Any, kinds: Counter[str]) -> list[str]:
    names = [name.lower() for name in kinds]
    traits = [trait for trait, marks in _TRAITS if any(mark in name for name in names for mark in marks)]
    if any(getattr(module, "num_embeddings", 0) >= LARGE_VOCABULARY for module in model.modules()):
        traits.append("large-vocab")
    return traits


def _dense_embeddings(model: Any) -> dict[str, int]:
    """Tables whose gradient has a row for each of their rows, used or not: rows of the largest, values of all."""
    tables = [
        module.weight
        for module in model.modules()
        if hasattr(module, "num_embeddings") and getattr(module, "sparse", None) is False
    ]
    learned = [table for table in tables if getattr(table, "requires_grad", False)]
    return {
        "dense_embedding_rows": max((int(table.shape[0]) for table in learned), default=0),
        "dense_embedding_parameters": sum(table.numel() for table in learned),
    }


def _is_channels_last(parameters: list[Any]) -> bool | None:
    torch = sys.modules["torch"]
    images = [parameter for parameter in parameters if parameter.dim() == 4]
    return all(p.is_contiguous(memory_format=torch.channels_last) for p in images) if images else None


def _autocast_dtype() -> str | None:
    torch = sys.modules["torch"]
    for device in ("cuda", "cpu"):
        if torch.is_autocast_enabled(device):
            return str(torch.get_autocast_dtype(device)).removeprefix("torch.")
    return _inside_accelerate()


def _inside_accelerate() -> str | None:
    """What Accelerate casts to: it enters autocast within the model's forward, where nobody looks."""
    state = getattr(sys.modules.get("accelerate.state"), "AcceleratorState", None)
    asked = getattr(state, "_shared_state", {}).get("_mixed_precision")
    return {"bf16": "bfloat16", "fp16": "float16"}.get(str(asked))

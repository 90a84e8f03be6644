"""``fully_shard`` (FSDP2): how parameters are sharded. Its collectives are seen where `.collectives` sees all."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from ..tracebacks import unseen

if TYPE_CHECKING:
    from types import ModuleType

    from ..recorder import Recorder

MODULE = "torch.distributed.fsdp._fully_shard._fully_shard"


def install(module: ModuleType, recorder: Recorder) -> None:
    """Note every module that is sharded, and with which settings."""
    original: Any = getattr(module, "fully_shard", None)
    if original is None:
        return

    @wraps(original)
    def fully_shard(module: Any, *args: Any, **kwargs: Any) -> Any:
        sharded = original(module, *args, **kwargs)
        for part in module if isinstance(module, (list, tuple)) else (module,):
            recorder.distributed_model(part, "sharded", lambda _: describe(kwargs))
        return sharded

    unseen(fully_shard)
    module.__dict__["fully_shard"] = fully_shard


def describe(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings that decide what travels how often; what the script left to torch is None."""
    reshard, precision = settings.get("reshard_after_forward"), settings.get("mp_policy")
    return {
        "reshard_after_forward": reshard if isinstance(reshard, bool) else None,
        "param_dtype": _dtype(precision, "param_dtype"),
        "reduce_dtype": _dtype(precision, "reduce_dtype"),
        "offload": type(settings["offload_policy"]).__name__ if "offload_policy" in settings else None,
    }


def _dtype(policy: Any, name: str) -> str | None:
    value = getattr(policy, name, None)
    return None if value is None else str(value).removeprefix("torch.")

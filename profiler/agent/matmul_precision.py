"""How precisely 32-bit floats are multiplied, by whichever of torch's two interfaces a script has set it.

Since torch 2.9 ``torch.get_float32_matmul_precision`` warns, and raises once a script has used the newer interface
(``torch.backends.cuda.matmul.fp32_precision``). What is read here does neither.
"""

from __future__ import annotations

from typing import Any

_NAMES = {"tf32": "high", "bf16": "medium"}


def matmul_precision(torch: Any) -> str:
    """``highest``, ``high`` (TensorFloat-32) or ``medium`` (bfloat16): the words of torch's older interface."""
    newer = _newer(torch)
    if newer is None:
        return str(torch.get_float32_matmul_precision())
    return _NAMES.get(newer("cuda", "matmul"), "highest")


def convolutions_are_rounded(torch: Any) -> bool:
    """Whether cuDNN may round 32-bit floats to TensorFloat-32."""
    newer = _newer(torch)
    if newer is None:
        return bool(torch.backends.cudnn.allow_tf32)
    return newer("cuda", "conv") in _NAMES


def _newer(torch: Any) -> Any:
    return getattr(torch._C, "_get_fp32_precision_getter", None)

"""DDP's bf16 compression hook: gradients travel in half the bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.parallel import ddp_hook
from ..intervention.setup import needs_cuda, needs_ranks
from ..intervention.values import only_true

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "ddp.comm_hook_bf16"
EQUIVALENCE = "numerical"
SUMMARY = "gradients that travel as bf16"
EXAMPLE = "true"
UNDO = "take register_comm_hook out again"
TOLERANCE = 2e-2

parse = only_true
_, install, snippet = ddp_hook("bf16_compress_hook")


def applies(setup: Mapping[str, Any]) -> str | None:
    """Training in several processes, on GPUs: gloo does not sum bfloat16."""
    return needs_ranks(setup) or needs_cuda(setup)

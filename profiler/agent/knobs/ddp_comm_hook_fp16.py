"""DDP's fp16 compression hook: gradients travel in half the bytes."""

from __future__ import annotations

from ..intervention.parallel import ddp_hook
from ..intervention.values import only_true

NAME = "ddp.comm_hook_fp16"
EQUIVALENCE = "numerical"
SUMMARY = "gradients that travel as fp16"
EXAMPLE = "true"
UNDO = "take register_comm_hook out again"
TOLERANCE = 1e-2

parse = only_true
applies, install, snippet = ddp_hook("fp16_compress_hook")

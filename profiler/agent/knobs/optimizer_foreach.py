"""``foreach=…`` of torch's optimizers: one multi-tensor kernel per operation instead of a loop over parameters."""

from __future__ import annotations

from ..intervention.optimizers import optimizer_flag
from ..intervention.values import flag

NAME = "optimizer.foreach"
EQUIVALENCE = "numerical"
SUMMARY = "one multi-tensor kernel per operation instead of a loop over parameters"
EXAMPLE = "true"
UNDO = "take foreach=True out again"

parse = flag
applies, install, snippet = optimizer_flag("foreach", excludes="fused")

"""``fused=…`` of torch's optimizers: the whole update of an optimizer in one kernel."""

from __future__ import annotations

from ..intervention.optimizers import optimizer_flag
from ..intervention.values import flag

NAME = "optimizer.fused"
EQUIVALENCE = "numerical"
SUMMARY = "the whole update of an optimizer in one kernel"
EXAMPLE = "true"
UNDO = "take fused=True out again"

parse = flag
applies, install, snippet = optimizer_flag("fused", excludes="foreach")

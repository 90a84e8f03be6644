"""``DistributedDataParallel(static_graph=…)``: the graph stays the same, so communication is planned once."""

from __future__ import annotations

from ..intervention.parallel import ddp_argument
from ..intervention.values import flag

NAME = "ddp.static_graph"
EQUIVALENCE = "exact"
SUMMARY = "the graph is the same in every step, so its communication is planned once"
EXAMPLE = "true"
UNDO = "take static_graph out again"

parse = flag
applies, install, snippet = ddp_argument("static_graph")

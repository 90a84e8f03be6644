"""``DistributedDataParallel(find_unused_parameters=…)``: whether each step looks for parameters without gradient."""

from __future__ import annotations

from ..intervention.parallel import ddp_argument
from ..intervention.values import flag

NAME = "ddp.find_unused_parameters"
EQUIVALENCE = "exact"
SUMMARY = "whether each step looks for parameters without gradient"
EXAMPLE = "false"
UNDO = "take find_unused_parameters out again"

parse = flag
applies, install, snippet = ddp_argument("find_unused_parameters")

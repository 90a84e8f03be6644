"""``DistributedDataParallel(broadcast_buffers=…)``: whether buffers are sent around before each forward."""

from __future__ import annotations

from ..intervention.parallel import ddp_argument
from ..intervention.values import flag

NAME = "ddp.broadcast_buffers"
EQUIVALENCE = "semantic"
SUMMARY = "whether buffers are sent around before each forward"
EXAMPLE = "false"
UNDO = "take broadcast_buffers out again"

parse = flag
applies, install, snippet = ddp_argument("broadcast_buffers")

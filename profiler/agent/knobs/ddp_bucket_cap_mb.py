"""``DistributedDataParallel(bucket_cap_mb=…)``: size of the gradient buckets in MiB."""

from __future__ import annotations

from ..intervention.parallel import ddp_argument
from ..intervention.values import whole_number

NAME = "ddp.bucket_cap_mb"
EQUIVALENCE = "numerical"
SUMMARY = "size of the gradient buckets in MiB"
EXAMPLE = "50"
UNDO = "take bucket_cap_mb out again"


def parse(text: str) -> int:
    """A size in MiB."""
    return whole_number(text, least=1, most=8192)


applies, install, snippet = ddp_argument("bucket_cap_mb")

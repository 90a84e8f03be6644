"""``DistributedDataParallel(gradient_as_bucket_view=…)``: gradients live inside the buckets, which saves a copy."""

from __future__ import annotations

from ..intervention.parallel import ddp_argument
from ..intervention.values import flag

NAME = "ddp.gradient_as_bucket_view"
EQUIVALENCE = "exact"
SUMMARY = "gradients live inside the buckets, which saves a copy"
EXAMPLE = "true"
UNDO = "take gradient_as_bucket_view out again"

parse = flag
applies, install, snippet = ddp_argument("gradient_as_bucket_view")

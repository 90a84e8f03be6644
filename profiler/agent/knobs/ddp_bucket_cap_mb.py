"""``DistributedDataParallel(bucket_cap_mb=…)``: size of the gradient buckets in MiB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..intervention.parallel import set_on_ddp
from ..intervention.setup import needs_ranks
from ..intervention.values import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..intervention.site import Site

NAME = "ddp.bucket_cap_mb"
EQUIVALENCE = "numerical"
SUMMARY = "size of the gradient buckets in MiB"
EXAMPLE = "50"
UNDO = "take bucket_cap_mb out again"


def parse(text: str) -> int:
    """A size in MiB."""
    return whole_number(text, least=1, most=8192)


def applies(setup: Mapping[str, Any]) -> str | None:
    """Training in several processes."""
    return needs_ranks(setup)


def install(value: int, site: Site) -> None:
    """Change every DistributedDataParallel that is made."""
    set_on_ddp(site, "bucket_cap_mb", value)


def snippet(value: int) -> str:
    """How to write it in the script."""
    return f"DistributedDataParallel(..., bucket_cap_mb={value})"

"""What a trial can end with; apart from the statistics, so that reading a stored one costs no numerical library."""

from __future__ import annotations

from enum import Enum


class Verdict(str, Enum):
    """What a trial says."""

    BETTER = "better"
    WORSE = "worse"
    NO_EVIDENCE = "no evidence"
    NOT_APPLIED = "not applied"
    FAILED = "failed"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"

    def __str__(self) -> str:
        return str(self.value)

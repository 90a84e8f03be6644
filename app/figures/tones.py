"""The colours of verdicts and severities; a word always stands beside them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...profiler.vocabulary import Severity, Stage
from ..views.diagnosis import Tone
from .palette import BETTER, NEUTRAL, STAGE_COLORS, WORSE

CAUTION = STAGE_COLORS[Stage.DATA_WAIT]

TONE_COLORS: Mapping[Tone, str] = MappingProxyType(
    {Tone.PROBLEM: WORSE, Tone.CONCERN: CAUTION, Tone.HEALTHY: BETTER, Tone.UNKNOWN: NEUTRAL}
)

SEVERITY_COLORS: Mapping[str, str] = MappingProxyType(
    {str(Severity.HIGH): WORSE, str(Severity.MODERATE): CAUTION, str(Severity.NOTE): NEUTRAL}
)

"""The mean step by the clock of the GPU, for it tells what the host's clock cannot."""

from __future__ import annotations

from dataclasses import dataclass

from ...profiler.report import DeviceStageInfo, Report
from . import format as text
from .diagnosis import StageView, stage_view

#: From this share on, work between the stages is spoken of.
WORTH_SAYING = 0.005


@dataclass(frozen=True)
class DeviceStagesView:
    """The stages in the order of the vocabulary, and what they mean in a sentence or two."""

    stages: tuple[StageView, ...]
    caption: str


def device_stages_view(report: Report) -> DeviceStagesView | None:
    """The stages by the device's clock; None where it was not read."""
    found = report.device_stages
    if found is None:
        return None
    return DeviceStagesView(tuple(stage_view(stage) for stage in found.stages), caption(found))


def caption(found: DeviceStageInfo) -> str:
    """What is seen there, how far it differs from the host's clock, and what is no stage's."""
    sentences = [
        f"By the GPU's own clock, over {text.count(found.steps, 'timed step')}: what it worked for, and what it had to "
        "wait for."
    ]
    if found.lead_s is not None:
        sentences.append(
            f"At the end of a stage the host is {text.duration(found.lead_s)} ahead of it in the median."
        )
    if found.between_share >= WORTH_SAYING:
        sentences.append(
            f"A further {text.duration(found.between_s)} ({text.percent(found.between_share)}) is work handed over "
            "between the stages, such as the loss."
        )
    return " ".join(sentences)

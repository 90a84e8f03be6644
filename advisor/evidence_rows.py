"""Which published effects of a method are shown with a prescription: failures in a setting like this one come first."""

from __future__ import annotations

from collections.abc import Mapping

from ..catalog import Evidence, Method
from ..catalog.wording import gain_sentence
from ..profiler.report import Evidence as EvidenceRow

MAX_ROWS = 6
_DOMAIN_WORDS: Mapping[str, tuple[str, ...]] = {
    "vision": ("image", "detection", "segmentation", "vision", "video", "resnet", "face"),
    "nlp": ("lm ", "language", "text", "translation", "gpt", "bert", "llama", "lora"),
    "speech": ("speech", "speaker", "audio"),
    "recsys": ("recommend", "ctr", "click"),
    "tabular": ("tabular", "table"),
}


def evidence_rows(method: Method, setup: Mapping[str, object]) -> list[EvidenceRow]:
    """At most `MAX_ROWS` rows: negatives of a like setting, the rest by how like it is and by grade, a negative kept.

    Like means the same kind of device, where the row names hardware, and the same domain, where it names a task.
    """
    ordered = sorted(
        method.evidence, key=lambda row: (not (row.is_negative and likeness(row, setup) > 0), row.grade.value)
    )
    shown = ordered[:MAX_ROWS]
    left_out = [row for row in ordered[MAX_ROWS:] if row.is_negative]
    if left_out and not any(row.is_negative for row in shown):
        shown[-1] = left_out[0]
    return [_row(row) for row in shown]


def likeness(row: Evidence, setup: Mapping[str, object]) -> int:
    """How many of device and domain a row shares with a setup, less those in which it differs."""
    return _device_likeness(row, setup.get("device.kind")) + _domain_likeness(row, setup.get("task.domain"))


def _device_likeness(row: Evidence, device: object) -> int:
    if row.hardware is None or device is None:
        return 0
    on_cpu = "cpu" in row.hardware.lower()
    return 1 if on_cpu == (device == "cpu") else -1


def _domain_likeness(row: Evidence, domain: object) -> int:
    told = f"{row.task or ''} {row.model or ''} ".lower()
    of = [name for name, words in _DOMAIN_WORDS.items() if any(word in told for word in words)]
    if not of or not isinstance(domain, str) or domain not in _DOMAIN_WORDS:
        return 0
    return 1 if domain in of else -1


def _row(row: Evidence) -> EvidenceRow:
    return EvidenceRow(
        text=gain_sentence(row),
        gain=row.gain,
        gain_kind=str(row.gain_kind),
        grade=str(row.grade),
        task=row.task,
        hardware=row.hardware,
        source=row.source,
        negative=row.is_negative,
    )

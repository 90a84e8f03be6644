"""Everything on the diagnosis page that only some runs have, each made by its own view."""

from __future__ import annotations

from dataclasses import dataclass

from ...profiler.report import Report
from .advice import first_advice
from .compute import compute_line
from .crossings import CrossingsView, crossings_view
from .device import DeviceView, device_view
from .device_stages import DeviceStagesView, device_stages_view
from .estimate import EstimateView, estimate_view
from .loader import LoaderView, loader_view
from .memory import MemoryView, memory_view
from .memory_use import MemoryUseView, memory_use_view
from .native_code import NativeView, native_view
from .ranks import RankMatrix, rank_matrix
from .telemetry import TelemetryView, telemetry_view
from .what_ifs import WhatIfView, what_if_view


@dataclass(frozen=True)
class Details:
    """The parts of a diagnosis that a run may have or not; None is left out of the page."""

    first_advice: str | None
    device_stages: DeviceStagesView | None
    compute: str | None
    device: DeviceView | None
    crossings: CrossingsView | None
    estimate: EstimateView | None
    what_ifs: WhatIfView | None
    loader: LoaderView | None
    native: NativeView | None
    ranks: RankMatrix | None
    memory: MemoryView | None
    memory_use: MemoryUseView | None
    telemetry: TelemetryView | None


def details(report: Report) -> Details:
    """The parts that this report has."""
    return Details(
        first_advice=first_advice(report),
        device_stages=device_stages_view(report),
        compute=None if report.compute is None else compute_line(report.compute),
        device=device_view(report),
        crossings=crossings_view(report),
        estimate=estimate_view(report),
        what_ifs=what_if_view(report),
        loader=loader_view(report),
        native=native_view(report),
        ranks=rank_matrix(report),
        memory=memory_view(report),
        memory_use=memory_use_view(report),
        telemetry=telemetry_view(report),
    )

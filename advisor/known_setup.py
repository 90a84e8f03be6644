"""A run's setup in the words that the catalog asks in, with what follows from the rest of the report.

Only what follows surely is added; what stays unknown is asked of the user. Nothing that was told is overwritten.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..profiler.report import Report
from ..profiler.setup_facts import ranks_here

_KINDS_BY_VENDOR = {"NVIDIA": "cuda", "AMD": "rocm"}
#: Compute capabilities by name (NVIDIA, "CUDA GPU compute capability" table); the first that a device's name holds.
_CAPABILITIES = (
    ("GB200", "10.0"), ("B200", "10.0"), ("B100", "10.0"), ("RTX 50", "12.0"), ("GH200", "9.0"), ("H100", "9.0"),
    ("H200", "9.0"), ("H800", "9.0"), ("H20", "9.0"), ("L40", "8.9"), ("L4", "8.9"), ("RTX 40", "8.9"),
    ("RTX 6000 ADA", "8.9"), ("A100", "8.0"), ("A800", "8.0"), ("A30", "8.0"), ("A10", "8.6"), ("A40", "8.6"),
    ("A6000", "8.6"), ("RTX 30", "8.6"), ("T4", "7.5"), ("RTX 20", "7.5"), ("TITAN RTX", "7.5"), ("V100", "7.0"),
    ("TITAN V", "7.0"), ("P100", "6.0"), ("GTX 10", "6.1"),
)  # fmt: skip
#: Matrix time in one number format from which on the run is said to compute in it.
CLEAR_SHARE = 0.8


def known_setup(report: Report) -> dict[str, object]:
    """The report's setup with what follows from it."""
    known: dict[str, object] = dict(report.setup)
    for name, value in _derived(report):
        known.setdefault(name, value)
    return known


def _derived(report: Report) -> Iterator[tuple[str, object]]:
    setup = report.setup
    vendor = setup.get("vendor")
    if vendor in _KINDS_BY_VENDOR and report.device is not None:
        yield "device.kind", _KINDS_BY_VENDOR[vendor]
    capability = _capability(setup.get("device.name", setup.get("device")))
    if capability is not None:
        yield "device.capability", capability
    nodes = _nodes(setup.get("world_size"), setup.get("local_world_size"))
    if nodes is not None:
        yield "nodes", nodes
    if setup.get("loader") == "single-process":
        yield "loader.num_workers", 0
    precision = _precision(report)
    if precision is not None:
        yield "precision", precision
    headroom = _headroom(report)
    if headroom is not None:
        yield "memory.headroom", headroom


def _nodes(world: object, local: object) -> int | None:
    """Machines of a run with as many ranks on each; a run of one rank has one."""
    if world == 1:
        return 1
    if not isinstance(world, int) or not isinstance(local, int) or local < 1 or world % local:
        return None
    return world // local


def _capability(name: object) -> str | None:
    if not isinstance(name, str):
        return None
    upper = name.upper()
    return next((capability for mark, capability in _CAPABILITIES if mark in upper), None)


def _precision(report: Report) -> str | None:
    shares = report.matrix_use.precision_shares if report.matrix_use is not None else {}
    return next(
        (name for name in ("fp32", "tf32", "bf16", "fp16", "fp8") if shares.get(name, 0.0) >= CLEAR_SHARE),
        None,
    )


def _headroom(report: Report) -> float | None:
    """Share of the device's memory that is free at the peak, by its allocator, else as the driver saw it."""
    memory, total = report.memory, report.setup.get("device.memory_bytes")
    if memory is not None and not memory.relative and isinstance(total, int | float) and total > 0:
        return _free(memory.peak_reserved_bytes or memory.peak_allocated_bytes, total)
    seen = report.telemetry.devices if report.telemetry is not None else []
    shares = [
        _free(device.memory_peak_bytes, device.memory_total_bytes)
        for device in seen
        if device.is_matched and device.memory_peak_bytes is not None and device.memory_total_bytes
    ]
    return min(shares, default=_of_memory_use(report))


def _of_memory_use(report: Report) -> float | None:
    """By what the recorder read of the memory that the model lies in; ranks of a CPU share the machine's."""
    use, on_cpu = report.memory_use, report.setup.get("device.kind") == "cpu"
    if use is None or not use.limit_bytes or use.on_device is on_cpu:
        return None
    if use.on_device:
        return _free((use.reserved_peak_bytes or use.peak_bytes) + (use.outside_bytes or 0), use.limit_bytes)
    return _free(use.peak_bytes * ranks_here(report.setup), use.limit_bytes)


def _free(peak: float, total: float) -> float:
    return min(max(1.0 - peak / total, 0.0), 1.0)

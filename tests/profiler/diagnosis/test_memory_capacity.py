"""Growing memory is told from a cache that fills, and a full machine from a free one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainrx.profiler.diagnosis import diagnose, memory_capacity
from trainrx.profiler.diagnosis.memory import KEPT, STEPS_LEFT
from trainrx.profiler.report import Finding, HostTelemetry, MemoryPart, MemoryUse, Telemetry
from trainrx.profiler.timeline.memory_use import ACTIVATIONS, REST, DeviceMemory
from trainrx.profiler.timeline.process_memory import ProcessMemory
from trainrx.profiler.timeline.worker_memory import WorkerMemory
from trainrx.profiler.vocabulary import Kind, Severity, Stage

MODEL = {Stage.FORWARD: 10.0, Stage.BACKWARD: 20.0}
MEGA = 2**20
STEADY = ProcessMemory(
    peak_bytes=400 * MEGA, growth_bytes_per_step=0.0, rising_share=0.1, limit_bytes=8000 * MEGA, steps=40
)
GROWING = replace(STEADY, growth_bytes_per_step=2.0 * MEGA, rising_share=0.9)


def test_growth_is_told_with_the_step_at_which_memory_ends(observe) -> None:
    found = memory_capacity.find(observe(MODEL, memory=GROWING))
    assert found is not None and found.cause == "growing-memory" and found.severity is Severity.HIGH
    assert "3,800 steps" in found.summary
    assert (found.share, found.ms_per_step) == (0.0, 0.0)


def test_what_costs_time_comes_first(observe) -> None:
    findings = diagnose(observe({**MODEL, Stage.DATA_WAIT: 30.0}, memory=GROWING))
    assert [finding.kind for finding in findings][:2] == [Kind.DATA_LOADING, Kind.MEMORY_CAPACITY]


@pytest.mark.parametrize(
    "memory",
    [
        None,
        STEADY,
        replace(GROWING, rising_share=0.3),  # a jump and a plateau
        replace(GROWING, growth_bytes_per_step=1000.0),  # too little to matter
        replace(GROWING, peak_bytes=100_000 * MEGA, limit_bytes=None),  # little against what is used
    ],
)
def test_steady_memory_is_no_finding(observe, memory: ProcessMemory | None) -> None:
    assert memory_capacity.find(observe(MODEL, memory=memory)) is None


@pytest.mark.parametrize(("peak", "severity"), [(0.93, Severity.MODERATE), (0.98, Severity.HIGH)])
def test_a_nearly_full_machine(observe, peak: float, severity: Severity) -> None:
    found = memory_capacity.find(observe(MODEL, memory=replace(STEADY, peak_bytes=int(peak * 8000 * MEGA))))
    assert found is not None and (found.cause, found.severity) == ("near-limit", severity)


def test_an_unknown_limit_gives_no_forecast(observe) -> None:
    found = memory_capacity.find(observe(MODEL, memory=replace(GROWING, limit_bytes=None)))
    assert found is not None and found.severity is Severity.MODERATE and "limit" not in found.summary


def on_gpu(peak: int, reserved: int, *, total: int = 10_000, **more: int) -> DeviceMemory:
    growth = replace(STEADY, peak_bytes=peak * MEGA, limit_bytes=total * MEGA)
    counts = {"inactive_split_bytes": 0, "retries": 0, "out_of_memory": 0, "outside_bytes": 0, **more}
    return DeviceMemory(growth=growth, reserved_peak_bytes=reserved * MEGA, **counts)


def use_of(device: DeviceMemory, state: int) -> MemoryUse:
    """A use of which parameters and gradients are a tenth each."""
    peak = device.allocated_peak_bytes
    sizes = {"parameters": peak // 10, "gradients": peak // 10, "optimizer state": state * MEGA}
    parts = [MemoryPart(name=name, bytes=size) for name, size in sizes.items()]
    rest = MemoryPart(name=ACTIVATIONS, bytes=peak - sum(sizes.values()), basis="derived")
    return MemoryUse(on_device=True, peak_bytes=peak, parts=[*parts, rest], largest_batch=40)


@pytest.mark.parametrize(
    ("device", "state", "cause", "severity"),
    [
        (on_gpu(9000, 9300), 900, "activation-memory", Severity.MODERATE),
        (on_gpu(9000, 9800), 900, "activation-memory", Severity.HIGH),
        (on_gpu(9000, 9300), 4500, "optimizer-state", Severity.MODERATE),
        (on_gpu(7000, 9300), 900, "fragmentation", Severity.MODERATE),
        (on_gpu(5000, 5200, retries=3), 900, "activation-memory", Severity.HIGH),
        (on_gpu(5000, 8000, out_of_memory=1), 900, "fragmentation", Severity.HIGH),
    ],
)
def test_a_gpu_that_is_nearly_full_is_told_by_what_fills_it(
    observe, device: DeviceMemory, state: int, cause: str, severity: Severity
) -> None:
    found = memory_capacity.find(
        observe(MODEL, memory=STEADY, device_memory=device, memory_use=use_of(device, state))
    )
    assert found is not None and (found.cause, found.severity) == (cause, severity)
    assert found.summary.startswith("The GPU's memory") and found.share == 0.0
    facts = {fact.name: fact.value for fact in found.evidence}
    assert facts["optimizer state"] == state * MEGA and facts["largest batch predicted to fit"] == 40


def test_a_gpu_with_room_is_no_finding(observe) -> None:
    assert memory_capacity.find(observe(MODEL, memory=STEADY, device_memory=on_gpu(5000, 8000))) is None


def test_growth_on_the_gpu_comes_before_a_full_one(observe) -> None:
    device = on_gpu(9000, 9800)
    device = replace(
        device, growth=replace(device.growth, growth_bytes_per_step=20.0 * MEGA, rising_share=0.9)
    )
    found = memory_capacity.find(observe(MODEL, memory=GROWING, device_memory=device))
    assert found is not None and found.cause == "growing-memory"
    assert "The GPU's memory grows by 20.0 MB" in found.summary and "about 50 steps" in found.summary
    assert forecast_of(found) == pytest.approx(50)


def machine(**host: int) -> Telemetry:
    return Telemetry(samples=20, interval_s=0.2, host=HostTelemetry(**host))


def test_a_forecast_heeds_what_the_machine_has_left_and_tells_the_time(observe) -> None:
    # GIVEN growth of 2 MB a step of 30 ms, far from the process's limit, on a machine with 400 MB free
    found = memory_capacity.find(
        observe(MODEL, memory=GROWING, telemetry=machine(available_bytes=400 * MEGA))
    )
    assert found is not None and "200 steps (6 seconds)" in found.summary
    assert forecast_of(found) == pytest.approx(200)
    # AND with much free the process's own limit counts
    found = memory_capacity.find(
        observe(MODEL, memory=GROWING, telemetry=machine(available_bytes=90_000 * MEGA))
    )
    assert found is not None and "3,800 steps (2 minutes)" in found.summary
    assert forecast_of(found) == pytest.approx(3800)


def forecast_of(found: Finding) -> object:
    return next((fact.value for fact in found.evidence if fact.name == STEPS_LEFT), None)


@pytest.mark.parametrize(
    ("memory", "setup", "cause", "forecast"),
    [
        (GROWING, {}, "growing-memory", 3800),
        (GROWING, {"python.gc_enabled": False}, "gc-disabled", 3800),
        (replace(GROWING, peak_in_evaluation=True), {}, "eval-without-no-grad", 3800),
        (replace(GROWING, limit_bytes=None), {}, "growing-memory", None),
        (replace(STEADY, peak_bytes=7500 * MEGA, peak_in_evaluation=True), {}, "eval-without-no-grad", None),
    ],
)
def test_every_growth_is_forecast_and_nothing_that_is_merely_full(
    observe, memory: ProcessMemory, setup: dict[str, object], cause: str, forecast: float | None
) -> None:
    found = memory_capacity.find(observe(MODEL, setup=setup, memory=memory, evaluation_gradient_share=1.0))
    assert found is not None and found.cause == cause
    assert forecast_of(found) == (forecast if forecast is None else pytest.approx(forecast))


@pytest.mark.parametrize(
    ("setup", "uncollected", "cause"),
    [
        ({"python.gc_enabled": False}, 900.0, "gc-disabled"),
        ({"python.gc_enabled": False}, None, "gc-disabled"),
        ({"python.gc_enabled": False}, 0.0, "growing-memory"),  # nothing piles up for the collector
        ({"python.gc_enabled": True}, 900.0, "growing-memory"),
        ({}, None, "growing-memory"),
    ],
)
def test_growth_without_a_collector_is_blamed_on_it(observe, setup, uncollected, cause) -> None:
    memory = replace(GROWING, uncollected_per_step=uncollected)
    found = memory_capacity.find(observe(MODEL, setup=setup, memory=memory))
    assert found is not None and found.cause == cause


@pytest.mark.parametrize("memory", [GROWING, replace(STEADY, peak_bytes=7500 * MEGA)])
def test_a_peak_in_evaluation_with_gradients_is_blamed_on_them(observe, memory: ProcessMemory) -> None:
    inside = replace(memory, peak_in_evaluation=True)
    found = memory_capacity.find(observe(MODEL, memory=inside, evaluation_gradient_share=1.0))
    assert found is not None and found.cause == "eval-without-no-grad"
    without = memory_capacity.find(observe(MODEL, memory=inside, evaluation_gradient_share=0.0))
    assert without is not None and without.cause != "eval-without-no-grad"


COPYING = WorkerMemory(
    workers=4,
    resident_bytes=800 * MEGA,
    copied_bytes=1200 * MEGA,
    late_bytes=500 * MEGA,
    shared_bytes=1600 * MEGA,
)


def test_workers_that_copy_what_they_share(observe) -> None:
    found = memory_capacity.find(observe(MODEL, memory=STEADY, worker_memory=COPYING))
    assert found is not None and found.cause == "copy-on-write-python-objects"
    assert found.severity is Severity.MODERATE and "1.2 GB" in found.summary
    # WHEN what can follow does not fit THEN it is high
    full = memory_capacity.find(
        observe(MODEL, worker_memory=COPYING, telemetry=machine(available_bytes=900 * MEGA))
    )
    assert full is not None and full.severity is Severity.HIGH and "900.0 MB are free" in full.summary


@pytest.mark.parametrize(
    "memory",
    [
        None,
        replace(COPYING, copied_bytes=40 * MEGA, late_bytes=20 * MEGA),  # too little to matter
        replace(COPYING, copied_bytes=200 * MEGA, late_bytes=100 * MEGA),  # little of what they have
        replace(COPYING, late_bytes=100 * MEGA),  # copied at the start, then no more
    ],
)
def test_what_a_worker_copies_while_it_starts_is_no_finding(observe, memory: WorkerMemory | None) -> None:
    assert memory_capacity.find(observe(MODEL, memory=STEADY, worker_memory=memory)) is None


@pytest.mark.parametrize(
    ("used", "workers", "severity"),
    [(63, 4, Severity.HIGH), (60, 4, Severity.MODERATE), (20, 4, None), (63, 0, None)],
)
def test_a_full_shared_memory(observe, used: int, workers: int, severity: Severity | None) -> None:
    setup = {"memory.shared_bytes": 64 * MEGA, "loader.num_workers": workers}
    found = memory_capacity.find(observe(MODEL, setup=setup, telemetry=machine(shared_bytes=used * MEGA)))
    assert (None if found is None else (found.cause, found.severity)) == (
        None if severity is None else ("shm-limit", severity)
    )


@pytest.mark.parametrize(
    ("lowest", "parameters", "kept"),
    [
        (7500, 20, 7480),
        (7500, 7000, None),  # the model itself
        (900, 20, None),  # what a step makes
        (None, 20, None),  # not told apart
    ],
)
def test_data_that_the_script_keeps_is_told_from_what_a_step_makes(
    observe, lowest: int | None, parameters: int, kept: int | None
) -> None:
    # GIVEN a process near its limit
    lowest_bytes = None if lowest is None else lowest * MEGA
    memory = replace(STEADY, peak_bytes=7600 * MEGA, lowest_bytes=lowest_bytes)
    counted = MemoryPart(name="parameters", bytes=parameters * MEGA)
    rest = MemoryPart(name=REST, bytes=(7600 - parameters) * MEGA, basis="derived")
    use = MemoryUse(on_device=False, peak_bytes=memory.peak_bytes, parts=[counted, rest])
    # WHEN it is judged THEN what is in use at all times, less the model, is evidence
    found = memory_capacity.find(observe(MODEL, memory=memory, memory_use=use))
    assert found is not None and found.cause == "near-limit"
    told = [fact.value for fact in found.evidence if fact.name == KEPT]
    assert told == ([] if kept is None else [kept * MEGA])
    assert ("in use at all times" in found.summary) is (kept is not None)


@pytest.mark.parametrize(
    ("kept", "cause"), [(1.0, "loss-graph-kept"), (0.1, "growing-memory"), (None, "growing-memory")]
)
def test_losses_that_are_kept_with_their_graph_are_told_from_other_growth(
    observe, kept: float | None, cause: str
) -> None:
    # GIVEN a memory that grows, of the process or of a GPU
    growing = replace(GROWING, kept_graphs_share=kept)
    device = replace(
        on_gpu(4000, 4200), growth=replace(growing, peak_bytes=4000 * MEGA, growth_bytes_per_step=20.0 * MEGA)
    )
    for seen in (observe(MODEL, memory=growing), observe(MODEL, memory=GROWING, device_memory=device)):
        # WHEN it is judged THEN graphs that live on are the cause, and evidence
        found = memory_capacity.find(seen)
        assert found is not None and found.cause == cause
        assert any("whose graph is kept" in fact.name for fact in found.evidence) is (
            cause == "loss-graph-kept"
        )


@pytest.mark.parametrize(
    ("in_evaluation", "gradients", "cause"),
    [(True, 1.0, "eval-without-no-grad"), (True, 0.0, "near-limit"), (False, 1.0, "near-limit")],
)
def test_a_gpu_that_is_fullest_in_an_evaluation_with_gradients(
    observe, in_evaluation: bool, gradients: float, cause: str
) -> None:
    device = on_gpu(9600, 9800)
    device = replace(device, growth=replace(device.growth, peak_in_evaluation=in_evaluation))
    found = memory_capacity.find(
        observe(MODEL, memory=STEADY, device_memory=device, evaluation_gradient_share=gradients)
    )
    assert found is not None and found.cause == cause
    assert ("evaluation keeps gradients" in found.summary) is (cause == "eval-without-no-grad")

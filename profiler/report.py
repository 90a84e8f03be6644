"""The report of a run: the schema of ``report.json``.

Others rely on its keys: keys are added, never renamed. Seconds are ``_s``, shares lie in [0, 1], bytes are
``_bytes``. What was not measured is ``None`` beside a reason, never 0.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .errors import InputError
from .vocabulary import (
    Activity,
    Call,
    ClockBasis,
    Confidence,
    Ending,
    Family,
    IdleCause,
    Kind,
    RunStatus,
    Severity,
    Stage,
)

SCHEMA_VERSION = 1


class Part(BaseModel):
    """Base of all parts of a report: immutable; unknown keys of later minor additions are kept out."""

    model_config = ConfigDict(frozen=True, extra="ignore", use_enum_values=False, ser_json_inf_nan="null")


class RunInfo(Part):
    """Which run this is and how it ended."""

    id: str
    command: list[str]
    status: RunStatus
    exit_code: int | None = None
    started: str | None = Field(default=None, description="ISO 8601, UTC")
    steps_recorded: int = 0
    steps_warmup: int = 0
    source: str = Field(
        default="recorder", description="recorder, the format of the imported trace, or sample"
    )


class StepTime(Part):
    """Step wall time over the measured steps, in seconds."""

    p50_s: float
    p95_s: float
    mean_s: float
    n: int
    p10_s: float | None = None


class StageShare(Part):
    """Exclusive wall time of one stage per step, and its share of the step.

    ``rest_undisturbed_s`` and ``rest_quick_s`` are the first quartile and the first decile, over the timed steps, of
    what a step takes beside this stage; None where single steps are not known.
    """

    name: Stage
    seconds_per_step: float = Field(ge=0)
    share: float = Field(ge=0, le=1.001)
    rest_undisturbed_s: float | None = Field(default=None, ge=0)
    rest_quick_s: float | None = Field(default=None, ge=0)


class DeviceStageInfo(Part):
    """The mean timed step by the clock of the GPU, every instant once: shares and ``between_share`` sum to 1.

    A stage is time in which the device worked for it; a stage without device work, such as the data wait, is time in
    which the device had to wait for the host to be done with it.
    """

    steps: int = Field(description="timed steps that were measured")
    stages: list[StageShare]
    between_s: float = Field(description="seconds per step of device work handed over between the stages")
    between_share: float
    waits_s: float = Field(
        default=0.0, description="of all, seconds per step in which it waited for the host"
    )
    lead_s: float | None = Field(
        default=None,
        description="how far the host was ahead of the device at the end of a stage, in the median",
    )


class Where(Part):
    """A place a finding points at; every field that is known is set."""

    file: str | None = None
    line: int | None = None
    function: str | None = None
    rank: int | None = None
    worker: int | None = None
    kernel: str | None = None
    transform: str | None = None

    def __str__(self) -> str:
        parts: list[str] = []
        if self.file is not None:
            parts.append(self.file if self.line is None else f"{self.file}:{self.line}")
        if self.function is not None:
            parts.append(f"in {self.function}")
        for name in ("rank", "worker", "kernel", "transform"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name} {value}")
        return " ".join(parts)


class Fact(Part):
    """One number or setting that a finding rests on.

    ``basis`` says whether it was measured, derived from measured numbers, or read from the setup.
    """

    name: str
    value: float | int | str | bool
    unit: str = ""
    basis: str = Field(default="measured", pattern="^(measured|derived|setup)$")


class Finding(Part):
    """A bottleneck of this run, with the numbers it rests on."""

    kind: Kind
    family: Family
    cause: str | None
    share: float = Field(description="exposed share of the step, 0 to 1")
    ms_per_step: float | None = Field(description="None where only shares are known")
    severity: Severity
    confidence: Confidence
    where: list[Where] = []
    evidence: list[Fact] = []
    summary: str = Field(description="one sentence in plain words")


class HostLine(Part):
    """A line of Python that the training thread was seen in, by sampling."""

    file: str
    line: int
    function: str
    stage: Stage
    seconds_per_step: float
    share: float
    samples: int
    user_code: bool = True
    activity: Activity | None = Field(
        default=None, description="what the line did beside training, if it is known"
    )


class NativeFunction(Part):
    """A native function innermost in sampled stacks; its share is of the samples of its line."""

    name: str
    library: str = Field(description="the file it lies in; empty where the interpreter itself was innermost")
    share: float


class NativeLine(Part):
    """A line of Python and the native functions below it; its share is of the samples of its sort of process."""

    file: str
    line: int
    function: str
    in_child: bool = Field(
        description="whether a child of the training process was in it, such as a loader worker"
    )
    share: float
    samples: int
    functions: list[NativeFunction]


class NativeStacks(Part):
    """Stacks with native code, sampled from beside by py-spy since the first step, which pauses what it samples."""

    rate_hz: int
    samples: int = Field(description="that were in code of the run, of all processes")
    children: int
    lines: list[NativeLine]


class Crossing(Part):
    """A line that copies between host and device or waits for the device, in the mean timed step.

    Calls and bytes were counted in one step, None where it was not; seconds are the host's, from samples, None where
    there are too few.
    """

    call: Call
    file: str
    line: int
    function: str
    user_code: bool = True
    calls_per_step: int | None = None
    bytes_per_step: int | None = None
    pinned: bool | None = Field(default=None, description="copied from page-locked memory")
    non_blocking: bool | None = None
    seconds_per_step: float | None = None
    samples: int = 0


class DeviceShares(Part):
    """Every instant of the device once, as shares of the window: they sum to 1."""

    busy_share: float
    compute_share: float
    exposed_communication_share: float
    exposed_copy_share: float
    idle_share: float
    idle_causes: dict[IdleCause, float] = {}


class KernelClass(Part):
    """Device time of one class of kernels over the window."""

    name: str
    seconds: float
    count: int
    mean_us: float
    share: float = Field(description="share of all kernel time, 0 to 1")


class DeviceStep(Part):
    """The device view of one step."""

    number: int
    seconds: float
    device: DeviceShares
    rank: int = 0


class LaunchQueueInfo(Part):
    """How far the host ran ahead of the device: delay from launch to start, and mean queued kernels."""

    delay_median_us: float
    delay_p90_us: float
    mean_depth: float
    linked: int = Field(description="device rows whose launch is known")


class MatrixUse(Part):
    """Matmul, convolution and attention time on tensor or matrix cores, and by precision, as far as names
    tell.
    """

    matrix_unit_share: float | None = None
    precision_shares: dict[str, float] = {}


class MemoryCurveInfo(Part):
    """Device memory over time; peaks are exact, points are thinned. ``relative`` curves start at an unknown
    level.
    """

    peak_allocated_bytes: int
    peak_reserved_bytes: int | None = None
    relative: bool = False
    source: str = ""
    time_s: list[float] = []
    allocated_bytes: list[int] = []


class MemoryPart(Part):
    """A use of memory; ``basis`` says whether it was counted or is what remains of the peak."""

    name: str
    bytes: int
    basis: str = Field(default="measured", pattern="^(measured|derived)$")


class MemoryUse(Part):
    """What fills the memory at its peak: of the GPU, by PyTorch's allocator, or of the training process on a CPU.

    ``parts`` sum to the peak; empty where nothing was counted. What only a GPU has is None on a CPU.
    """

    on_device: bool
    peak_bytes: int
    limit_bytes: int | None = None
    parts: list[MemoryPart] = []
    reserved_peak_bytes: int | None = None
    inactive_split_bytes: int | None = Field(
        default=None, description="at most, free in blocks of which a part is in use: fragmentation"
    )
    outside_bytes: int | None = Field(default=None, description="used on the GPU beside PyTorch's allocator")
    retries: int | None = Field(
        default=None, description="times in the timed steps that the allocator gave all back and asked again"
    )
    out_of_memory: int | None = None
    growth_bytes_per_step: float | None = None
    steps_left: float | None = Field(
        default=None, description="predicted steps until the limit, at this growth"
    )
    largest_batch: int | None = Field(
        default=None, description="predicted to fit, if activations grow with it"
    )
    largest_batch_reason: str | None = None


class CollectiveSkew(Part):
    """Collectives matched across ranks: wire time against waiting for the last rank."""

    matched: int
    unmatched: int
    skew_mean_s: float
    skew_max_s: float
    late_rank: int | None = None


class CollectiveUse(Part):
    """What the training thread exchanges with other ranks in a step, in collectives of one kind."""

    operation: str
    calls_per_step: float
    bytes_per_step: float | None = Field(
        default=None,
        description="what is moved, counted once: an all-gather's output, a reduce-scatter's input",
    )
    wait_s_per_step: float = Field(
        description="wall time of the training thread in it, waiting for others too"
    )


class RankWait(Part):
    """What one rank did in the matched collectives; shares are of its window."""

    waiting_s: float
    waiting_share: float
    wire_s: float
    wire_share: float
    times_last: int
    delay_caused_s: float


class ClockInfo(Part):
    """How far a rank's clock is ahead of the first rank's, in the middle of the run."""

    offset_s: float
    uncertainty_s: float | None = Field(
        default=None, description="the true offset lies within so much of it; None if not known"
    )
    drift_ppm: float | None = Field(
        default=None, description="µs gained per second; None where none was told"
    )
    basis: ClockBasis
    collectives: int = Field(default=0, description="collectives that the offset rests on")


class RankEnding(Part):
    """How a rank's recording ended; moments count from the start of recording."""

    how: Ending
    at_s: float
    signal: str | None = None
    error: str | None = None
    where: Where | None = Field(default=None, description="the line it was last seen in")
    waiting_since_s: float | None = Field(
        default=None, description="since when it waited in a collective, where it did to the end"
    )


class RankInfo(Part):
    """One training process of the run."""

    rank: int
    pid: int | None = None
    steps: int = 0
    step_time: StepTime | None = None
    stages: list[StageShare] = []
    device: DeviceShares | None = None
    last_share: float | None = Field(
        default=None, description="share of steps in which the others waited for it"
    )
    note: str | None = None
    source: str | None = None
    window_s: float | None = None
    collectives: RankWait | None = None
    clock: ClockInfo | None = None
    ended: RankEnding | None = None


class WorkerReport(Part):
    """One loader worker; ``worker`` is None for a training process that loads by itself."""

    worker: int | None
    batches: int
    busy_share: float = Field(description="share of the timed span in which it was making a batch")
    batch_s: float


class TransformReport(Part):
    """One transform of the data set's pipeline; seconds per call."""

    name: str
    file: str | None = None
    line: int | None = None
    calls: int
    wall_s: float
    cpu_s: float


class LoaderLine(Part):
    """A line of Python that loading was seen in; ``share`` is of all samples taken while a batch was made."""

    file: str
    line: int
    function: str
    share: float
    samples: int


class PinningReport(Part):
    """Copying batches to page-locked memory, in a thread of its own or, without workers, in the training thread.

    Seconds are means over the batches.
    """

    batches: int
    wall_s: float
    cpu_s: float
    wait_share: float = Field(
        ge=0, le=1, description="share of the wait for data during which a batch was being pinned"
    )


class LoaderReport(Part):
    """How the training loader makes its batches; seconds are means, None is not known."""

    num_workers: int
    batches: int
    samples_per_batch: float
    sample_wall_s: float
    sample_cpu_s: float
    collate_wall_s: float
    collate_cpu_s: float
    cpu_share: float = Field(description="CPU seconds per wall second while making a batch, 0 to 1")
    core_wait_share: float | None = Field(
        default=None, description="share of batch time spent waiting for a core"
    )
    bytes_per_sample: float | None = None
    start_s: float | None = Field(
        default=None,
        description="what an epoch's turn costs the training thread: ending workers, starting them, the first batch",
    )
    starts: int = Field(default=0, description="how often workers were started within the timed steps")
    empty_share: float | None = Field(default=None, description="share of fetches that found no batch ready")
    worker_threads: int | None = Field(default=None, description="most intra-op threads of any worker")
    pinning: PinningReport | None = None
    workers: list[WorkerReport] = []
    transforms: list[TransformReport] = []
    lines: list[LoaderLine] = []

    @property
    def batch_wall_s(self) -> float:
        """Mean wall seconds of making one batch in one process."""
        return self.sample_wall_s * self.samples_per_batch + self.collate_wall_s

    @property
    def batch_cpu_s(self) -> float:
        """Mean CPU seconds of making one batch."""
        return self.sample_cpu_s * self.samples_per_batch + self.collate_cpu_s


class EstimatedShare(Part):
    """A stage's share of the time looked at, estimated from samples, with its 95 % interval."""

    name: Stage
    share: float = Field(ge=0, le=1)
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)
    samples: int


class EstimatedLine(Part):
    """A line of Python that the training thread was seen in; ``share`` is of all its samples."""

    file: str
    line: int
    function: str
    stage: Stage
    share: float
    samples: int
    user_code: bool = True


class EstimatedWorker(Part):
    """A loader worker seen from outside; ``cpu_share`` is CPU seconds per second, None if not known."""

    pid: int
    samples: int
    busy_share: float = Field(description="share of samples in which it was making a batch")
    cpu_share: float | None = None


class Estimate(Part):
    """What sampled stacks of a process tell, where steps were not seen: shares that sum to 1, never milliseconds."""

    method: str
    seconds: float
    samples: int
    stages: list[EstimatedShare]
    lines: list[EstimatedLine] = []
    workers: list[EstimatedWorker] = []


class Minute(Part):
    """A stretch of a long run of which only a summary was kept; ``start_s`` counts from the first step."""

    start_s: float
    seconds: float
    steps: int
    mean_s: float
    shortest_s: float
    longest_s: float


class Compute(Part):
    """How much the model computes, and how close that comes to what the machine can; what is not known has a reason."""

    flops_per_step: float | None = Field(
        default=None, description="floating-point operations of a step, recomputed ones too"
    )
    achieved_flops: float | None = Field(default=None, description="operations per second of the median step")
    ceiling_flops: float | None = Field(
        default=None, description="best rate of matrix products measured here"
    )
    ceiling: str | None = Field(default=None, description="what the ceiling was measured with")
    mfu: float | None = Field(default=None, description="achieved over ceiling: model FLOPs utilisation")
    reason: str | None = None


class Series(Part):
    """One quantity over time, thinned: means of equal stretches; None where a stretch has no sample."""

    name: str
    unit: str
    values: list[float | None]


class HostTelemetry(Part):
    """The host over the timed steps; rates are means, levels are peaks. None is not told by this system."""

    cores: int | None = Field(default=None, description="usable cores of the training process")
    cores_busy: float | None = Field(default=None, description="cores' worth of work on the whole machine")
    tree_cores_busy: float | None = Field(default=None, description="of that, the run's own processes")
    load: float | None = None
    rss_bytes: int | None = None
    shared_bytes: int | None = None
    swap_bytes: int | None = None
    available_bytes: int | None = Field(default=None, description="the least that was free for programs")
    read_bytes_s: float | None = None
    written_bytes_s: float | None = None
    clock_share: float | None = Field(default=None, description="mean clock over the most the cores can")
    thermal_events: int | None = Field(default=None, description="times a core was slowed for heat")
    quota_throttled_share: float | None = Field(
        default=None, description="share of scheduling periods in which the container's CPU quota was used up"
    )
    quota_lost_share: float | None = Field(
        default=None, description="share of the usable cores' time that the quota took away"
    )


class DeviceTelemetry(Part):
    """One device over the timed steps; None is not told by this device."""

    index: int
    name: str | None = None
    is_matched: bool = Field(default=True, description="a process of the run was seen on it")
    samples: int
    busy: float | None = Field(default=None, description="share of time with a kernel running, by NVML")
    sm_active: float | None = Field(default=None, description="mean share of its multiprocessors with work")
    sm_occupancy: float | None = Field(default=None, description="warps in flight over the most there can be")
    tensor_active: float | None = Field(default=None, description="share of time its tensor cores computed")
    dram_active: float | None = Field(default=None, description="share of its memory bandwidth that was used")
    memory_peak_bytes: int | None = None
    memory_total_bytes: int | None = None
    clock_mhz: float | None = None
    clock_max_mhz: float | None = None
    clock_free_mhz: float | None = Field(
        default=None, description="median clock while busy and not held down; None if it always was"
    )
    reason_shares: dict[str, float] = Field(default={}, description="share of busy samples, by reason")
    clock_held_mhz: float | None = Field(default=None, description="median clock while busy and held down")
    held_share: float | None = Field(
        default=None, description="share of busy samples with the clock held down"
    )
    power_w: float | None = None
    power_limit_w: float | None = None
    energy_j: float | None = None
    temperature_c: float | None = None
    pcie_received_bytes_s: float | None = None
    pcie_sent_bytes_s: float | None = None


class Telemetry(Part):
    """What the machine did during the timed steps, and over the whole run as thinned series."""

    samples: int
    interval_s: float = Field(description="median time between samples")
    cost_share: float | None = Field(default=None, description="share of one core that sampling took")
    host: HostTelemetry | None = None
    host_reason: str | None = None
    devices: list[DeviceTelemetry] = []
    devices_reason: str | None = None
    series_s: float = Field(default=0.0, description="length of a stretch of the series")
    series: list[Series] = []


class DeepWindowCost(Part):
    """What the deep window, a few steps under ``torch.profiler``, cost the run; none of it is in the timing."""

    steps: int
    mean_step_s: float = Field(description="mean wall time of a step in the window")
    timed_step_s: float = Field(
        description="mean wall time of a timed step, in which the profiler does not run"
    )
    opening_s: float = Field(description="time that starting the profiler took, between two steps")
    closing_s: float = Field(
        description="time that stopping it and writing its trace took, between two steps"
    )


class RecorderCost(Part):
    """What the recorder itself cost, measured in the run, and what it could not see."""

    overhead_share: float | None = Field(default=None, description="share of step wall time; None if unknown")
    overhead_us_per_step: float | None = None
    deep_window: DeepWindowCost | None = Field(
        default=None, description="what the deep window cost; None without one"
    )
    deep_window_reason: str | None = Field(default=None, description="why there is no cost of a deep window")
    notes: list[str] = []


class Prediction(Part):
    """Predicted speed-up (old step time over new, above 1 is faster); ``bound`` removes all exposed time."""

    low: float
    mid: float
    high: float
    bound: float


class Evidence(Part):
    """A published or measured effect of a method, as a sentence that names task, hardware, source and grade."""

    text: str
    gain: float | None = None
    gain_kind: str
    grade: str
    task: str | None = None
    hardware: str | None = None
    source: str
    negative: bool = False


class RuledOut(Part):
    """A method that relieves a finding but was not proposed, and why."""

    method: str
    title: str
    finding: Kind
    reason: str


class CellAdvice(Part):
    """A cell of the first taxonomy for a finding: to look into, or to avoid."""

    finding: Kind
    component: str
    subcomponent: str
    action: str | None
    methods: list[str] = []
    avoid: bool = False
    reason: str
    methods_left: int = Field(default=0, description="methods of the cell beyond those that are named")


class CellsLeft(Part):
    """Cells for a finding beyond those that are given: of one component, or all that are to be avoided."""

    finding: Kind
    component: str | None = Field(description="None for cells to avoid")
    cells: int


class Prescription(Part):
    """A method (or knob) put to a finding of this run."""

    method: str
    knob: str | None
    finding: Kind
    equivalence: str
    predicted_speedup: Prediction | None
    basis: str
    risk: str
    how: str
    verify: str
    evidence: list[Evidence] = []
    asks: list[str] = Field(default=[], description="needs that the run did not tell of")
    title: str = ""
    effort: str = ""
    next_bottleneck: str | None = None


class WhatIf(Part):
    """What a step would take with one thing changed, predicted by replaying the trace; seconds per step."""

    change: str
    measured_step_s: float
    predicted_step_s: float
    bound_step_s: float = Field(description="the step without all exposed time of what is changed")
    unexplained_share: float = Field(
        description="what the unchanged replay did not reproduce of the measured step"
    )


class Speedup(Part):
    """Measured speed-up: median of pair ratios with a bootstrap interval."""

    median: float
    low: float
    high: float


class Trial(Part):
    """A measured comparison of the script with and without knobs."""

    id: str = ""
    knobs: dict[str, str]
    predicted_speedup: Prediction | None
    speedup: Speedup | None
    pairs: int
    verdict: str
    loss_check: str
    reason: str = ""
    kept: dict[str, str] = Field(default={}, description="knobs that both sides had")
    method: str | None = Field(
        default=None, description="the catalog's method that the trial put to the test"
    )
    finding: Kind | None = None
    per_sample: bool = False
    stalled: int = Field(default=0, description="pairs left out because an arm had stalled")
    started: str | None = None


#: How a verdict begins that says no more than that what was recorded cannot tell.
NOT_ENOUGH_EVIDENCE = "Not enough evidence"


class Report(Part):
    """Everything that is known about a run."""

    schema_version: int = SCHEMA_VERSION
    run: RunInfo
    verdict: str
    setup: dict[str, Any] = {}
    step_time: StepTime | None = None
    step_time_reason: str | None = None
    batches_per_step: float | None = Field(
        default=None, description="batches fetched per timed step, evaluation too"
    )
    process_cpu_s_per_step: float | None = Field(
        default=None, description="CPU seconds of the training process"
    )
    core_wait_share: float | None = Field(
        default=None, description="share of wall time that the training thread waited for a free core"
    )
    recomputation_s_per_step: float | None = Field(
        default=None, description="seconds in which checkpointed parts of the model are computed again"
    )
    stages: list[StageShare] = []
    device_stages: DeviceStageInfo | None = None
    device_stages_reason: str | None = None
    estimate: Estimate | None = None
    minutes: list[Minute] = Field(
        default=[],
        description="of a long run, all after its beginning; its details are of the beginning and the end",
    )
    host_lines: list[HostLine] = Field(
        default=[], description="by the recorder's sampler, inside the process"
    )
    native_stacks: NativeStacks | None = None
    native_stacks_reason: str | None = None
    crossings: list[Crossing] = Field(
        default=[], description="on a GPU: what copies to and from it, and waits for it"
    )
    loader: LoaderReport | None = None
    loader_reason: str | None = None
    device: DeviceShares | None = None
    device_reason: str | None = None
    kernel_classes: list[KernelClass] = []
    device_steps: list[DeviceStep] = []
    launch_queue: LaunchQueueInfo | None = None
    matrix_use: MatrixUse | None = None
    memory: MemoryCurveInfo | None = None
    memory_use: MemoryUse | None = None
    collectives: CollectiveSkew | None = None
    collective_uses: list[CollectiveUse] = Field(
        default=[], description="of the first rank, as far as Python sees them"
    )
    compute: Compute | None = None
    telemetry: Telemetry | None = None
    telemetry_reason: str | None = None
    findings: list[Finding] = []
    what_ifs: list[WhatIf] = []
    prescriptions: list[Prescription] = []
    ruled_out: list[RuledOut] = []
    cells: list[CellAdvice] = []
    cells_left: list[CellsLeft] = []
    ranks: list[RankInfo] = []
    lost_ranks: list[int] = Field(
        default=[],
        description="the ranks that died or hung first, which the others waited for or failed after",
    )
    recorder: RecorderCost = RecorderCost()
    trials: list[Trial] = []

    @property
    def cannot_tell(self) -> bool:
        """Whether what was recorded does not suffice for a verdict, which is no sign of health."""
        return self.verdict.startswith(NOT_ENOUGH_EVIDENCE)

    def to_json(self) -> str:
        """The JSON text of ``report.json``."""
        return self.model_dump_json(indent=1)


def parse_report(text: str | bytes, *, source: str) -> Report:
    """Read a report from JSON text; ``source`` names it in errors.

    Raises:
        InputError: the text is no report, is damaged, or was written by a newer trainrx.
    """
    try:
        version = _Version.model_validate_json(text).schema_version
        if version > SCHEMA_VERSION:
            raise InputError(
                f"{source} has schema {version}, this trainrx reads up to {SCHEMA_VERSION}: "
                "upgrade trainrx to open it"
            )
        return Report.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(f"{source} is damaged or no report: {place}: {first['msg']}") from None


class _Version(BaseModel):
    schema_version: int

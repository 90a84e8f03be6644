"""What the diagnosis rules look at: one rank's timed steps, laid out, with the run's setup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .report import Crossing, HostLine, LoaderReport, MemoryUse, StepTime, Telemetry
from .timeline.compiled import CompiledModel
from .timeline.interruptions import Interruptions
from .timeline.lateness import Lateness
from .timeline.memory_use import DeviceMemory
from .timeline.own_collectives import OwnCollectives
from .timeline.process_memory import ProcessMemory
from .timeline.worker_memory import WorkerMemory
from .vocabulary import Activity, Stage


@dataclass(frozen=True)
class Observation:
    """The facts of one recorded run.

    Attributes:
        setup: dotted setup facts; absent means unknown.
        step_time: of the timed steps.
        stages: exclusive seconds per step; absent stages took no time.
        loader: how the training loader makes its batches; None where there is no ``DataLoader`` or it made none.
        lateness: the ranks of one job compared; None for a single rank, and for trainings that only share a run.
        exchanges_per_step: backwards per step that average gradients over ranks; None without data parallelism.
        collectives: collectives that the script calls itself.
        core_wait_share: share of wall time that the training thread waited for a free core; None if not known.
        garbage: pauses of Python's garbage collector.
        garbage_by_rank: seconds per step of such pauses on each rank; empty for a single rank.
        compilation: compilations within the timed steps.
        compiled: what became of a compiled model.
        operations_per_step: operations that backward runs per step; None if not known.
        backwards_per_step: backwards in a step; None where there is none.
        recomputation_s: seconds per step in which checkpointed parts of the model are computed again.
        evaluation_gradient_share: share of the forwards of evaluation that keep gradients; None where nothing was
            evaluated.
        memory: memory of the training process; None where it was not read.
        device_memory: of the GPU's allocator; None where it was not read.
        memory_use: what fills the memory at its peak; None where that is not known.
        worker_memory: memory of the training loader's workers; None where it was not read.
        telemetry: of the machine during the timed steps; None where it was not sampled.
        lines: where the training thread was seen, longest first.
        crossings: on a GPU, the calls that copy to it and from it and wait for it.
        device_wait_s: seconds per step that the GPU waited for the host; None where its clock was not read.
        device_steps: timed steps that the GPU's clock measured, on which the stages rest; None where they are the
            host's.
    """

    setup: Mapping[str, Any]
    step_time: StepTime
    stages: Mapping[Stage, float]
    lines: tuple[HostLine, ...] = field(default=())
    loader: LoaderReport | None = None
    lateness: Lateness | None = None
    exchanges_per_step: float | None = None
    collectives: OwnCollectives = field(default=OwnCollectives())
    core_wait_share: float | None = None
    garbage: Interruptions = field(default=Interruptions())
    garbage_by_rank: Mapping[int, float] = field(default_factory=dict[int, float])
    compilation: Interruptions = field(default=Interruptions())
    compiled: CompiledModel = field(default=CompiledModel())
    operations_per_step: float | None = None
    backwards_per_step: float | None = None
    recomputation_s: float = 0.0
    evaluation_gradient_share: float | None = None
    memory: ProcessMemory | None = None
    device_memory: DeviceMemory | None = None
    memory_use: MemoryUse | None = None
    worker_memory: WorkerMemory | None = None
    telemetry: Telemetry | None = None
    crossings: tuple[Crossing, ...] = ()
    device_wait_s: float | None = None
    device_steps: int | None = None

    @property
    def step_s(self) -> float:
        """Mean wall time of a timed step: what the stages sum to."""
        return sum(self.stages.values())

    @property
    def measured_steps(self) -> int:
        """How many steps the stages are a mean of."""
        return self.step_time.n if self.device_steps is None else self.device_steps

    def seconds(self, *stages: Stage) -> float:
        """Seconds per step of these stages together, less what interrupted them and is a finding of its own."""
        return sum(self._own_seconds(stage) for stage in stages)

    def _own_seconds(self, stage: Stage) -> float:
        interrupted = self.garbage.seconds.get(stage, 0.0) + self.compilation.seconds.get(stage, 0.0)
        return max(self.stages.get(stage, 0.0) - interrupted, 0.0)

    def share(self, *stages: Stage) -> float:
        """Share of the step of these stages together, 0 to 1."""
        return self.seconds(*stages) / self.step_s if self.step_s > 0 else 0.0

    def lines_of(self, stage: Stage, *, at_most: int = 3) -> tuple[HostLine, ...]:
        """The lines of the user's own code that a stage spends most time in, less those of findings of their own."""
        return tuple(
            line
            for line in self.lines
            if line.stage is stage and line.user_code and line.activity in (None, Activity.MEASURING)
        )[:at_most]

    def lines_doing(self, *activities: Activity) -> tuple[HostLine, ...]:
        """The lines that do something beside training between the stages, whoever's they are."""
        return tuple(line for line in self.lines if line.activity in activities and line.stage is Stage.HOST)

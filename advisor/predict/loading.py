"""How long a step takes with other loader workers: a throughput model on measured costs.

Three things bound a step that is fed by ``w`` workers on ``c`` cores: the training itself; the workers, which make
``w`` batches in the time of one; and the cores, which all CPU seconds of a step have to fit on. Waiting (for storage,
in a sleep) needs no core and scales with the workers; computing does not scale beyond the cores. So two workers on two
busy cores are not promised what two workers on two idle cores bring.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...profiler.report import LoaderReport, Report
from ...profiler.setup_facts import ranks_here
from ...profiler.vocabulary import Stage
from .estimate import StepEstimate

#: Handing a batch from a worker to the training process: queue, shared memory, wake-up. Measured around 0.5 ms for
#: small batches on the scenarios.
HANDOVER_S = 0.0005
#: The range around the model: what overlap loses at worst, and gains at best, on the scenarios.
WORST_FACTOR, LIKELY_FACTOR, BEST_FACTOR = 1.25, 1.05, 0.97
#: What full cores lose beside that, by threads that wait for one another and for a core. Trials of two workers on two
#: cores that the training fills too measured 1.3 to 1.5 times the step that the CPU seconds alone would take.
FULL_CORES_LOSS = 0.35
#: What each worker beyond two per core costs where workers compute: switching and cold caches. 16 workers on two cores
#: measured 1.13 to 1.18 times the step of two workers.
CROWD_LOSS, MOST_CROWD_LOSS, CROWDED_PER_CORE = 0.0125, 0.25, 2
#: From this share of the cores' time in use on, they count as filling up.
FILLING_SHARE = 0.7
#: What stays of a sample's cost: stored as a result, decoded by a faster library, made by lean code. Ours.
STORED, DECODED, LEAN = 0.05, 0.5, 0.07
MAX_WORKERS_PER_CORE = 4
MAX_WORKERS = 32


@dataclass(frozen=True)
class LoadingModel:
    """Measured costs of a step; all per step.

    Attributes:
        wall_s: wall seconds to make the step's batches in one process with a core of its own.
        cpu_s: CPU seconds to make them.
        training_s: wall seconds of the step apart from waiting for data.
        training_cpu_s: CPU seconds of the training process apart from loading.
        cores: cores for this rank.
        training_on_cpu: the model is computed on these cores too.
    """

    wall_s: float
    cpu_s: float
    training_s: float
    training_cpu_s: float
    cores: float
    training_on_cpu: bool = False

    def step(self, workers: int) -> StepEstimate:
        """The step with so many workers (0: the training process loads by itself)."""
        loss = 0.0
        if workers == 0:
            seconds = self.training_s + self.wall_s
        else:
            by_cores = (self.training_cpu_s + self.cpu_s) / self.cores
            seconds = (
                max(self.training_s, self.wall_s / workers, by_cores) * self._crowding(workers) + HANDOVER_S
            )
            if self.training_on_cpu:
                loss = FULL_CORES_LOSS * max(by_cores / seconds - FILLING_SHARE, 0.0) / (1 - FILLING_SHARE)
        return StepEstimate(
            seconds * BEST_FACTOR, seconds * (LIKELY_FACTOR + loss), seconds * (WORST_FACTOR + 1.5 * loss)
        )

    def _crowding(self, workers: int) -> float:
        """The factor by which workers beyond what the cores can hold lengthen a step."""
        beyond = max(workers - CROWDED_PER_CORE * self.cores, 0.0)
        computing = min(self.cpu_s / self.wall_s, 1.0) if self.wall_s > 0 else 0.0
        return 1 + min(CROWD_LOSS * beyond, MOST_CROWD_LOSS) * computing

    def best_workers(self) -> int:
        """The fewest workers that come within 3 % of the best step."""
        most = max(1, min(int(self.cores * MAX_WORKERS_PER_CORE), MAX_WORKERS))
        steps = {workers: self.step(workers).likely_s for workers in range(1, most + 1)}
        least = min(steps.values())
        return min(workers for workers, seconds in steps.items() if seconds <= 1.03 * least)

    def cheaper_by(self, wall_s: float, cpu_s: float) -> LoadingModel:
        """The same with loading made cheaper by so much per step.

        CPU seconds of the training process beyond what its threads can compute while it trains are threads that spin
        while it waits for a batch (OpenMP's do): they go with the waiting.
        """
        return replace(
            self,
            wall_s=max(self.wall_s - wall_s, 0.0),
            cpu_s=max(self.cpu_s - cpu_s, 0.0),
            training_cpu_s=min(self.training_cpu_s, self.training_s * self.cores),
        )


def loading_model(report: Report) -> LoadingModel | None:
    """The model of a report; None where loader, cores or CPU seconds were not measured."""
    loader, step, cores = report.loader, report.step_time, report.setup.get("cpu.cores")
    if loader is None or step is None or not isinstance(cores, int | float):
        return None
    waiting = next((stage.seconds_per_step for stage in report.stages if stage.name is Stage.DATA_WAIT), 0.0)
    training_s = step.mean_s - waiting
    batches = report.batches_per_step or 1.0
    cpu_s = loader.batch_cpu_s * batches
    own_loading_cpu_s = cpu_s if loader.num_workers == 0 else 0.0
    process_cpu_s = report.process_cpu_s_per_step
    training_cpu_s = training_s if process_cpu_s is None else max(process_cpu_s - own_loading_cpu_s, 0.0)
    return LoadingModel(
        wall_s=_free_wall_s(loader) * batches,
        cpu_s=cpu_s,
        training_s=training_s,
        training_cpu_s=training_cpu_s,
        cores=float(cores) / ranks_here(report.setup),
        training_on_cpu=report.setup.get("device.kind") == "cpu",
    )


def _free_wall_s(loader: LoaderReport) -> float:
    """Wall seconds to make a batch on a free core: without waiting for one, but no less than it computed."""
    waiting = loader.core_wait_share or 0.0
    return max(loader.batch_wall_s * (1 - waiting), min(loader.batch_cpu_s, loader.batch_wall_s))

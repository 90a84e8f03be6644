"""Every threshold of the diagnosis in one table, each with where it comes from.

A finding is reported from ``report`` on, is moderate from ``moderate`` and high from ``high`` on. Only moderate and
high findings can be a headline. Shares of a recorded step and shares of a device trace have tables of their own, since
a device hides host time.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..vocabulary import Confidence, Kind, Severity


@dataclass(frozen=True)
class Levels:
    """From which exposed share of the window on a finding is reported, moderate and high, and why there."""

    report: float
    moderate: float
    high: float
    source: str

    def severity(self, share: float) -> Severity | None:
        """The severity of a share; None below ``report``."""
        if share < self.report:
            return None
        if share < self.moderate:
            return Severity.NOTE
        return Severity.MODERATE if share < self.high else Severity.HIGH


STEP_LEVELS: dict[Kind, Levels] = {
    Kind.DATA_LOADING: Levels(
        0.10,
        0.20,
        0.40,
        "other profilers alarm between 5 % (tb_plugin) and 25 % (pytscope); XProf: 20 % is high",
    ),
    Kind.HOST_PYTHON: Levels(
        0.10, 0.20, 0.40, "XProf calls 15 % of other Python time high; ours is wall time"
    ),
    Kind.CHECKPOINT_IO: Levels(0.02, 0.05, 0.20, "train-doctor speaks from 2 % of saving on"),
    Kind.EVALUATION: Levels(
        0.05, 0.15, 0.40, "ours: an evaluation after each epoch takes a few percent of most trainings"
    ),
    Kind.LOGGING: Levels(0.02, 0.05, 0.20, "train-doctor speaks from 2 %, XProf's debug print from 5 % on"),
    Kind.GARBAGE_COLLECTION: Levels(
        0.02, 0.05, 0.20, "ours: pauses of an ordinary script stay below 1 % of its time"
    ),
    Kind.RECOMPILATION: Levels(
        0.05, 0.10, 0.30, "ours: after warm-up a compiled model should compile nothing more"
    ),
    Kind.CPU_THREADS: Levels(
        0.10, 0.20, 0.40, "ours: as host time; what is found is an estimate, not a measured stage"
    ),
    Kind.LAUNCH_OVERHEAD: Levels(
        0.15, 0.30, 0.50, "ours: eager PyTorch always pays some; from a third of the step on it is worth work"
    ),
    Kind.HOST_SYNC: Levels(
        0.05,
        0.15,
        0.30,
        "train-doctor and fournex speak from 5 and 10 % of waiting for the device on; high as on traces",
    ),
    Kind.OPTIMIZER_STEP: Levels(
        0.15, 0.30, 0.50, "ours: on small models a quarter of the step is usual without anything being wrong"
    ),
    Kind.COMMUNICATION: Levels(
        0.05, 0.15, 0.40, "pytscope: exposed communication 5 / 15 %; tb_plugin speaks from 10 % on"
    ),
    Kind.STRAGGLERS: Levels(
        0.05, 0.10, 0.25, "TraceML: a straggler costs 10 / 20 %; pytscope: high at 10 % lost"
    ),
    Kind.THROTTLING: Levels(
        0.03,
        0.08,
        0.20,
        "ours: a boost clock wanders by 2 to 3 %; a power cap costs large devices 5 to 10 % and is usual",
    ),
    Kind.H2D_TRANSFER: Levels(0.05, 0.10, 0.25, "as on traces"),
    Kind.COMPUTE: Levels(
        0.50, 2.0, 2.0, "ours: computing is what a step is for, so that alone is never more than a note"
    ),
}

DEVICE_LEVELS: dict[Kind, Levels] = {
    Kind.DATA_LOADING: Levels(
        0.05,
        0.10,
        0.25,
        "PyTorch's TensorBoard plugin advised from 5 % data-loader time on; 25 % of a step is a quarter",
    ),
    Kind.H2D_TRANSFER: Levels(0.05, 0.10, 0.25, "as data-loading, for it hides the same way"),
    Kind.COMMUNICATION: Levels(
        0.05,
        0.10,
        0.25,
        "PyTorch's TensorBoard plugin warned from 10 % communication; exposed time is what costs",
    ),
    Kind.STRAGGLERS: Levels(0.05, 0.10, 0.25, "as communication, of which it is a part"),
    Kind.HOST_SYNC: Levels(
        0.05, 0.15, 0.30, "a few syncs per step for logging cost some percent and are common"
    ),
    Kind.LAUNCH_OVERHEAD: Levels(
        0.10,
        0.30,
        0.50,
        "eager ResNet-50 leaves a V100 idle for some 25 % unnoticed; beyond 30 % CUDA graphs pay",
    ),
    Kind.COMPUTE: Levels(
        0.80, 0.80, 0.95, "above 80 % kernel time all waiting together is worth less than 1.25x"
    ),
    Kind.MEMORY_BANDWIDTH: Levels(
        0.25, 0.60, 0.80, "share of the window in kernels that move more than they compute"
    ),
    Kind.OPTIMIZER_STEP: Levels(0.15, 0.30, 0.50, "a fused optimizer takes below 5 % of most steps"),
    Kind.MEMORY_CAPACITY: Levels(
        0.90, 1.01, 1.01, "above 90 % reserved the allocator begins to retry; it costs no time yet"
    ),
}

#: A launch from Python takes 4 to 10 microseconds, so a device that runs shorter kernels waits for its host.
SHORT_KERNEL_US = 10.0

#: From this hidden part of communication on, overlap is at work and the rest is a matter of tuning it.
HIDDEN_COMMUNICATION_SHARE = 0.2

#: When more than half of the copied bytes come from pageable memory, pinning is the first thing to change.
PAGEABLE_SHARE = 0.5

#: When more than half of the matrix time whose precision is known runs in 32-bit floats, lower precision is open.
FULL_PRECISION_SHARE = 0.5
#: Kernels that convert image layouts are worth a word from this share of kernel time on. Ours: reports of channels-last
#: gained 1.2 times where each convolution was converted around, and nothing where none was.
LAYOUT_SHARE = 0.05
#: CPU seconds per wall second of making a batch, up to which loading waits. Ours: a process alone on its core shows
#: 0.95 and more when it computes, and a sleep or a read from a slow store under 0.3.
WAITING_CPU_SHARE = 0.4
#: Workers that wait this share of their batch time for a core have too many neighbours: each other, if there are as
#: many of them as cores, which the training needs too; else other processes. Ours.
STARVED_SHARE = 0.3
#: Up to this share of fetches that found no batch ready, workers keep up, and what a fetch takes is handing the batch
#: over. Ours: workers that are too slow drain the queue, so that nearly every fetch finds it empty; handing over alone
#: took 16 to 21 % of the short steps of a healthy script.
SELDOM_EMPTY_SHARE = 0.2
#: A loader worker is slow by itself if its batches take this many times as long as the others' in the middle, over at
#: least so many batches each. Ours: batches of one data set differ by less, and a few of them by chance.
SLOW_WORKER_FACTOR = 2.0
SLOW_WORKER_BATCHES = 4
#: A rank that is last in this share of the steps is slow; below it the work is uneven. Ours.
LAST_RANK_SHARE = 0.7
#: Collectives of a few numbers that take this share of the exchange are its cause: gradients have to travel, these have
#: not. Ours.
TINY_COLLECTIVES_SHARE = 0.3
#: Gradient buckets below this cost more in number than they gain in overlap; PyTorch's default is 25 MB. Ours.
SMALL_BUCKET_BYTES = 2 * 2**20
#: Buckets are too small only where gradients fill more than so many of them. Ours: of fewer there is little to join.
MANY_BUCKETS = 4
#: With more exchanges per step than this, micro-batches have their own. Ours: a few steps in a window may count twice.
REPEATED_EXCHANGES = 1.5
#: Gradients are exchanged parameter by parameter if there are more collectives per step than this part of the
#: optimizer's tensors, and more than so many in any case, which losses and metrics may need. Ours.
COLLECTIVES_PER_TENSOR = 0.5
MANY_COLLECTIVES = 8
#: From this many parameter tensors on, an update tensor by tensor is slow for their number alone. Ours.
MANY_TENSORS = 100
#: From this share of time waited for a core on, it is said of a training thread or a batch, for its timings are longer
#: than on a free machine. Ours.
NOTED_CORE_WAIT_SHARE = 0.1
#: A worker that was seen making a batch in this share of its samples is the limit, not the queue behind it. Ours.
BUSY_WORKER_SHARE = 0.7
#: A share estimated from samples whose interval is wider than this leaves a finding uncertain. Ours.
WIDE_INTERVAL = 0.2
#: A part that makes up this share of a whole is named as its cause.
DOMINANT_PART = 0.5
#: What an operation costs beside its arithmetic on a CPU, forward and backward together. Measured on one slow core on
#: loops of element-wise operations: 8 to 28 microseconds.
OPERATION_OVERHEAD_S = 15e-6
#: Up to this mean time of an operation, forward and backward together, a CPU is busy with their number: twice what
#: loops of tiny operations take, a third of what a small transformer's take.
SMALL_OPERATION_S = 50e-6
#: Fewer operations than these are no number to speak of.
MANY_OPERATIONS = 100
#: What anomaly detection adds to an operation, forward and backward together: a traceback that is noted, the dearer the
#: deeper modules are nested, and a look for NaN. Measured on one slow core: 26 microseconds in a plain loop, 62 in a
#: model of three levels of modules.
ANOMALY_OPERATION_S = 50e-6
#: What a profiler that is on adds to an operation likewise: 3.6 (torch.profiler) to 4.7 microseconds (autograd's).
PROFILED_OPERATION_S = 4e-6
#: What one more piece of a compiled model costs, forward and backward together. Measured on one slow core: 65
#: (inductor) to 90 microseconds (aot_eager) for blocks of one layer that are merely cut, 146 and 215 where each cut
#: also reads a value, as is usual; their middle.
PIECE_OVERHEAD_S = 120e-6
#: Part of forward and backward that compiling commonly saves: the published gains of the catalog's
#: torch-compile-default on whole trainings have their middle near 1.3 times.
COMPILED_SAVES_SHARE = 0.2
#: Part of the model's and the optimizer's time that blocking launches cost. Ours: a host that may not run ahead leaves
#: the device idle between kernels, by a tenth for long kernels and by more than half for short ones.
LAUNCH_BLOCKING_SHARE = 0.3
#: Computing activations again is worth a word from this share of the step on, where this share of the memory is free:
#: keeping them takes a third of it in public reports. Ours.
RECOMPUTED_SHARE = 0.05
FREE_MEMORY_SHARE = 0.5
#: An embedding of which a batch looks up at most this share of the rows has a gradient that is mostly zeros. Ours.
USED_ROWS_SHARE = 0.1
#: More threads speed up operations that take at least this long, forward and backward together. PyTorch splits work
#: from 32,768 elements on.
LARGE_OPERATION_S = 200e-6
#: Part of forward and backward that more threads speed up. Ours.
PARALLEL_SHARE = 0.7
#: A training thread that waits this share of the time for a core shares it with too many. Ours.
CROWDED_SHARE = 0.1
#: Memory grows if it rises in this share of the readings, by this much in all, and by this share of its peak. Ours; a
#: plateau after the first epoch rises in few readings, and caches fill by tens of megabytes.
RISING_SHARE = 0.5
GROWTH_BYTES = 64 * 2**20
GROWTH_SHARE = 0.03
#: Workers copy what they share with the training process if so many bytes were copied in all, this share of one
#: worker's memory in each, and this share of it in the later half of the time: what a worker copies while it starts
#: stays behind that. Ours.
COPIED_BYTES = 64 * 2**20
COPIED_SHARE = 0.1
LATE_COPIES_SHARE = 0.2
#: Share of the limit from which on memory is nearly full. TraceML: 92 and 97 %.
NEAR_LIMIT_SHARE = 0.92
AT_LIMIT_SHARE = 0.97
#: Share of what a GPU's allocator has reserved that no tensor fills, from which on it counts as fragmented. Ours:
#: blocks are rounded up to 2 MB and cached, which leaves a few percent.
FRAGMENTED_SHARE = 0.2
#: A script keeps data beside the model if so much of the process's memory is in use at all times that no tensor of the
#: model fills. Ours: Python, torch and the libraries of a training alone take about half of it.
KEPT_DATA_BYTES = 2**30
#: A growth that ends the run within so many steps is high. Ours: less than a long epoch.
SOON_STEPS = 10_000
#: From so many cores' worth of other programs' work on, a core counts as taken. Ours: less is a desktop's noise.
TAKEN_CORE = 0.5
#: Fewer stack samples than these do not name an activity. Ours.
MIN_SAMPLES = 4
#: Fewer timed steps than these make a finding uncertain.
STEPS_FOR_MEDIUM_CONFIDENCE = 5
STEPS_FOR_HIGH_CONFIDENCE = 15


def confidence(steps: int) -> Confidence:
    """How sure a mean over this many timed steps is."""
    if steps >= STEPS_FOR_HIGH_CONFIDENCE:
        return Confidence.HIGH
    return Confidence.MEDIUM if steps >= STEPS_FOR_MEDIUM_CONFIDENCE else Confidence.LOW

"""The words of the catalog: bottlenecks, both taxonomies, equivalence, risk, evidence grades.

The bottleneck words equal the profiler's kinds plus ``sample-efficiency``; a test holds the two together,
since the catalog imports nothing of ours. What the words mean stands in `taxonomy`.
"""

from __future__ import annotations

from enum import Enum


class Word(str, Enum):
    """A string enum whose text form is its value, as in files and JSON."""

    def __str__(self) -> str:
        return str(self.value)


class Bottleneck(Word):
    """What a method makes cheaper (``relieves``) or dearer (``lengthens``)."""

    DATA_LOADING = "data-loading"
    H2D_TRANSFER = "h2d-transfer"
    COMPUTE = "compute"
    LAUNCH_OVERHEAD = "launch-overhead"
    HOST_SYNC = "host-sync"
    HOST_PYTHON = "host-python"
    OPTIMIZER_STEP = "optimizer-step"
    RECOMPILATION = "recompilation"
    CPU_THREADS = "cpu-threads"
    MEMORY_BANDWIDTH = "memory-bandwidth"
    MEMORY_CAPACITY = "memory-capacity"
    COMMUNICATION = "communication"
    STRAGGLERS = "stragglers"
    CHECKPOINT_IO = "checkpoint-io"
    EVALUATION = "evaluation"
    LOGGING = "logging"
    GARBAGE_COLLECTION = "garbage-collection"
    THROTTLING = "throttling"
    SAMPLE_EFFICIENCY = "sample-efficiency"


class Component(Word):
    """First taxonomy: which part of the training recipe is changed; ``system`` is ours, beside its three."""

    FUNCTION = "function"
    DATA = "data"
    OPTIMIZATION = "optimization"
    SYSTEM = "system"


class Subcomponent(Word):
    """First taxonomy: the finer part of a component."""

    ARCHITECTURE = "architecture"
    PARAMETERS = "parameters"
    TRAINING_DATA = "training-data"
    DERIVED_DATA = "derived-data"
    TRAINING_OBJECTIVE = "training-objective"
    TRAINING_ALGORITHM = "training-algorithm"
    INPUT_PIPELINE = "input-pipeline"
    HOST_TO_DEVICE = "host-to-device"
    PRECISION = "precision"
    KERNELS = "kernels"
    COMPILATION = "compilation"
    LAUNCH = "launch"
    OPTIMIZER_EXECUTION = "optimizer-execution"
    MEMORY = "memory"
    PARALLELISM = "parallelism"
    COMMUNICATION = "communication"
    CHECKPOINT_IO = "checkpoint-io"
    SCHEDULING = "scheduling"


class Action(Word):
    """First taxonomy: what is done to the part (the five Rs)."""

    REMOVE = "remove"
    RESTRICT = "restrict"
    REORDER = "reorder"
    REPLACE = "replace"
    RETROFIT = "retrofit"


class Category(Word):
    """Second taxonomy: which part of the update formula is made cheaper."""

    DATA = "data-centric"
    MODEL = "model-centric"
    OPTIMIZATION = "optimization-centric"
    BUDGETED = "budgeted"
    SYSTEM = "system-centric"


class Subcategory(Word):
    """Second taxonomy: the group within a category."""

    DATASET_REGULARIZATION = "dataset-regularization"
    DATA_SAMPLING = "data-sampling"
    DATA_CURRICULUM = "data-centric-curriculum"
    BASIC_MODULES = "basic-modules"
    COMPRESSION_TRAINING = "compression-training"
    MODEL_INITIALIZATION = "model-initialization"
    MODEL_CURRICULUM = "model-centric-curriculum"
    LEARNING_RATE = "learning-rate"
    LARGE_BATCH_SIZE = "large-batch-size"
    EFFICIENT_OBJECTIVES = "efficient-objectives"
    MODEL_AVERAGING = "model-averaging"
    BUDGET_AWARE_SCHEDULE = "budget-aware-schedule"
    CONSTRAINED_RECIPE = "constrained-recipe"
    COMPUTE_ALLOCATION = "compute-allocation"
    BUDGETED_SEARCH = "budgeted-search"
    DATA_PRELOADING = "data-preloading"
    HOST_TO_DEVICE = "host-to-device"
    PRECISION = "precision"
    KERNELS_AND_COMPILATION = "kernels-and-compilation"
    LAUNCH_AND_SYNC = "launch-and-sync"
    OPTIMIZER_EXECUTION = "optimizer-execution"
    MEMORY_SAVINGS = "memory-savings"
    PARALLELISM = "parallelism"
    COMMUNICATION = "communication"
    CHECKPOINT_IO = "checkpoint-io"
    CLUSTER_AND_STRAGGLERS = "cluster-and-stragglers"


class Equivalence(Word):
    """How far a method leaves the learning alone."""

    EXACT = "exact"
    NUMERICAL = "numerical"
    SEMANTIC = "semantic"


class Risk(Word):
    """Our judgement of what the method may cost in quality."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Tier(Word):
    """Core: worth recommending today. Extended: for completeness, research, or superseded."""

    CORE = "core"
    EXTENDED = "extended"


class Scope(Word):
    """Algorithmic methods change what is learned; implementation methods how it is run."""

    ALGORITHMIC = "algorithmic"
    IMPLEMENTATION = "implementation"


class Sureness(Word):
    """How sure a bibliographic entry is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class PlacedBy(Word):
    """Who placed a method in the second taxonomy: a passage of the survey that was read, or we."""

    SURVEY = "survey"
    OURS = "ours"


class GainKind(Word):
    """What a gain is a ratio of. Every ratio is oriented so that above 1 is better."""

    TIME_TO_QUALITY = "time-to-quality"
    STEP_TIME = "step-time"
    THROUGHPUT = "throughput"
    MEMORY = "memory"
    STEPS_TO_QUALITY = "steps-to-quality"
    FLOPS = "flops"


class Grade(Word):
    """How well an evidence row is backed."""

    A = "A"
    B = "B"
    C = "C"
    N = "N"


class Metric(Word):
    """A quantity that must move if a method works."""

    STEP_TIME = "step_time"
    DATA_WAIT = "data_wait"
    H2D = "h2d"
    OPTIMIZER_TIME = "optimizer_time"
    HOST_TIME = "host_time"
    CHECKPOINT_TIME = "checkpoint_time"
    EVALUATION_TIME = "evaluation_time"
    LOGGING_TIME = "logging_time"
    GC_TIME = "gc_time"
    EXPOSED_COMMUNICATION = "exposed_communication"
    RANK_SKEW = "rank_skew"
    LAUNCH_IDLE = "launch_idle"
    SYNC_IDLE = "sync_idle"
    RECOMPILATIONS = "recompilations"
    PEAK_MEMORY = "peak_memory"
    DEVICE_CLOCK = "device_clock"
    COST_TO_QUALITY = "cost_to_quality"

    @property
    def label(self) -> str:
        """The metric in words, with what it is counted over."""
        return _METRIC_LABELS[self]


_METRIC_LABELS = {
    Metric.STEP_TIME: "median step time",
    Metric.DATA_WAIT: "time per step spent waiting for data",
    Metric.H2D: "exposed host-to-device copy time per step",
    Metric.OPTIMIZER_TIME: "optimizer time per step",
    Metric.HOST_TIME: "host time per step",
    Metric.CHECKPOINT_TIME: "checkpoint time per step",
    Metric.EVALUATION_TIME: "evaluation time per run",
    Metric.LOGGING_TIME: "logging time per step",
    Metric.GC_TIME: "garbage-collection pauses per step",
    Metric.EXPOSED_COMMUNICATION: "exposed communication time per step",
    Metric.RANK_SKEW: "gap between the slowest and the median rank",
    Metric.LAUNCH_IDLE: "device idle time while kernels are being launched",
    Metric.SYNC_IDLE: "device idle time around host synchronisation",
    Metric.RECOMPILATIONS: "recompilations after warm-up",
    Metric.PEAK_MEMORY: "peak device memory",
    Metric.DEVICE_CLOCK: "device clock under load",
    Metric.COST_TO_QUALITY: "cost to the same quality (read off both curves)",
}


class Direction(Word):
    """Which way a metric must move."""

    FALLS = "falls"
    RISES = "rises"

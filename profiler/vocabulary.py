"""The words of the product: stages, bottleneck kinds, families, severities.

They are the same in code, command line, JSON and dashboard. This module imports nothing of ours.
"""

from __future__ import annotations

from enum import Enum


class Word(str, Enum):
    """A string enum whose text form is its value, as in the report's JSON."""

    def __str__(self) -> str:
        return str(self.value)


class Stage(Word):
    """An exclusive slice of step wall time on the training thread; the stages of a step sum to the step."""

    DATA_WAIT = "data_wait"
    H2D = "h2d"
    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"
    COMMUNICATION = "communication"
    HOST = "host"
    CHECKPOINT = "checkpoint"
    EVALUATION = "evaluation"

    @property
    def label(self) -> str:
        """The name shown to people."""
        return _STAGE_LABELS[self]


_STAGE_LABELS = {
    Stage.DATA_WAIT: "data wait",
    Stage.H2D: "host-to-device copy",
    Stage.FORWARD: "forward",
    Stage.BACKWARD: "backward",
    Stage.OPTIMIZER: "optimizer",
    Stage.COMMUNICATION: "communication",
    Stage.HOST: "host code",
    Stage.CHECKPOINT: "checkpoint",
    Stage.EVALUATION: "evaluation",
}


class Family(Word):
    """The four groups of bottlenecks that users know, and what lies beside the loop."""

    DATA_LOADING = "data loading"
    COMPUTE = "compute"
    MEMORY = "memory"
    COMMUNICATION = "communication"
    BESIDE = "beside the loop"


class Kind(Word):
    """A kind of bottleneck."""

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

    @property
    def family(self) -> Family:
        """The family that users know it under."""
        return _FAMILIES[self]


_FAMILIES = {
    Kind.DATA_LOADING: Family.DATA_LOADING,
    Kind.H2D_TRANSFER: Family.DATA_LOADING,
    Kind.COMPUTE: Family.COMPUTE,
    Kind.LAUNCH_OVERHEAD: Family.COMPUTE,
    Kind.HOST_SYNC: Family.COMPUTE,
    Kind.HOST_PYTHON: Family.COMPUTE,
    Kind.OPTIMIZER_STEP: Family.COMPUTE,
    Kind.RECOMPILATION: Family.COMPUTE,
    Kind.CPU_THREADS: Family.COMPUTE,
    Kind.MEMORY_BANDWIDTH: Family.MEMORY,
    Kind.MEMORY_CAPACITY: Family.MEMORY,
    Kind.COMMUNICATION: Family.COMMUNICATION,
    Kind.STRAGGLERS: Family.COMMUNICATION,
    Kind.CHECKPOINT_IO: Family.BESIDE,
    Kind.EVALUATION: Family.BESIDE,
    Kind.LOGGING: Family.BESIDE,
    Kind.GARBAGE_COLLECTION: Family.BESIDE,
    Kind.THROTTLING: Family.BESIDE,
}


class Activity(Word):
    """What a script does beside training, as far as its stacks tell."""

    LOGGING = "logging"
    PRINTING = "printing"
    PLOTTING = "plotting"
    SAVING = "saving"
    MEASURING = "measuring"
    COMPILING = "compiling"
    LOADING = "loading"


class Call(Word):
    """A call that crosses between host and device; all but a copy to the device make the host wait."""

    TO_DEVICE = "copy-to-device"
    TO_HOST = "copy-to-host"
    ITEM = "item"
    CONDITION = "condition"
    SHAPE = "value-dependent-shape"
    SYNCHRONIZE = "synchronize"
    EMPTY_CACHE = "empty-cache"

    @property
    def label(self) -> str:
        """The name shown to people."""
        return _CALL_LABELS[self]


_CALL_LABELS = {
    Call.TO_DEVICE: "copy to the device",
    Call.TO_HOST: "copy to the host",
    Call.ITEM: "a value is read, as by .item()",
    Call.CONDITION: "a condition on a tensor",
    Call.SHAPE: "a shape that depends on values, as of nonzero",
    Call.SYNCHRONIZE: "synchronize",
    Call.EMPTY_CACHE: "empty_cache",
}


class Severity(Word):
    """How much a finding matters, by its exposed share of the step."""

    NOTE = "note"
    MODERATE = "moderate"
    HIGH = "high"


class Confidence(Word):
    """How sure a rule is of its finding."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class RunStatus(Word):
    """Where a run stands."""

    RECORDING = "recording"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    LOST = "lost"
    IMPORTED = "imported"
    ATTACHED = "attached"


class IdleCause(Word):
    """Why the device had nothing to do."""

    DATA = "data"
    LAUNCH = "launch"
    SYNC = "sync"
    HOST = "host"
    UNKNOWN = "unknown"


class Ending(Word):
    """How the recording of a rank ended."""

    STOPPED = "stopped"
    EXIT = "exit"
    ERROR = "error"
    KILLED = "killed"
    SILENT = "silent"
    STANDING = "standing"
    RUNNING = "running"


class ClockBasis(Word):
    """What tells how far the clocks of two ranks lie apart."""

    SAME = "same clock"
    COLLECTIVES = "collectives"
    WALL = "wall clocks"
    UNKNOWN = "unknown"

"""Exclusive host stages of a trace: what the training thread did, from annotations, operators and Python
frames.

Each stage claims the instants that its marks cover and that no stage before it in `PRIORITY` has claimed;
what nobody claims is ``host``. So the stages of a step sum to the step. A backward pass on a CUDA device runs
on another thread while the training thread waits for it, so its claim is where the autograd engine was at
work.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from ..ingest.column_values import among
from ..ingest.columns import HostKind, Trace
from ..vocabulary import Stage
from .device import copies_to_device
from .idle import loader_wait
from .intervals import I64, Intervals, covered_within, empty, union
from .trace_steps import TraceSteps

PRIORITY = (
    Stage.DATA_WAIT,
    Stage.CHECKPOINT,
    Stage.EVALUATION,
    Stage.COMMUNICATION,
    Stage.OPTIMIZER,
    Stage.H2D,
    Stage.BACKWARD,
    Stage.FORWARD,
)
"""The stage that claims an instant first comes first; forward is claimed last, for its marks are the widest.
"""

_ANNOTATED = {
    Stage.CHECKPOINT: re.compile(
        r"## ?(save_?)?checkpoint|torch/serialization\.py\(\d+\): save$", re.IGNORECASE
    ),
    Stage.EVALUATION: re.compile(r"## ?(eval|validat)", re.IGNORECASE),
    Stage.COMMUNICATION: re.compile(r"(nccl|gloo|mpi|c10d):|c10d::|record_param_comms$|## .*[wW]ait\(\) ##"),
    Stage.OPTIMIZER: re.compile(r"Optimizer\.(step|zero_grad)#|## ?(optimizer|zero_grad)", re.IGNORECASE),
    Stage.H2D: re.compile(r"## ?copy_batch_to_gpu|## ?h2d", re.IGNORECASE),
    Stage.BACKWARD: re.compile(r"## ?backward ##|torch/_tensor\.py\(\d+\): backward$", re.IGNORECASE),
    Stage.FORWARD: re.compile(
        r"## ?forward ##|DistributedDataParallel\.forward|nn\.Module: |FullyShardedDataParallel\.forward",
        re.IGNORECASE,
    ),
}
_BACKWARD_NODE = "autograd::engine::evaluate_function"
_BACKWARD_NODE_OLD = re.compile(r"^[A-Z]\w*Backward\d*$|^torch::autograd::AccumulateGrad$")
_BACKWARD_GAP_NS = 2_000_000
"""Autograd nodes closer than this belong to one backward pass."""
_FORWARD_GAP_NS = 200_000
"""Python between two operators of one module; longer pauses are the script's own."""


def stage_sets(trace: Trace, steps: TraceSteps) -> dict[Stage, Intervals]:
    """Disjoint sets of instants per stage within the window, `Stage.HOST` included.

    Empty where the trace has no operators, annotations or Python frames: nothing then tells stages apart.
    """
    if steps.thread is None or not len(trace.host_rows(HostKind.OP, HostKind.ANNOTATION, HostKind.PYTHON)):
        return {}
    claimed = empty()
    found: dict[Stage, Intervals] = {}
    for stage in PRIORITY:
        own = (_claim(trace, steps.thread, stage) & steps.window) - claimed
        found[stage] = own
        claimed = claimed | own
    found[Stage.HOST] = steps.window - claimed
    return found


def stage_times(stages: dict[Stage, Intervals], start_ns: I64, end_ns: I64) -> dict[Stage, I64]:
    """Time of each stage in each of the windows. Shapes (windows,), nanoseconds."""
    return {stage: covered_within(own, start_ns, end_ns) for stage, own in stages.items()}


def _claim(trace: Trace, thread: int, stage: Stage) -> Intervals:
    if stage is Stage.DATA_WAIT:
        return loader_wait(trace)
    marked = _marked(trace, thread, _ANNOTATED[stage])
    if stage is Stage.H2D:
        return marked | _copies_to_device(trace, thread)
    if stage is Stage.BACKWARD:
        return marked | _backward_passes(trace)
    if stage is Stage.FORWARD:
        return marked | _forward_operators(trace, thread)
    return marked


def _marked(trace: Trace, thread: int, pattern: re.Pattern[str]) -> Intervals:
    matches = np.array([pattern.search(name) is not None for name in trace.names], dtype=np.bool_)
    rows = _on_thread(trace, trace.host_rows(HostKind.ANNOTATION, HostKind.OP, HostKind.PYTHON), thread)
    return _covering(trace, rows[trace.names_where(matches, trace.host.name[rows])])


def _on_thread(trace: Trace, rows: npt.NDArray[np.intp], thread: int) -> npt.NDArray[np.intp]:
    return rows[trace.host.thread[rows] == thread]


def _covering(trace: Trace, rows: npt.NDArray[np.intp]) -> Intervals:
    return union(trace.host.start_ns[rows], trace.host.end_ns[rows])


def _copies_to_device(trace: Trace, thread: int) -> Intervals:
    """Copy calls on the training thread whose device row goes from host to device."""
    wanted = trace.device.correlation[copies_to_device(trace)]
    rows = _on_thread(trace, trace.host_rows(HostKind.RUNTIME, HostKind.DRIVER), thread)
    linked = among(trace.host.correlation[rows], wanted[wanted >= 0])
    return _covering(trace, rows[linked])


def _is_backward_node(name: str) -> bool:
    return name.startswith(_BACKWARD_NODE) or _BACKWARD_NODE_OLD.match(name) is not None


def _backward_rows(trace: Trace) -> npt.NDArray[np.intp]:
    matches = np.array([_is_backward_node(name) for name in trace.names], dtype=np.bool_)
    rows = trace.host_rows(HostKind.OP)
    return rows[trace.names_where(matches, trace.host.name[rows])]


def _backward_passes(trace: Trace) -> Intervals:
    """Runs of autograd nodes on any thread, with the short gaps between them closed."""
    return _closed(_covering(trace, _backward_rows(trace)), _BACKWARD_GAP_NS)


def _closed(a: Intervals, gap_ns: int) -> Intervals:
    """The set with every gap of at most ``gap_ns`` filled."""
    if not len(a):
        return a
    near = a.start[1:] - a.end[:-1] <= gap_ns
    reach = np.concatenate([np.where(near, a.start[1:], a.end[:-1]), a.end[-1:]])
    return union(a.start, reach)


def _forward_operators(trace: Trace, thread: int) -> Intervals:
    """Operators on the training thread, with the short gaps between them closed."""
    matches = np.array([name.startswith(("aten::", "torch::")) for name in trace.names], dtype=np.bool_)
    rows = _on_thread(trace, trace.host_rows(HostKind.OP), thread)
    return _closed(_covering(trace, rows[trace.names_where(matches, trace.host.name[rows])]), _FORWARD_GAP_NS)

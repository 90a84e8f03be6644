"""Against a device that waits for its host to issue work: fewer, larger pieces, or a recording of them."""

from __future__ import annotations

from collections.abc import Iterator

from ...profiler.vocabulary import Stage
from ..predict.estimate import StepEstimate
from ..proposal import Case, Declined, Effort, Fit, Proposal
from .compute import SHORT_CPU_STEP_S, short_cpu_step
from .debugging import CAUSES as DEBUGGING
from .debugging import left_on
from .optimizer_step import propose as joined_updates
from .recompilation import no_graph_breaks

COMPLETE = DEBUGGING
#: Even one launch for a whole step takes its time: this part of the waiting remains at best.
BEST_REMAINS = 0.1
#: Loops of small operations, as the diagnosis calls what it counted of them on a CPU.
COUNTED = "many-small-operations"
#: How many times as many samples a step is given to share what it costs per operation: doubling twice shows what more
#: would bring. At worst this part of that cost remains.
LARGER, WORST_SHARED_REMAINS = 4, 0.6
_MODELLED = "replaying the trace with launches that cost nothing, of which {} % are expected to go"
_BOUNDED = "the measured time that the device waits for launches, of which {} % are expected to go"


def propose(case: Case) -> Iterator[Proposal | Declined]:
    """What is left on by mistake, then compiling and graphs, then the optimizer's own launches."""
    yield from left_on(case)
    if case.cause in DEBUGGING:
        return
    compiled = case.setup("model.compiled") is True
    if case.cause == "graph-break" or compiled:
        yield no_graph_breaks(case)
    if not compiled:
        yield from _compile_or_not(case)
    yield from _graphs(case, compiled=compiled)
    if case.has("attention"):
        yield _fused_attention(case)
    yield from _joined(case)
    yield _larger_batch(case)


def _saving(case: Case, likely: float, worst: float) -> StepEstimate:
    replayed = case.what_if("launch_cost_removed", likely=likely, worst=worst)
    return replayed or case.remaining(BEST_REMAINS, 1 - likely, 1 - worst)


def _basis(case: Case, likely: float) -> str:
    text = _BOUNDED if case.what_if("launch_cost_removed") is None else _MODELLED
    return text.format(round(likely * 100))


def _compile_or_not(case: Case) -> Iterator[Proposal | Declined]:
    """A step on a CPU has to be long for it, unless its operations were counted and are many: those it joins."""
    short = case.setup("device.kind") == "cpu" and case.step_s < SHORT_CPU_STEP_S
    if short and case.cause != COUNTED:
        yield from short_cpu_step(case)
    else:
        yield _compile(case)


def _compile(case: Case) -> Proposal:
    return Proposal(
        method="torch-compile-default",
        knob="compile.default=true",
        how="model = torch.compile(model)  # the first steps compile, for a minute or more",
        basis=_basis(case, 0.4),
        effort=Effort.SWITCH,
        estimate=_saving(case, 0.4, 0.0),
        fit=Fit.CAUSE,
    )


def _graphs(case: Case, *, compiled: bool) -> Iterator[Proposal]:
    """A model that the script compiles already takes its mode from the script alone."""
    short = case.cause == "short-kernels"
    whole = 0.4 if case.cause == "graph-break" else 0.75
    yield Proposal(
        method="torch-compile-reduce-overhead",
        knob=None if compiled else "compile.reduce_overhead=true",
        how='model = torch.compile(model, mode="reduce-overhead")  # CUDA graphs: all shapes must stay the same',
        basis=_basis(case, whole),
        effort=Effort.SWITCH,
        estimate=_saving(case, whole, 0.0),
        fit=Fit.CAUSE if short else Fit.KIND,
    )
    yield Proposal(
        method="cuda-graphs-manual",
        how="torch.cuda.make_graphed_callables(model, sample_inputs): fixed shapes, no host reads in the graph",
        basis=_basis(case, 0.85),
        effort=Effort.REWORK,
        estimate=_saving(case, 0.85, 0.2),
        fit=Fit.CAUSE if short else Fit.KIND,
    )


def _fused_attention(case: Case) -> Proposal:
    return Proposal(
        method="sdpa",
        how="torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=...) in place of softmax(q @ k.T) @ v",
        basis="some ten launches of each attention layer become one; attention's part of the launches was not counted",
        effort=Effort.LINES,
        estimate=case.remaining(0.7, 0.9, 1.0),
        fit=Fit.KIND,
    )


def _joined(case: Case) -> Iterator[Proposal]:
    for proposal in joined_updates(case):
        if proposal.method in ("fused-optimizer", "foreach-optimizer"):
            yield Proposal(
                method=proposal.method,
                knob=proposal.knob,
                how=proposal.how,
                basis="the update's part of the launches, which was not counted apart",
                effort=proposal.effort,
                estimate=case.remaining(0.6, 0.85, 1.0),
                fit=Fit.CAUSE if case.cause == "non-fused-optimizer" else Fit.KIND,
            )


def _larger_batch(case: Case) -> Proposal:
    batch = case.number("loader.batch_size")
    larger = None if batch is None else round(LARGER * batch)
    now = "" if batch is None else f"  # it is {batch:g} now"
    shared = _shared_by_more(case) if case.cause == COUNTED else None
    return Proposal(
        method="large-batch-increase",
        knob=None if larger is None else f"batch.size={larger}",
        how=f"DataLoader(..., batch_size={larger or '…'}){now}; scale the learning rate with it, and judge the curve, "
        "not the step",
        basis="the same launches serve more samples; the gain is per sample, so no step time is predicted"
        if shared is None
        else f"per sample: {LARGER} times as many share what a step takes for its operations and its update",
        effort=Effort.LINES,
        estimate=shared,
        fit=Fit.KIND if shared is None else Fit.CAUSE,
        removes_s=None if shared is None else _per_step_s(case),
    )


def _per_step_s(case: Case) -> float:
    """Seconds of a step that do not grow with the batch: for its operations, and for the update of the parameters."""
    return min(case.exposed_s + case.stage_s(Stage.OPTIMIZER), case.step_s)


def _shared_by_more(case: Case) -> StepEstimate:
    """The time for the samples of one step of now; only what is spent per step is shared."""
    fixed_s = _per_step_s(case)
    rest_s = case.step_s - fixed_s
    likely_s = rest_s + fixed_s / LARGER
    return StepEstimate(likely_s, likely_s, rest_s + WORST_SHARED_REMAINS * fixed_s)

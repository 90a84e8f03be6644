"""Against compiling or autotuning anew in the middle of training: fewer shapes, or code for any shape."""

from __future__ import annotations

from collections.abc import Iterator

from ..proposal import Case, Declined, Effort, Fit, Proposal

COMPLETE = frozenset({"cudnn-benchmark-varying-shapes"})
#: Number of shapes up to which one compiled version per shape is worth keeping. PyTorch's limit is 8 by default.
SHAPES_LIMIT = 64


def propose(case: Case) -> Iterator[Proposal | Declined]:
    """By what is done anew: cuDNN's search, the compiler's limit, its shapes, or the cold start."""
    match case.cause:
        case "cudnn-benchmark-varying-shapes":
            yield from _cudnn(case)
        case "recompile-limit":
            yield _limit(case, Fit.CAUSE)
            yield _dynamic(case, Fit.KIND)
        case "cold-start":
            yield _cache(Fit.CAUSE)
            yield _regional(case, Fit.CAUSE)
        case "graph-break":
            yield no_graph_breaks(case)
        case "failing-guards":
            yield _guards(case)
            yield _dynamic(case, Fit.KIND)
        case _:
            yield _dynamic(case, Fit.CAUSE)
            yield _limit(case, Fit.KIND)
            yield Declined("compile-cache", "it saves compiling at the next start, not anew for each shape")


def _cudnn(case: Case) -> Iterator[Proposal | Declined]:
    yield Proposal(
        method="cudnn-benchmark-off",
        knob="cudnn.benchmark=false",
        how="torch.backends.cudnn.benchmark = False, or pad inputs to a few shapes and keep it on",
        basis="the time that searching for algorithms takes per step; those it then picks may be a little slower",
        effort=Effort.SWITCH,
        estimate=case.remaining(0.0, 0.15, 1.0),
        fit=Fit.CAUSE,
    )
    yield Declined("cudnn-benchmark", "it searches anew for each shape, and shapes vary in this run")


def _dynamic(case: Case, fit: Fit) -> Proposal:
    return Proposal(
        method="dynamo-compile-dynamic",
        knob="compile.dynamic=true",
        how="torch.compile(model, dynamic=True), or dynamic=None (the default); else pad to a few lengths",
        basis="the time of compiling anew; code for any shape runs a little slower than code for one",
        effort=Effort.SWITCH,
        estimate=case.remaining(0.005, 0.01, 0.9),
        fit=fit,
    )


def _limit(case: Case, fit: Fit) -> Proposal:
    return Proposal(
        method="dynamo-recompile-limit",
        how=f"torch._dynamo.config.recompile_limit = {SHAPES_LIMIT}  # cache_size_limit before PyTorch 2.6",
        basis="once each shape has been compiled, nothing is compiled any more; up to then, as now",
        effort=Effort.LINES,
        estimate=case.remaining(0.0, 0.5, 1.0),
        fit=fit,
    )


def _guards(case: Case) -> Proposal:
    return Proposal(
        method="dynamo-recompile-limit",
        how="TORCH_LOGS=recompiles names the guards that fail: pass numbers that change as tensors, "
        f"keep flags fixed; only for finitely many versions: torch._dynamo.config.recompile_limit = {SHAPES_LIMIT}",
        basis="once no guard fails any more, nothing is compiled anew; at worst as now",
        effort=Effort.LINES,
        estimate=case.remaining(0.0, 0.3, 1.0),
        fit=Fit.CAUSE,
    )


def _cache(fit: Fit) -> Proposal:
    return Proposal(
        method="compile-cache",
        how="TORCHINDUCTOR_CACHE_DIR on a disk that stays; torch.compiler.save_cache_artifacts() at the end",
        basis="the next start compiles little; this one is not changed",
        effort=Effort.LINES,
        fit=fit,
    )


def _regional(case: Case, fit: Fit) -> Proposal:
    return Proposal(
        method="regional-compilation",
        knob="compile.regional=true",
        how="for block in model.layers: block.compile()  # instead of torch.compile(model)",
        basis="one repeated block is compiled in place of all of them",
        effort=Effort.SWITCH,
        estimate=case.remaining(0.1, 0.4, 1.0),
        fit=fit,
    )


def no_graph_breaks(case: Case) -> Proposal:
    """A compiled model in one piece."""
    return Proposal(
        method="no-graph-breaks",
        how="TORCH_LOGS=graph_breaks names the lines; mend them, then torch.compile(model, fullgraph=True)",
        basis="the launch time of a model in pieces, most of which goes when it is one graph",
        effort=Effort.LINES,
        estimate=case.what_if("launch_cost_removed", likely=0.6) or case.remaining(0.1, 0.4, 1.0),
        fit=Fit.CAUSE,
    )

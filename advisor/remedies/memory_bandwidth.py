"""Against kernels that read and write more than they compute: fewer passes over memory, in fewer bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ..predict.estimate import StepEstimate
from ..proposal import Case, Declined, Effort, Fit, Proposal
from .compute import channels_last
from .optimizer_step import propose as updates

#: Parts of these kernels' time that stay once they are fused: three passes over memory become one at best.
FUSED_REMAINS = (0.33, 0.6, 1.0)
HALVED_REMAINS = (0.5, 0.7, 1.0)
COMPLETE = frozenset({"dense-embedding-gradient"})


def propose(case: Case) -> Iterator[Proposal | Declined]:
    """By cause: layouts, an embedding's dense gradient; else fusing, then fewer bytes."""
    if case.cause == "dense-embedding-gradient":
        yield from updates(case)
        return
    if case.has("conv"):
        yield channels_last(case)
    if case.setup("model.compiled") is not True:
        yield _fused_by_compiler(case)
    if case.has("attention"):
        yield _fused_attention(case)
    if case.has("large-vocab"):
        yield _fused_loss(case)
    yield from _half(case)
    yield from _update(case)


def _fused_by_compiler(case: Case) -> Proposal:
    replayed = _halved_kernels(case)
    return Proposal(
        method="torch-compile-default",
        knob="compile.default=true",
        how="model = torch.compile(model)  # fuses chains of element-wise operators; the first steps compile",
        basis="replaying the trace with element-wise and norm kernels in half the time"
        if replayed
        else "the time of kernels that move memory, of which a third to all stays",
        effort=Effort.SWITCH,
        estimate=replayed or _of_fusable(case, FUSED_REMAINS),
        fit=Fit.CAUSE,
    )


def _of_fusable(case: Case, remains: tuple[float, float, float]) -> StepEstimate:
    """Looking rows up (embeddings, gathers) is neither fused nor halved; the rest of these kernels is."""
    fusable = case.kernel_share("elementwise", "normalization", "reduction")
    lookups = case.kernel_share("indexing")
    part = 1.0 if not fusable or lookups is None else fusable / (fusable + lookups)
    best, likely, worst = (1 - part * (1 - share) for share in remains)
    return case.remaining(best, likely, worst)


def _halved_kernels(case: Case) -> StepEstimate | None:
    """What halving the element-wise kernels brings; a compiler may do better or worse."""
    return case.what_if("elementwise_kernels_0_5", likely=0.8)


def _fused_attention(case: Case) -> Proposal:
    return Proposal(
        method="sdpa",
        how="torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=...) in place of softmax(q @ k.T) @ v",
        basis="attention's softmax and masks are part of these kernels; their part was not counted apart",
        effort=Effort.LINES,
        estimate=case.remaining(0.5, 0.8, 1.0),
    )


def _fused_loss(case: Case) -> Proposal:
    return Proposal(
        method="fused-linear-cross-entropy",
        how="LigerFusedLinearCrossEntropyLoss, or Apple's cut_cross_entropy: logits never lie in memory as a whole",
        basis="logits are written and read several times; their part was not counted apart",
        effort=Effort.LINES,
        estimate=case.remaining(0.6, 0.85, 1.0),
    )


def _half(case: Case) -> Iterator[Proposal]:
    if case.setup("precision") not in ("fp32", "tf32"):
        return
    yield Proposal(
        method="amp-bf16",
        knob="precision.autocast_bf16=true",
        how='with torch.autocast("cuda", dtype=torch.bfloat16): around forward and loss',
        basis="half the bytes of activations, where autocast keeps them in bf16 (norms and losses stay in fp32)",
        effort=Effort.SWITCH,
        estimate=_of_fusable(case, HALVED_REMAINS),
    )


def _update(case: Case) -> Iterator[Proposal]:
    part = case.kernel_share("optimizer")
    for proposal in updates(case):
        if proposal.method == "fused-optimizer" and part:
            yield Proposal(
                method=proposal.method,
                knob=proposal.knob,
                how=proposal.how,
                basis=f"the update's kernels are {part:.0%} of the traced kernel time".replace("%", " %"),
                effort=proposal.effort,
                estimate=case.remaining(max(1 - part, 0.0), max(1 - 0.3 * part, 0.0), 1.0),
            )

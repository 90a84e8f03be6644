"""Against a model that fills the step: the same work in a cheaper form; on a CPU, on all cores."""

from __future__ import annotations

from collections.abc import Iterator

from ...profiler.diagnosis.compute import RECOMPUTED
from ..predict.estimate import StepEstimate, stage_factor
from ..proposal import Case, Declined, Effort, Fit, Proposal
from .cpu_threads import propose as thread_counts
from .debugging import left_on

#: What a form of arithmetic gains on matrix work: at worst, likely, at best. From published steps and peak rates: TF32
#: 1.0 to 4, half precision 1.0 to 6 over FP32, and little where TF32 is on already.
TF32_FACTORS = (1.0, 1.5, 4.0)
HALF_FACTORS = (1.0, 2.0, 6.0)
HALF_OVER_TF32_FACTORS = (1.0, 1.3, 2.0)
#: cuDNN's search gained nothing to 2.4 times in public reports.
CUDNN_FACTORS = (1.0, 1.2, 2.4)
#: Channels-last gained 1.2 to 1.26 where layouts were converted around convolutions, and nothing where they were not.
CHANNELS_LAST_FACTORS = (0.95, 1.03, 1.25)
#: On CPUs oneDNN computes convolutions in its own blocks, and converts other layouts around each; whole steps of small
#: networks gained 1.2 to 2.1 times in our scenarios, 1.5 in the middle.
CPU_CHANNELS_LAST_FACTORS = (1.0, 2.25, 6.0)
CONVERTING_FACTORS = (1.0, 1.2, 1.3)
#: From this share of fast matrix units on, the number format is no longer the limit.
MOSTLY = 0.8
#: Below this step on a CPU, what a compiler fuses is smaller than what its guards and its minutes cost.
SHORT_CPU_STEP_S = 0.005
CPU_COMPILE_FACTORS = (0.9, 1.1, 1.5)


def propose(case: Case) -> Iterator[Proposal | Declined]:
    """What is left on by mistake; then number formats, libraries' choices and layouts, by what the kernels show."""
    yield from left_on(case)
    yield from _kept_activations(case)
    if case.setup("device.kind") == "cpu":
        yield from _on_cpu(case)
        return
    yield from _number_formats(case)
    if case.has("conv"):
        yield from _convolutions(case)
    if case.setup("model.compiled") is not True:
        yield _compile(case)


def _kept_activations(case: Case) -> Iterator[Proposal]:
    if case.cause != "needless-recomputation":
        return
    twice = case.evidence(RECOMPUTED)
    again_s = float(twice) / 1e3 if isinstance(twice, int | float) else 0.0
    yield Proposal(
        method="no-activation-checkpointing",
        how="call blocks directly, not through torch.utils.checkpoint (gradient_checkpointing=False): memory is free",
        basis="the measured time of computing activations again; keeping them takes some of it back",
        effort=Effort.LINES,
        estimate=StepEstimate(case.step_s - again_s, case.step_s - 0.9 * again_s, case.step_s),
        fit=Fit.CAUSE,
    )


def _on_cpu(case: Case) -> Iterator[Proposal | Declined]:
    yield from thread_counts(case)
    if case.has("conv"):
        yield channels_last(case)
    if case.step_s < SHORT_CPU_STEP_S:
        yield from short_cpu_step(case)
    elif case.setup("model.compiled") is not True:
        worst, likely, best = CPU_COMPILE_FACTORS
        yield Proposal(
            method="torch-compile-default",
            knob="compile.default=true",
            how="model = torch.compile(model)  # needs a C++ compiler; the first steps compile, for a minute or more",
            basis="on CPUs the element-wise part is fused and the rest stays: 0.9 to 1.5 times as fast",
            effort=Effort.SWITCH,
            estimate=stage_factor(case.step_s, case.exposed_s, best=best, likely=likely, worst=worst),
        )
    if case.setup("cpu.bf16") is not True:
        yield Declined(
            "amp-bf16", "this CPU is not known to have bf16 units, and without them bf16 is slower than fp32"
        )


def short_cpu_step(case: Case) -> Iterator[Declined]:
    """Why compiling is left out where a step on a CPU is short."""
    reason = f"a step takes {case.step_s * 1e3:.1f} ms on a CPU: compiling costs more than it saves"
    for name in ("torch-compile-default", "regional-compilation"):
        yield Declined(name, reason)


def matrix_s(case: Case) -> tuple[float, str]:
    """Seconds of the exposed time in matrix work, and how that is known."""
    share = case.kernel_share("matmul", "convolution", "attention")
    if share is None:
        return 0.7 * case.exposed_s, "matrix work taken as 70 % of the computing, for want of a trace"
    return share * case.exposed_s, f"matrix work is {share:.0%} of the traced kernel time".replace("%", " %")


def _matrix_faster(case: Case, factors: tuple[float, float, float]) -> StepEstimate:
    worst, likely, best = factors
    seconds, _ = matrix_s(case)
    return stage_factor(case.step_s, seconds, best=best, likely=likely, worst=worst)


def _number_formats(case: Case) -> Iterator[Proposal]:
    _, share = matrix_s(case)
    wide = Fit.CAUSE if case.cause == "full-precision" or case.setup("precision") == "fp32" else Fit.KIND
    yield Proposal(
        method="tf32",
        knob="precision.tf32=true",
        how='torch.set_float32_matmul_precision("high"); torch.backends.cudnn.allow_tf32 = True',
        basis=f"{share}; it runs 1 to 4 times as fast in TF32",
        effort=Effort.SWITCH,
        estimate=_matrix_faster(case, TF32_FACTORS),
        fit=wide,
    )
    over_tf32 = case.setup("precision") == "tf32" or case.setup("torch.matmul_precision") in (
        "high",
        "medium",
    )
    yield from _half(case, HALF_OVER_TF32_FACTORS if over_tf32 else HALF_FACTORS, share, wide)


def _half(case: Case, factors: tuple[float, float, float], share: str, fit: Fit) -> Iterator[Proposal]:
    basis = f"{share}; it runs {factors[0]:g} to {factors[2]:g} times as fast in half precision"
    yield Proposal(
        method="amp-bf16",
        knob="precision.autocast_bf16=true",
        how='with torch.autocast("cuda", dtype=torch.bfloat16): around forward and loss; no gradient scaler is needed',
        basis=basis,
        effort=Effort.SWITCH,
        estimate=_matrix_faster(case, factors),
        fit=fit,
    )
    if _version(case.setup("device.capability")) < (8, 0):
        yield Proposal(
            method="amp-fp16",
            knob="precision.autocast_fp16=true",
            how='with torch.autocast("cuda", dtype=torch.float16): around forward and loss; and torch.amp.GradScaler',
            basis=basis,
            effort=Effort.SWITCH,
            estimate=_matrix_faster(case, factors),
            fit=fit,
        )


def _version(capability: object) -> tuple[int, ...]:
    """A capability to compare; unknown is older than any."""
    parts = str(capability).split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


def _convolutions(case: Case) -> Iterator[Proposal | Declined]:
    worst, likely, best = CUDNN_FACTORS
    seconds = case.exposed_s * convolution_share(case)
    if case.setup("torch.cudnn_benchmark") is not True:
        yield Proposal(
            method="cudnn-benchmark",
            knob="cudnn.benchmark=true",
            how="torch.backends.cudnn.benchmark = True, since all batches have one shape",
            basis="the convolutions' part of the computing, 1 to 2.4 times as fast with the best of cuDNN's algorithms",
            effort=Effort.SWITCH,
            estimate=stage_factor(case.step_s, seconds, best=best, likely=likely, worst=worst),
            fit=Fit.CAUSE,
        )
    yield channels_last(case)


def convolution_share(case: Case) -> float:
    """Convolutions' part of the computing: as traced, or as usual; with attention they only cut pictures up."""
    traced = case.kernel_share("convolution")
    return traced if traced is not None else 0.1 if case.has("attention") else 0.7


def channels_last(case: Case) -> Proposal | Declined:
    """NHWC weights and inputs; worth something where layouts are converted now."""
    converting = case.cause == "layout-conversions"
    units = case.report.matrix_use.matrix_unit_share if case.report.matrix_use is not None else None
    if not converting and units is not None and units >= MOSTLY:
        told = f"{units:.0%} of the matrix work runs on tensor cores already".replace("%", " %")
        return Declined("channels-last", f"{told}, and no conversion of layouts was seen")
    on_cpu = case.setup("device.kind") == "cpu"
    usual = CPU_CHANNELS_LAST_FACTORS if on_cpu else CHANNELS_LAST_FACTORS
    worst, likely, best = CONVERTING_FACTORS if converting else usual
    part_s = case.exposed_s * (1.0 if converting else convolution_share(case))
    return Proposal(
        method="channels-last",
        knob="memory_format.channels_last=true",
        how="model.to(memory_format=torch.channels_last), and the same for each batch of images",
        basis=_why_channels_last(converting=converting, on_cpu=on_cpu),
        effort=Effort.SWITCH,
        estimate=stage_factor(case.step_s, part_s, best=best, likely=likely, worst=worst),
        fit=Fit.CAUSE if converting else Fit.KIND,
    )


def _why_channels_last(*, converting: bool, on_cpu: bool) -> str:
    if converting:
        return "kernels convert layouts around the convolutions now; public reports gained 1.2 to 1.26"
    if on_cpu:
        return "CPU libraries convert layouts around each convolution; steps of small networks gained 1.2 to 2.1 times"
    return "no conversion of layouts was seen, so the format may not be the limit; reports: nothing to 1.25"


def _compile(case: Case) -> Proposal:
    small = case.kernel_share("elementwise", "normalization", "reduction")
    share = 0.25 if small is None else small
    told = "taken as" if small is None else "traced as"
    return Proposal(
        method="torch-compile-default",
        knob="compile.default=true",
        how="model = torch.compile(model)  # the first steps compile, for a minute or more",
        basis=f"kernels that can be fused, {told} {share:.0%} of the computing, run 1 to 4 times as fast".replace(
            "%", " %"
        ),
        effort=Effort.SWITCH,
        estimate=stage_factor(case.step_s, share * case.exposed_s, best=4.0, likely=1.8, worst=0.9),
    )

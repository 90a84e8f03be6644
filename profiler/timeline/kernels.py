"""Classes of device kernels by name: what kind of work a kernel does, whether on matrix units, at which
precision.

Kernel names are all that a trace tells of a kernel; where a name does not say, the class is ``other`` and the
precision None. The patterns are tried in order, the first that matches wins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ..ingest.columns import DeviceKind, Trace
from .intervals import Intervals, covered_within


class KernelKind(str, Enum):
    """What a kernel does."""

    COMMUNICATION = "communication"
    COPY = "copy"
    ATTENTION = "attention"
    CONVOLUTION = "convolution"
    MATMUL = "matmul"
    OPTIMIZER = "optimizer"
    NORMALIZATION = "normalization"
    INDEXING = "indexing"
    REDUCTION = "reduction"
    ELEMENTWISE = "elementwise"
    OTHER = "other"

    def __str__(self) -> str:
        return str(self.value)


KINDS = tuple(KernelKind)

_PATTERNS: tuple[tuple[KernelKind, str], ...] = (
    (
        KernelKind.COMMUNICATION,
        r"nccl|rccl|msccl|oneccl|cross_device_reduce|multimem_|(one|two)_?shot_all_?reduce|nvshmem",
    ),
    (KernelKind.COPY, r"^memcpy|^memset|copybuffer|fillbuffer|^copy_device_to_device"),
    # The compiler names its kernels after all operators around them; what they are, the prefix tells.
    (KernelKind.ELEMENTWISE, r"^triton_(poi|for)_"),
    (KernelKind.REDUCTION, r"^triton_(red|per)_"),
    (
        KernelKind.ATTENTION,
        r"flash|fmha|attention|attn_(fwd|bwd)|_attn_|mem_?eff|sdpa|\bbwd_kernel_dk_dv|aiter::.*mha",
    ),
    (
        KernelKind.OPTIMIZER,
        r"adam|multi_tensor_apply|multitensor|fusedsgd|fused_sgd|adagrad|rmsprop|lamb_|adafactor|foreach.*(addcdiv|lerp)|optimizer",
    ),
    (
        KernelKind.NORMALIZATION,
        r"batch_?norm|layer_?norm|group_?norm|instance_?norm|rms_?norm|\bbn_(fw|bw)|bn_fw|bn_bw|norm_(fwd|bwd|forward|backward)|gammabeta|rowwisemoments|miopen.*bn|_native_layer_norm|cunn_bn",
    ),
    (
        KernelKind.CONVOLUTION,
        r"conv|wgrad|dgrad|fprop|winograd|implicit_gemm|cudnn.*engine|im2col|col2im|computeoffsetskernel|nchwtonhwc|nhwctonchw|igemm|cudnn.*(?:tr|tensor)ansform|sp3asm|miopengcn",
    ),
    (
        KernelKind.MATMUL,
        r"gemm|gemv|nvjet|cutlass|cijk_|_mm_|matmul|splitk|cublas|dot_kernel|wgmma|xmma|tensorop|ampere_.*_(nn|nt|tn|tt)|bmm|addmm",
    ),
    (
        KernelKind.INDEXING,
        r"index|gather|scatter|embedding|permute|cat(array|_)|sort|topk|unique|nonzero|where|masked|split|slice|jagged|segment|roll",
    ),
    (
        KernelKind.REDUCTION,
        r"reduce|softmax|_sum|norm_kernel|argmax|cumsum|scan|nll_loss|cross_?entropy|pool|mean|histogram",
    ),
    (
        KernelKind.ELEMENTWISE,
        r"elementwise|vectorized|unrolled|pointwise|dropout|gelu|relu|fill|distribution|arange|triu|tril|cast|copy|upsample|elementwise|activation|add_kernel|mul_kernel|range",
    ),
)
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)
"""For names in lower case, which are searched much faster than by patterns that ignore case."""

_COLLECTIVE = _COMPILED[0][1]

_MATRIX_UNITS = re.compile(
    r"[shid]\d{3,5}(gemm|cudnn|fprop|dgrad|wgrad)|h\d{4,5}|s1688|i\d{4,5}|hmma|imma|tensorop|wgmma|nvjet|xmma_(?!.*_simt)"
    r"|_MI\d+x\d+x|mfma|flash|fmha|tensor_?core|gmma",
    re.IGNORECASE,
)
_LAYOUT = re.compile(r"nchw\w*?to\w*?nhwc|nhwc\w*?to\w*?nchw", re.IGNORECASE)
_PRECISIONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("fp8", re.compile(r"fp8|e4m3|e5m2|f8f8", re.IGNORECASE)),
    ("int8", re.compile(r"int8|s8s8|imma|i8i8|_I8", re.IGNORECASE)),
    ("bf16", re.compile(r"bf16|bfloat16|_BBS_|_BSS_|_B_?B_", re.IGNORECASE)),
    ("fp16", re.compile(r"fp16|f16f16|half|h\d{4,5}|_HHS_|_HSS_|hgemm|hmma|\bs16816", re.IGNORECASE)),
    ("tf32", re.compile(r"tf32|s1688", re.IGNORECASE)),
    ("fp64", re.compile(r"double|dgemm|f64", re.IGNORECASE)),
    ("fp32", re.compile(r"float|sgemm|f32f32|fp32|_SSS_|_S_B_|scudnn", re.IGNORECASE)),
)


@lru_cache(maxsize=16384)
def kind_of(name: str) -> KernelKind:
    """The class of one kernel or copy by its name."""
    text = name[:512].lower()
    for kind, pattern in _COMPILED:
        if pattern.search(text):
            return kind
    return KernelKind.OTHER


def is_collective(name: str) -> bool:
    """Whether a kernel is a collective of NCCL, RCCL or the like, of any version."""
    return _COLLECTIVE.search(name[:512].lower()) is not None


def on_matrix_units(name: str) -> bool:
    """Whether the name says that the kernel runs on tensor or matrix cores."""
    return _MATRIX_UNITS.search(name[:512]) is not None


def converts_layout(name: str) -> bool:
    """Whether a kernel only turns images from NCHW to NHWC or back, as libraries do around convolutions."""
    return _LAYOUT.search(name[:512]) is not None


def precision_of(name: str) -> str | None:
    """The precision of a matrix kernel, where its name says so."""
    for precision, pattern in _PRECISIONS:
        if pattern.search(name[:512]):
            return precision
    return None


@dataclass(frozen=True)
class HotKernel:
    """The kernel that takes most time of its class; ``share`` is of all kernel time, 0 to 1."""

    name: str
    share: float


@dataclass(frozen=True)
class KernelTable:
    """Device work by class within windows. Shapes (classes,), aligned with ``kinds``; nanoseconds and counts.

    Times are summed over streams, so they may exceed the wall time. ``matrix_ns`` is the part of matmul,
    convolution and attention time on matrix units, ``precision_ns`` the same time by precision, as far as
    names say; ``layout_ns`` is the part that only converts images between NCHW and NHWC. ``hottest`` has the
    classes that took time.
    """

    kinds: tuple[KernelKind, ...]
    total_ns: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    matrix_ns: int
    matrix_capable_ns: int
    precision_ns: dict[str, int]
    layout_ns: int = 0
    hottest: Mapping[KernelKind, HotKernel] = field(default_factory=dict[KernelKind, HotKernel])

    @property
    def layout_share(self) -> float:
        """Share of kernels that convert layouts in all kernel time; 0 where there is no kernel time."""
        total = int(self.total_ns.sum())
        return self.layout_ns / total if total else 0.0

    def share(self, kind: KernelKind) -> float:
        """Share of a class in all kernel time; 0 where there is no kernel time."""
        total = int(self.total_ns.sum())
        return float(self.total_ns[self.kinds.index(kind)]) / total if total else 0.0


def device_kinds(trace: Trace) -> npt.NDArray[np.int64]:
    """For each row of the device table the place of its class in `KINDS`. Shape (device rows,).

    Copies and memsets are `KernelKind.COPY`; rows that occupy no engine get -1.
    """
    used = np.flatnonzero(np.bincount(trace.device.name[trace.device.kind == DeviceKind.KERNEL]))
    by_name = np.full(len(trace.names), KINDS.index(KernelKind.OTHER), dtype=np.int64)
    by_name[used] = [KINDS.index(kind_of(trace.names[name])) for name in used]
    kinds = by_name[trace.device.name] if len(trace.device) else np.zeros(0, dtype=np.int64)
    kinds[np.isin(trace.device.kind, [DeviceKind.MEMCPY, DeviceKind.MEMSET])] = KINDS.index(KernelKind.COPY)
    kinds[np.isin(trace.device.kind, [DeviceKind.SYNC, DeviceKind.ANNOTATION])] = -1
    return kinds


def kernel_table(trace: Trace, kinds: npt.NDArray[np.int64], window: Intervals) -> KernelTable:
    """Time and count by class of the device work within ``window``; ``kinds`` comes from `device_kinds`."""
    inside_ns = covered_within(window, trace.device.start_ns, trace.device.end_ns)
    rows = np.flatnonzero((kinds >= 0) & (inside_ns > 0))
    total_ns = np.bincount(kinds[rows], weights=inside_ns[rows], minlength=len(KINDS)).astype(np.int64)
    count = np.bincount(kinds[rows], minlength=len(KINDS)).astype(np.int64)
    capable = [KINDS.index(k) for k in (KernelKind.MATMUL, KernelKind.CONVOLUTION, KernelKind.ATTENTION)]
    heavy = rows[np.isin(kinds[rows], capable)]
    by_name = _time_by_name(trace, heavy, inside_ns)
    return KernelTable(
        kinds=KINDS,
        total_ns=total_ns,
        count=count,
        matrix_ns=sum(ns for name, ns in by_name if on_matrix_units(name)),
        matrix_capable_ns=sum(ns for _, ns in by_name),
        precision_ns=_by_precision(by_name),
        layout_ns=sum(ns for name, ns in by_name if converts_layout(name)),
        hottest=_hottest(trace, kinds, rows, inside_ns),
    )


def _hottest(
    trace: Trace, kinds: npt.NDArray[np.int64], rows: npt.NDArray[np.intp], inside_ns: npt.NDArray[np.int64]
) -> dict[KernelKind, HotKernel]:
    """By class, the name with most time; one name may lie in several classes, as its launches differ."""
    all_ns = max(int(inside_ns[rows].sum()), 1)
    found: dict[KernelKind, HotKernel] = {}
    for place in np.flatnonzero(np.bincount(kinds[rows])).tolist():
        by_name = _time_by_name(trace, rows[kinds[rows] == place], inside_ns)
        name, ns = max(by_name, key=lambda one: one[1])
        found[KINDS[place]] = HotKernel(name, ns / all_ns)
    return found


def _time_by_name(
    trace: Trace, rows: npt.NDArray[np.intp], inside_ns: npt.NDArray[np.int64]
) -> list[tuple[str, int]]:
    names, inverse = np.unique(trace.device.name[rows], return_inverse=True)
    sums = np.bincount(inverse, weights=inside_ns[rows], minlength=len(names))
    return [(trace.names[name], int(ns)) for name, ns in zip(names, sums, strict=True)]


def _by_precision(by_name: Sequence[tuple[str, int]]) -> dict[str, int]:
    split: dict[str, int] = {}
    for name, ns in by_name:
        precision = precision_of(name)
        if precision is not None:
            split[precision] = split.get(precision, 0) + ns
    return split

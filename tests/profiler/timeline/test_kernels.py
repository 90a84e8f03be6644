"""Kernel names of real devices and libraries, old and new, fall into their class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainrx.profiler.ingest.columns import Trace
from trainrx.profiler.timeline.intervals import one
from trainrx.profiler.timeline.kernels import (
    HotKernel,
    KernelKind,
    converts_layout,
    device_kinds,
    is_collective,
    kernel_table,
    kind_of,
    on_matrix_units,
    precision_of,
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "communication"),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "communication"),
        ("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "communication"),
        ("void vllm::cross_device_reduce_1stage<__half, 2>", "communication"),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", "matmul"),
        ("nvjet_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "matmul"),
        ("Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT128x128x64_MI16x16x1_SN", "matmul"),
        ("volta_sgemm_128x64_nn", "matmul"),
        ("void cutlass::Kernel<cutlass_80_tensorop_s16816gemm_f16_128x128>", "matmul"),
        ("void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, true>", "convolution"),
        ("void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>", "convolution"),
        ("void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128>>", "attention"),
        ("fmha_cutlassF_bf16_aligned_64x64_rf_sm80", "attention"),
        ("void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>", "normalization"),
        (
            "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>",
            "normalization",
        ),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>", "elementwise"),
        ("triton_poi_fused_add_mul_3", "elementwise"),
        ("triton_poi_fused_convolution_relu_0", "elementwise"),
        ("triton_for_fused_1", "elementwise"),
        ("triton_red_fused_sum_2", "reduction"),
        ("triton_per_fused_mm_gather_3", "reduction"),
        ("triton_tem_fused_mm_4", "matmul"),
        ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", "reduction"),
        ("void at::native::(anonymous namespace)::softmax_warp_forward<float>", "reduction"),
        (
            "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>",
            "optimizer",
        ),
        ("void at::native::indexSelectLargeIndex<float>", "indexing"),
        ("my_secret_kernel_17", "other"),
        ("", "other"),
    ],
)
def test_class_of_a_name(name: str, kind: str) -> None:
    assert kind_of(name) is KernelKind(kind)
    assert is_collective(name) == (kind == "communication")


def test_matrix_units_and_precision_are_told_by_names_only_where_they_tell() -> None:
    assert on_matrix_units("turing_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn")
    assert precision_of("turing_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn") == "fp16"
    assert precision_of("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n") == "tf32"
    assert not on_matrix_units("volta_sgemm_128x64_nn")
    assert precision_of("volta_sgemm_128x64_nn") == "fp32"
    assert precision_of("mystery") is None


@pytest.mark.parametrize(
    ("name", "converts"),
    [
        ("void cudnn::ops::nchwToNhwcKernel<__half, __half, float>", True),
        ("void nhwcToNchwKernel<__half, __half, float, true>", True),
        ("void cudnn::nchwToFoldedNhwcKernel<__half>", True),
        ("sm80_xmma_fprop_implicit_gemm_f16_nhwc", False),
    ],
)
def test_conversions_of_layout_are_told_by_name(name: str, converts: bool) -> None:
    assert converts_layout(name) is converts


def test_the_table_counts_only_what_lies_in_the_window(script: Any, read: Callable[..., Trace]) -> None:
    # GIVEN two kernels and a copy, of which the window cuts the second kernel in half
    script.device("kernel", "volta_sgemm_128x64_nn", 0, 10).device("kernel", "volta_sgemm_128x64_nn", 20, 40)
    trace = read(script.device("gpu_memcpy", "Memcpy DtoH", 50, 60).device("cuda_sync", "Stream Sync", 0, 60))
    # WHEN the first 30 microseconds are tabled
    table = kernel_table(trace, device_kinds(trace), one(0, 30_000))
    # THEN half of it counts, the copy does not, and what occupies no engine never does
    place = table.kinds.index(KernelKind.MATMUL)
    assert table.total_ns[place] == 20_000
    assert table.count[place] == 2
    assert int(table.total_ns.sum()) == 20_000
    assert table.matrix_capable_ns == 20_000
    assert table.matrix_ns == 0
    assert table.precision_ns == {"fp32": 20_000}
    assert table.share(KernelKind.MATMUL) == 1.0
    assert table.layout_share == 0.0


def test_the_table_names_the_hottest_kernel_of_each_class(script: Any, read: Callable[..., Trace]) -> None:
    # GIVEN a kernel that runs twice, a longer one that the window cuts, and one of another class
    script.device("kernel", "volta_sgemm_128x64_nn", 0, 10).device("kernel", "volta_sgemm_128x64_nn", 20, 30)
    script.device("kernel", "ampere_sgemm_32x32_tn", 35, 95)
    trace = read(script.device("kernel", "vectorized_elementwise_kernel", 30, 35))
    # WHEN the first 40 microseconds are tabled
    table = kernel_table(trace, device_kinds(trace), one(0, 40_000))
    # THEN time within the window decides
    assert table.hottest == {
        KernelKind.MATMUL: HotKernel("volta_sgemm_128x64_nn", 20 / 30),
        KernelKind.ELEMENTWISE: HotKernel("vectorized_elementwise_kernel", 5 / 30),
    }

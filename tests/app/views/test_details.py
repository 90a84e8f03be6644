"""The parts of a diagnosis that only some runs have: present where measured, left out or n/a where not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.app.views.details import details
from trainrx.app.views.device import device_bar, device_view
from trainrx.app.views.diagnosis import diagnosis_view
from trainrx.app.views.estimate import estimate_view
from trainrx.app.views.loader import loader_view
from trainrx.app.views.memory import memory_view
from trainrx.app.views.ranks import MAX_ROWS, rank_matrix
from trainrx.app.views.run_list import script_name
from trainrx.app.views.telemetry import telemetry_view
from trainrx.app.views.what_ifs import what_if_view
from trainrx.profiler.diagnosis.memory import PEAK, STEPS_LEFT
from trainrx.profiler.report import (
    ClockInfo,
    CollectiveUse,
    Crossing,
    DeviceShares,
    DeviceStageInfo,
    Fact,
    Finding,
    MemoryPart,
    MemoryUse,
    PinningReport,
    StageShare,
)
from trainrx.profiler.vocabulary import Call, ClockBasis, IdleCause, Stage


def test_a_plain_run_has_none_of_them(samples: Any) -> None:
    found = details(samples.full_report())
    assert set(vars(found).values()) == {None}


def test_a_traced_run_has_those_of_a_trace(samples: Any) -> None:
    found = details(samples.traced_report())
    assert {name for name, part in vars(found).items() if part is not None} == {
        "device", "what_ifs", "ranks", "memory",
    }  # fmt: skip


@given(
    shares=st.lists(st.floats(0, 1), min_size=4, max_size=4).filter(lambda xs: sum(xs) > 0.01),
    causes=st.lists(st.floats(0, 1), min_size=5, max_size=5).filter(lambda xs: sum(xs) > 0.01),
)
def test_the_device_bar_holds_every_instant_once(shares: list[float], causes: list[float]) -> None:
    compute, communication, copy, idle = (share / sum(shares) for share in shares)
    split = {cause: idle * part / sum(causes) for cause, part in zip(IdleCause, causes)}
    bar = device_bar(
        DeviceShares(
            busy_share=compute + communication + copy, compute_share=compute,
            exposed_communication_share=communication, exposed_copy_share=copy, idle_share=idle, idle_causes=split,
        )
    )  # fmt: skip
    assert sum(segment.share for segment in bar.uses) == pytest.approx(1)
    assert sum(segment.share for segment in bar.segments) == pytest.approx(1)


def test_the_device_view_names_kernels_precision_and_steps_by_rank(samples: Any) -> None:
    view = device_view(samples.traced_report())
    assert view is not None and view.bar is not None
    assert [segment.label for segment in view.bar.causes] == ["idle: data", "idle: launch"]
    assert [(row.name, row.percent, row.mean) for row in view.kernels] == [
        ("matmul", "75 %", "10.0 ms"),
        ("communication", "25 %", "20.0 ms"),
    ]
    assert "bf16 75 %, fp32 25 %" in " ".join(view.notes)
    assert [(steps.rank, steps.step) for steps in view.steps] == [(0, (4, 5)), (1, (4, 5))]
    for steps in view.steps:
        assert [sum(column) for column in zip(*(ms for _, ms in steps.segments_ms))] == pytest.approx(
            [100, 100]
        )


def test_kernels_without_a_device_view_say_why(samples: Any) -> None:
    view = device_view(samples.traced_report(device=None, device_reason="the trace has no host side"))
    assert view is not None
    assert (view.bar, view.bar_reason) == (None, "n/a: the trace has no host side")


def test_stages_by_the_gpus_clock_say_what_they_mean(samples: Any) -> None:
    by_device = DeviceStageInfo(
        steps=12,
        stages=[StageShare(name=Stage.BACKWARD, seconds_per_step=0.09, share=0.9)],
        between_s=0.01,
        between_share=0.1,
        lead_s=0.004,
    )
    view = details(samples.full_report(device_stages=by_device)).device_stages
    assert view is not None
    assert [(stage.stage, stage.time) for stage in view.stages] == [(Stage.BACKWARD, "90.0 ms")]
    assert "12 timed steps" in view.caption and "4.0 ms ahead" in view.caption and "10 %" in view.caption


def test_lines_that_cross_say_how(samples: Any) -> None:
    crossings = [
        Crossing(call=Call.ITEM, file="/u/train.py", line=9, function="main", calls_per_step=2, bytes_per_step=8,
                 seconds_per_step=0.02, samples=30),
        Crossing(call=Call.TO_DEVICE, file="/u/train.py", line=4, function="main", calls_per_step=1,
                 bytes_per_step=2**20, pinned=False, non_blocking=True),
    ]  # fmt: skip
    view = details(samples.full_report(crossings=crossings)).crossings
    assert view is not None and "counted in one step" in view.caption
    read, copied = view.rows
    assert (read.time, read.calls, read.size, read.memory) == ("20.0 ms", "2", "n/a", "n/a")
    assert (copied.time, copied.size, copied.memory) == ("n/a", "1.0 MiB", "pageable, non-blocking")


def test_memory_is_shared_out_to_its_uses(samples: Any) -> None:
    use = MemoryUse(
        on_device=True, peak_bytes=8 * 2**30, limit_bytes=80 * 2**30, reserved_peak_bytes=10 * 2**30, steps_left=500.0,
        parts=[MemoryPart(name="parameters", bytes=2 * 2**30), MemoryPart(name="rest", bytes=6 * 2**30, basis="derived")],
        largest_batch=96,
    )  # fmt: skip
    view = details(samples.full_report(memory_use=use)).memory_use
    assert view is not None and "80.0 GiB" in view.caption and "500 steps" not in view.caption
    growing = samples.finding().model_copy(update={"cause": "growing-memory"})
    grown = details(samples.full_report(memory_use=use, findings=[growing])).memory_use
    assert grown is not None and "500 steps" in grown.caption
    assert [part[2:] for part in view.parts] == [("25 %", "measured"), ("75 %", "derived")]
    assert dict(view.facts)["largest batch, predicted"] == "96"
    assert dict(view.facts)["reserved beyond that peak"].startswith("2")
    unknown = {"outside PyTorch", "allocation retries", "out of memory"}
    assert {dict(view.facts)[name] for name in unknown} == {"n/a"}
    alone = MemoryUse(on_device=False, peak_bytes=100)
    assert details(samples.full_report(memory_use=alone)).memory_use is None


@pytest.mark.parametrize("cause", ["growing-memory", "gc-disabled", "eval-without-no-grad"])
def test_the_forecast_of_a_memory_that_grows_is_told_whatever_makes_it_grow(samples: Any, cause: str) -> None:
    # GIVEN a process whose own limit is 9,000 steps away, and a finding that heeds what the machine has left
    use = MemoryUse(
        on_device=False, peak_bytes=2**30, limit_bytes=2**34, steps_left=9000.0,
        parts=[MemoryPart(name="parameters", bytes=2**30)],
    )  # fmt: skip
    known = [Fact(name=PEAK, value=2**30), Fact(name=STEPS_LEFT, value=700.4)]
    growing = samples.finding().model_copy(update={"cause": cause, "evidence": known})
    # WHEN it is shown THEN its memory says what the finding says
    assert "used up in 700 steps" in caption_of(samples, use, growing)
    # AND a finding on another memory, or one that is merely full, says nothing of it
    other = growing.model_copy(update={"evidence": [known[0].model_copy(update={"value": 5}), known[1]]})
    assert "steps" not in caption_of(samples, use, other)
    endless = other.model_copy(update={"cause": "growing-memory", "evidence": other.evidence[:1]})
    assert "steps" not in caption_of(samples, use, endless)
    full = growing.model_copy(update={"cause": "eval-without-no-grad", "evidence": known[:1]})
    assert "steps" not in caption_of(samples, use, full)


def caption_of(samples: Any, use: MemoryUse, found: Finding) -> str:
    view = details(samples.full_report(memory_use=use, findings=[found])).memory_use
    assert view is not None
    return view.caption


def test_what_ifs_come_best_first_and_what_brings_nothing_is_named(samples: Any) -> None:
    view = what_if_view(samples.traced_report())
    assert view is not None
    assert [(row.change, row.speedup) for row in view.rows] == [
        ("matmul kernels × 0.5", "1.67×"),
        ("data wait removed", "1.43×"),
    ]
    assert view.without_effect == ("launch cost removed",)
    assert "Nothing here was measured" in view.caption


def test_the_late_rank_is_named_with_what_it_costs(samples: Any) -> None:
    matrix = rank_matrix(samples.traced_report())
    assert matrix is not None
    assert matrix.late == (1,)
    assert "Rank 1 is late" in matrix.sentence
    assert "90 % of the steps" in matrix.sentence
    assert "9 of 10 matched collectives" in matrix.sentence
    # THEN its backward stands out, and nobody's missing stage does
    late = dict(zip(matrix.stages, matrix.cells[1]))
    assert late[Stage.BACKWARD].excess == max(cell.excess for cell in matrix.cells[1])
    assert late[Stage.DATA_WAIT].excess == 0


def test_no_late_rank_is_said(samples: Any) -> None:
    report = samples.traced_report(collectives=None)
    matrix = rank_matrix(report)
    assert matrix is not None
    assert (matrix.late, matrix.sentence) == ((), "No rank keeps the others waiting.")


def test_collectives_and_clocks_of_a_recorded_run_are_told(samples: Any) -> None:
    # GIVEN ranks on three clocks, and collectives of two kinds
    report = samples.traced_report()
    clocks = [
        ClockInfo(
            offset_s=-0.0123,
            uncertainty_s=0.0001,
            drift_ppm=-3.2,
            basis=ClockBasis.COLLECTIVES,
            collectives=300,
        ),
        ClockInfo(offset_s=2.5, basis=ClockBasis.WALL),
    ]
    ranks = [
        rank.model_copy(update={"clock": clock}) for rank, clock in zip(report.ranks, clocks, strict=True)
    ]
    uses = [
        CollectiveUse(operation="all_gather", calls_per_step=7, bytes_per_step=2**20, wait_s_per_step=0.004),
        CollectiveUse(operation="barrier", calls_per_step=0.5, wait_s_per_step=0.001),
    ]
    matrix = rank_matrix(report.model_copy(update={"ranks": ranks, "collective_uses": uses}))
    assert matrix is not None
    # THEN offsets come with their uncertainty, and what is not known is not 0
    assert matrix.clocks == (
        "rank 0's clock is 12.3 ms behind (± 100 µs, by 300 collectives, drifting -3.2 µs/s); "
        "rank 1's clock is 2.5 s ahead (known as well as the machines' wall clocks agree)"
    )
    assert [list(row.values()) for row in matrix.uses] == [
        ["all-gather", "7×", "1.0 MiB", "4.0 ms"],
        ["barrier", "0.5×", "n/a", "1.0 ms"],
    ]


def test_ranks_of_one_machine_say_nothing_of_clocks(samples: Any) -> None:
    report = samples.traced_report()
    same = ClockInfo(offset_s=0, uncertainty_s=0, basis=ClockBasis.SAME)
    ranks = [rank.model_copy(update={"clock": same}) for rank in report.ranks]
    matrix = rank_matrix(report.model_copy(update={"ranks": ranks}))
    assert matrix is not None and (matrix.clocks, matrix.uses) == ("", ())


def test_a_thousand_ranks_are_cut_to_the_slowest_and_the_late_one(samples: Any) -> None:
    report = samples.traced_report()
    fast, late = report.ranks
    many = [fast.model_copy(update={"rank": n}) for n in range(1000)]
    many[1] = late.model_copy(update={"stages": [late.stages[0]]})
    matrix = rank_matrix(report.model_copy(update={"ranks": many}))
    assert matrix is not None
    assert len(matrix.ranks) == MAX_ROWS
    assert "rank 1" in matrix.ranks
    assert matrix.left_out == 1000 - MAX_ROWS


def test_the_loader_splits_computing_from_waiting(samples: Any) -> None:
    view = loader_view(samples.full_report(loader=samples.loader()))
    assert view is not None
    assert [figure.value for figure in view.figures] == ["2 workers", "57.6 ms", "15 %", "75 %", "300.0 ms"]
    assert [row.name for row in view.costs] == ["Read", "one sample, all in all", "collating, per sample"]
    assert view.costs[0].place == "u/train.py:10"
    assert (view.costs[2].cpu_ms, view.costs[2].wait_ms) == pytest.approx((0.05, 0.05))
    assert view.workers[0]["busy"] == "96 %"
    # AND a batch that is pinned has a row for that, per sample as the others
    pinning = PinningReport(batches=40, wall_s=0.016, cpu_s=0.004, wait_share=0.5)
    pinned = loader_view(samples.full_report(loader=samples.loader(pinning=pinning)))
    assert pinned is not None and pinned.costs[-1].name == "pinning, per sample"
    assert pinned.costs[-1].wait_ms == pytest.approx(3 * pinned.costs[-1].cpu_ms)


def test_a_loader_without_workers_says_what_it_cannot_know(samples: Any) -> None:
    loader = samples.loader(num_workers=0, empty_share=None, start_s=None, core_wait_share=None)
    view = loader_view(samples.full_report(loader=loader))
    assert view is not None
    assert [figure.value for figure in view.figures] == ["none", "57.6 ms", "15 %", "n/a", "n/a"]


def test_memory_has_exact_peaks_and_says_what_it_does_not_see(samples: Any) -> None:
    view = memory_view(samples.traced_report())
    assert view is not None
    assert (view.peak_allocated, view.peak_reserved) == ("2.0 GiB", "3.0 GiB")
    assert "1.0 GiB of it was not in use at that peak" in view.caption
    unknown = samples.traced_report().memory.model_copy(
        update={"peak_reserved_bytes": None, "relative": True}
    )
    view = memory_view(samples.traced_report(memory=unknown))
    assert view is not None
    assert view.peak_reserved == "n/a: not told by the trace"
    assert "unknown level" in view.caption


def test_telemetry_has_units_gaps_and_reasons(samples: Any) -> None:
    view = telemetry_view(samples.full_report(telemetry=samples.telemetry()))
    assert view is not None
    assert [(one.name, one.unit, one.values) for one in view.series] == [
        ("cores busy", "cores", (1.0, None, 2.0)),
        ("rss", "MiB", (1.0, 2.0, 3.0)),
    ]
    assert dict(view.host)["swapped"] == "n/a"
    assert view.devices[0]["throttle reasons"] == "power 40 %"
    bare = samples.telemetry().model_copy(update={"devices": [], "devices_reason": "no NVML"})
    view = telemetry_view(samples.full_report(telemetry=bare))
    assert view is not None
    assert view.devices_reason == "n/a: no NVML"


def test_an_estimate_has_intervals_and_no_milliseconds(samples: Any) -> None:
    report = samples.attached_report()
    view = estimate_view(report)
    assert view is not None
    assert view.shares[0].text == "≈ 62 % (52 % to 71 %)"
    whole = diagnosis_view(report, samples.manifest("a"))
    assert whole.label == "high · data loading, estimated"
    assert whole.findings[0].cost == "60 % of the time"


def test_a_trace_is_called_by_its_name() -> None:
    assert script_name(["trainrx", "import", "/x/resnet50.pt.trace.json.gz"]) == "resnet50.pt.trace.json.gz"

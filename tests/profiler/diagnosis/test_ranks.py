"""Why ranks exchange or wait: from what they call, from their settings, from pauses that meet one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.diagnosis import communication, stragglers
from trainrx.profiler.timeline.lateness import Lateness, lateness
from trainrx.profiler.timeline.own_collectives import OwnCollectives
from trainrx.profiler.timeline.stages import STAGES, stage_times
from trainrx.profiler.timeline.steps import find_steps
from trainrx.profiler.vocabulary import Stage

STAGES_MS = {Stage.FORWARD: 5.0, Stage.BACKWARD: 5.0, Stage.COMMUNICATION: 10.0}
GPU = {"device.kind": "cuda", "optimizer.tensors": 100}
LOSSES = OwnCollectives(per_step=3.0, tiny_per_step=3.0, tiny_s=0.008)


@pytest.mark.parametrize(
    ("setup", "facts", "cause"),
    [
        ({}, {}, "gradient-exchange"),
        ({}, {"collectives": LOSSES}, "loss-allreduce-every-step"),
        # they are there, but take little of it
        ({}, {"collectives": OwnCollectives(3.0, 3.0, 0.001)}, "gradient-exchange"),
        ({}, {"collectives": LOSSES, "exchanges_per_step": 4.0}, "loss-allreduce-every-step"),
        ({}, {"exchanges_per_step": 4.0}, "accumulation-without-no-sync"),
        ({}, {"collectives": OwnCollectives(80.0, 40.0, 0.006)}, "per-parameter-collectives"),
        ({"model.sync_batchnorm": 20}, {"collectives": OwnCollectives(40.0, 30.0, 0.006)}, "sync-batchnorm"),
        ({"model.sync_batchnorm": 20}, {}, "gradient-exchange"),  # nothing was synchronised in training
        ({"env.torch_distributed_debug": "detail"}, {}, "distributed-debug"),
        ({"env.torch_distributed_debug": "info"}, {}, "gradient-exchange"),
        ({"env.nccl_p2p_disable": True}, {}, "slow-nccl-transport"),
        ({"env.nccl_p2p_disable": True, "device.kind": "cpu"}, {}, "gradient-exchange"),
        ({"env.nccl_ib_disable": False}, {}, "gradient-exchange"),
        ({"ddp.find_unused_parameters": True}, {}, "find-unused-parameters"),
    ],
)  # fmt: skip
def test_the_cause_of_an_exchange(observe, setup: dict[str, Any], facts: dict[str, Any], cause: str) -> None:
    found = communication.find(observe(STAGES_MS, setup={**GPU, **setup}, **facts))
    assert found is not None and found.cause == cause


def test_collectives_of_the_script_are_placed(observe, make_line) -> None:
    # GIVEN a backward that waits in data parallelism's own exchange for longer
    lines = (
        make_line(5, stage=Stage.COMMUNICATION, line=29),
        make_line(5, stage=Stage.BACKWARD, line=29),
        make_line(4, stage=Stage.COMMUNICATION, line=31),
    )
    found = communication.find(observe(STAGES_MS, setup=GPU, collectives=LOSSES, lines=lines))
    assert found is not None and found.where[0].line == 31 and "train.py:31" in found.summary


def taking_turns(pause_s: float, *, ranks: int = 4, steps: int = 40) -> Lateness:
    """Ranks of equal work of which each pauses in every fourth step, one after the other."""
    own = np.full((ranks, steps), 0.01)
    for step in range(steps):
        own[step % ranks, step] += pause_s
    stages_s = np.zeros((ranks, len(STAGES)))
    stages_s[:, STAGES.index(Stage.HOST)] = own.mean(axis=1)
    return Lateness(tuple(range(ranks)), own, own.max(axis=0) - own, stages_s)


@pytest.mark.parametrize(
    ("pauses_s", "cause"),
    [(0.002, "gc-pauses"), (0.0001, "uneven-work"), (0.0, "uneven-work")],
)
def test_pauses_in_turn_are_told_from_uneven_work(observe, pauses_s: float, cause: str) -> None:
    # GIVEN ranks that are late in turn by 8 ms, once in four steps each
    late = taking_turns(0.008)
    # WHEN their collectors explain that, or do not
    seen = observe(STAGES_MS, lateness=late, garbage_by_rank=dict.fromkeys(range(4), pauses_s))
    found = stragglers.find(seen)
    # THEN the cause says so
    assert found is not None and found.cause == cause
    assert found.ms_per_step == pytest.approx(6.0)


MS = 1_000_000


def replicated(make_recording: Any, *, wait_ms: int, forward_ms: int, own_ms: int) -> Any:
    """Ten steps of 100 ms of a rank whose backward ends at 95 ms, when the gradients of all ranks are averaged."""
    spans = []
    for start in range(0, 1000 * MS, 100 * MS):
        loaded, computed = start + wait_ms * MS, start + (wait_ms + forward_ms) * MS
        ready = computed + own_ms * MS
        spans += [
            (layout.STEP, start, start + 100 * MS, 1),
            (layout.DATA_WAIT, start, loaded, 1),
            (layout.FORWARD, loaded, computed, 0),
            (layout.GRADIENTS_READY, ready, ready, 1),
            (layout.BACKWARD, computed, start + 95 * MS, 0),
        ]
    return make_recording(spans)


USUAL = {"wait_ms": 5, "forward_ms": 10, "own_ms": 20}


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize(
    ("slow", "cause", "stage"),
    [
        ({"wait_ms": 55}, "slow-data-loading", "data wait"),
        ({"forward_ms": 60}, "slow-forward", "forward"),
        ({"own_ms": 70}, "slow-backward", "backward"),
    ],
)
def test_the_late_rank_and_what_makes_it_late_are_named(
    make_recording: Any, observe: Any, ranks: int, late: int, slow: dict[str, int], cause: str, stage: str
) -> None:
    # GIVEN recordings of ranks that all take 100 ms a step, of which one works 50 ms longer and waits as much less
    recordings = [
        replicated(make_recording, **{**USUAL, **(slow if rank == late else {})}) for rank in range(ranks)
    ]
    steps = [find_steps(recording, warmup=0) for recording in recordings]
    assert len({float(found.duration_s.mean()) for found in steps}) == 1
    # WHEN the ranks are compared
    stages = [stage_times(recording, found) for recording, found in zip(recordings, steps)]
    compared = lateness(list(zip(range(ranks), steps, stages)))
    # THEN that rank is the last one in every step
    assert compared is not None
    assert compared.last_share == {rank: float(rank == late) for rank in range(ranks)}
    # AND the finding names it, its stage, and what the others wait for
    found = stragglers.find(observe(STAGES_MS, lateness=compared))
    assert found is not None and found.cause == cause
    assert [where.rank for where in found.where] == [late]
    assert found.ms_per_step == pytest.approx(50.0)
    assert f"Rank {late} keeps" in found.summary and f"its {stage} takes 50" in found.summary


def test_a_slow_backward_is_not_seen_without_the_moment_its_gradients_were_ready(
    make_recording: Any, observe: Any
) -> None:
    recordings = [replicated(make_recording, **{**USUAL, "own_ms": own_ms}) for own_ms in (20, 70)]
    for recording in recordings:
        recording.spans[recording.spans[:, 0] == layout.GRADIENTS_READY, 3] = 0  # within ``no_sync``
    steps = [find_steps(recording, warmup=0) for recording in recordings]
    stages = [stage_times(recording, found) for recording, found in zip(recordings, steps)]
    compared = lateness(list(zip((0, 1), steps, stages)))
    assert compared is not None and compared.excess_s(0) == compared.excess_s(1) == 0
    assert stragglers.find(observe(STAGES_MS, lateness=compared)) is None

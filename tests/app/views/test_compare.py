"""Two runs in words: faster, slower, or the rule that forbids a number."""

from __future__ import annotations

import re
from typing import Any

import pytest

from trainrx.app.stored import StoredRun
from trainrx.app.views.compare import compare_view, headline_tone
from trainrx.app.views.diagnosis import Tone
from trainrx.profiler.report import StageShare, StepTime
from trainrx.profiler.vocabulary import Stage


def run(samples: Any, *, scale: float = 1.0, **changes: Any) -> StoredRun:
    """The full run with all its times ``scale`` times as long."""
    time = StepTime(p50_s=0.1 * scale, p95_s=0.12 * scale, mean_s=0.1 * scale, n=40)
    stages = [
        StageShare(name=one.name, seconds_per_step=one.seconds_per_step * scale, share=one.share)
        for one in samples.stages()
    ]
    steps = samples.step_table(43)
    steps["duration_s"] *= scale * (1 + 0.01 * (steps["step"] % 5))
    report = samples.full_report("a", step_time=time, stages=stages, **changes)
    return StoredRun(samples.manifest("a"), report, steps)


def test_a_faster_second_run_reads_better(samples: Any) -> None:
    view = compare_view(run(samples), run(samples, scale=0.5))
    assert view.headline.startswith("The second run is 2.00× as fast per step (")
    assert headline_tone(view) == ("faster", Tone.HEALTHY)
    assert next((pair.stage, pair.change) for pair in view.stages) == (Stage.DATA_WAIT, "−30.0 ms")
    assert len(view.sides[0].steps_ms) == 40
    assert headline_tone(compare_view(run(samples), run(samples, scale=2))) == ("slower", Tone.PROBLEM)


def test_value_and_interval_of_a_slower_run_point_the_same_way(samples: Any) -> None:
    headline = compare_view(run(samples), run(samples, scale=2)).headline
    found = re.fullmatch(r"The second run takes a step 2\.00× as long \((.+)× to (.+)×\)\.", headline)
    assert found is not None
    assert float(found.group(1)) <= 2 <= float(found.group(2))


def test_the_same_run_gives_no_evidence(samples: Any) -> None:
    view = compare_view(run(samples), run(samples))
    assert headline_tone(view) == ("no evidence", Tone.UNKNOWN)
    assert view.settings == ()


def test_other_hardware_forbids_a_number(samples: Any) -> None:
    other = run(samples, scale=0.5, setup={"device.kind": "cuda", "torch.version": "2.13.0"})
    view = compare_view(run(samples), other)
    assert headline_tone(view) == ("no fair comparison", Tone.CONCERN)
    assert "same hardware" in view.headline
    assert any("device.kind: cpu against cuda" in rule for rule in view.serious)
    assert {"setting": "loader.num_workers", "first": "0", "second": "not told"} in view.settings


def test_a_run_without_steps_cannot_be_compared_and_says_why(samples: Any) -> None:
    empty = StoredRun(
        samples.manifest("b"),
        samples.full_report("b", step_time=None, step_time_reason="it crashed", stages=[]),
        None,
    )
    view = compare_view(run(samples), empty)
    assert "cannot be compared" in view.headline
    assert view.sides[1].step_time == "n/a: it crashed"
    assert view.sides[1].steps_ms == ()


@pytest.mark.parametrize("traced", [0, 1])
def test_a_device_that_only_one_run_has_is_missing_with_a_reason(samples: Any, traced: int) -> None:
    pair = [run(samples), run(samples, device=samples.device())]
    view = compare_view(*(pair if traced else pair[::-1]))
    assert view.sides[traced].device is not None
    assert view.sides[1 - traced].device_reason == "n/a: this run used no GPU"

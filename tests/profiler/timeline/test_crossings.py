"""Calls that cross between host and device, by line: counted in one step, and timed by samples."""

from __future__ import annotations

from typing import Any

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.recording import Frame
from trainrx.profiler.timeline.crossings import call_of, crossings, with_copies
from trainrx.profiler.timeline.stages import stage_times
from trainrx.profiler.timeline.steps import find_steps
from trainrx.profiler.vocabulary import Call, Stage

MS = 1_000_000
PROCESS = {"agent": "/agent", "library": "/lib/python3"}
TORCH = "/site-packages/torch/cuda/__init__.py"


def script(text: str, line: int = 7) -> Frame:
    return Frame("/u/train.py", line, "main", text)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("running += loss.item() * x.size(0)", Call.ITEM),
        ("values = loss.tolist()", Call.ITEM),
        ("total += float(loss)", Call.ITEM),
        ("pred = out.argmax(1).cpu().numpy()", Call.TO_HOST),
        ('x = x.to("cpu")', Call.TO_HOST),
        ("x, y = x.to(device, non_blocking=True), y.cuda()", Call.TO_DEVICE),
        ("rows = mask.nonzero()", Call.SHAPE),
        ("torch.cuda.synchronize()", Call.SYNCHRONIZE),
        ("if loss > best:", Call.CONDITION),
        ("if torch.isnan(loss).any():", Call.CONDITION),
        ("if os.path.exists(name):", None),
        ("loss.backward()", None),
        ("scale = float(table[key]) * compute(x)", None),
        ("", None),
    ],
)
def test_a_line_tells_what_it_waits_for(text: str, call: Call | None) -> None:
    found = call_of([script(text)], PROCESS)
    assert (None if found is None else found.call) is call


def test_a_function_of_torch_is_known_by_its_name_and_named_by_the_script() -> None:
    frames = [
        Frame("/agent/x.py", 1, "call"),
        Frame(TORCH, 900, "synchronize"),
        script("meter.update(out)", 12),
    ]
    found = call_of(frames, PROCESS)
    assert found is not None and (found.call, found.frame.line, found.user_code) == (
        Call.SYNCHRONIZE,
        12,
        True,
    )
    library = Frame("/site-packages/lib/meter.py", 5, "update", "value = value.item()")
    found = call_of([library, script("meter.update(out)", 12)], PROCESS)
    assert found is not None and (found.call, found.frame.line) == (Call.ITEM, 12)


@pytest.mark.parametrize("text", ["if self.ready:", "assert int(size)", "size = int(size)"])
def test_a_condition_of_a_library_is_no_condition_on_a_tensor(text: str) -> None:
    library = Frame("/site-packages/torch/nn/modules/module.py", 5, "__call__", text)
    assert call_of([library, script("model(x)")], PROCESS) is None
    assert call_of([library], PROCESS) is None
    # nor is the agent's own frame in the way of the script's
    found = call_of([Frame("/agent/x.py", 1, "call"), script("if loss > best:")], PROCESS)
    assert found is not None and found.call is Call.CONDITION


def recorded(make_recording: Any, *, lines: dict[str, int], facts: dict[str, list[Any]] | None = None) -> Any:
    """Steps of 20 ms: 2 ms fetch, host time in which the lines get so many samples in all, 4 ms forward."""
    spans, samples = [], []
    stacks = {number: (script(text, 10 + number),) for number, text in enumerate(lines)}
    queue = [number for number, count in enumerate(lines.values()) for _ in range(count)]
    for step in range(20):
        start = step * 20 * MS
        spans += [
            (layout.STEP, start, start + 20 * MS, 1),
            (layout.DATA_WAIT, start, start + 2 * MS, 1),
            (layout.FORWARD, start + 16 * MS, start + 20 * MS, 0),
        ]
        if queue:
            samples.append((start + 5 * MS, queue.pop()))
    recording = make_recording(
        spans, samples=samples, stacks=stacks, facts={"process": [PROCESS], **(facts or {})}
    )
    steps = find_steps(recording, warmup=0)
    return recording, steps, stage_times(recording, steps)


def test_time_is_shared_out_and_counts_are_joined(make_recording: Any) -> None:
    counted = {
        "kind": "item", "bytes": 4, "count": 2, "frames": [["/u/train.py", 10, "main", "loss.item()"]],
    }  # fmt: skip
    copied = {
        "kind": "to-device", "bytes": 4096, "count": 1, "pinned": False, "non_blocking": False,
        "frames": [["/u/train.py", 3, "main", "x.to(device)"]],
    }  # fmt: skip
    recording, steps, stages = recorded(
        make_recording,
        lines={"loss.item()": 14, "work(x)": 6},
        facts={"crossings": [{"calls": [counted, copied, copied, {"kind": "?"}, 5]}]},
    )
    found = crossings(recording, steps, stages)
    assert [(one.call, one.line, one.calls_per_step, one.bytes_per_step) for one in found] == [
        (Call.ITEM, 10, 2, 4), (Call.TO_DEVICE, 3, 2, 8192),
    ]  # fmt: skip
    assert found[0].seconds_per_step is not None
    assert found[0].seconds_per_step * 1e3 == pytest.approx(14 * 14 / 20)
    assert found[1].seconds_per_step is None and found[1].pinned is False


def test_a_counted_call_takes_no_seconds_of_another_call_on_its_line(make_recording: Any) -> None:
    # GIVEN two counted calls on one line, of which the samples saw the second alone
    both = [
        {"kind": kind, "bytes": 4, "count": 1, "frames": [["/u/train.py", 10, "main", "x.to(d)[0].item()"]]}
        for kind in ("to-device", "item")
    ]
    recording, steps, stages = recorded(
        make_recording, lines={"loss.item()": 20}, facts={"crossings": [{"calls": both}]}
    )
    # THEN its time is its own
    assert [(one.call, one.seconds_per_step is None) for one in crossings(recording, steps, stages)] == [
        (Call.ITEM, False), (Call.TO_DEVICE, True),
    ]  # fmt: skip


def test_host_time_after_a_fetch_is_copying_where_the_samples_say_so(make_recording: Any) -> None:
    recording, steps, stages = recorded(make_recording, lines={"x = x.to(device)": 19, "y = 1": 1})
    copying = with_copies(recording, steps, stages).per_step(steps.timed)
    assert copying[Stage.H2D] * 1e3 == pytest.approx(14) and copying[Stage.HOST] == 0
    assert sum(copying.values()) == pytest.approx(sum(stages.per_step(steps.timed).values()))


@pytest.mark.parametrize(
    "lines", [{"x = x.to(device)": 3}, {"x = x.to(device)": 10, "time.sleep(1)": 10}, {"work(x)": 20}, {}]
)
def test_it_stays_host_time_otherwise(make_recording: Any, lines: dict[str, int]) -> None:
    recording, steps, stages = recorded(make_recording, lines=lines)
    assert with_copies(recording, steps, stages) is stages


def test_a_cast_within_the_model_is_no_copy(make_recording: Any) -> None:
    recording, steps, stages = recorded(make_recording, lines={"x = x.to(torch.bfloat16)": 20})
    recording.samples[:, 0] += 12 * MS  # now in the forward
    assert crossings(recording, steps, stages) == []


def test_damaged_facts_are_left_out(make_recording: Any) -> None:
    recording, steps, stages = recorded(
        make_recording, lines={}, facts={"crossings": [{"calls": [{"kind": "item", "frames": 3}, None, []]}]}
    )
    assert crossings(recording, steps, stages) == []

"""Native code below lines of Python, in words."""

from __future__ import annotations

from trainrx.app.views.native_code import native_view
from trainrx.profiler.report import NativeFunction, NativeLine, NativeStacks, Report, RunInfo
from trainrx.profiler.vocabulary import RunStatus


def test_rows_name_functions_and_where_they_lie() -> None:
    functions = [
        NativeFunction(name="inflate", library="libz.so.1", share=0.9),
        NativeFunction(name="Python itself", library="", share=0.06),
        NativeFunction(name="rare", library="libz.so.1", share=0.04),
    ]
    line = NativeLine(
        file="/home/u/train.py",
        line=12,
        function="decode",
        in_child=False,
        share=0.5,
        samples=50,
        functions=functions,
    )
    far = line.model_copy(update={"in_child": True, "functions": [functions[2]]})
    stacks = NativeStacks(rate_hz=20, samples=100, children=2, lines=[line, far])
    report = Report(
        run=RunInfo(id="a", command=["x"], status=RunStatus.FINISHED), verdict="v", native_stacks=stacks
    )
    view = native_view(report)
    assert view is not None
    first, second = view.rows
    assert (first.process, first.line, first.share) == ("training", "u/train.py:12 (decode)", "50 %")
    assert first.functions == "90 % inflate (libz.so.1), 6.0 % Python itself"
    assert second.process == "child" and second.functions == "4.0 % rare (libz.so.1)"
    assert (
        "100 samples of the training process and of its children (2), by py-spy, 20 a second" in view.caption
    )
    # AND how far the shares of so few samples may be off, as is not said of many
    assert "tell shares to about 15 points; more steps" in view.caption
    many = stacks.model_copy(update={"lines": [line.model_copy(update={"samples": 100}), far]})
    surer = native_view(report.model_copy(update={"native_stacks": many}))
    assert surer is not None and "points" not in surer.caption
    assert native_view(report.model_copy(update={"native_stacks": None})) is None

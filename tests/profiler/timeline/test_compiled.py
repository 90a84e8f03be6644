"""What the agent noted of compiling is read back, whatever else lies there."""

from __future__ import annotations

from trainrx.profiler.timeline.compiled import CompiledModel, compiled_model


def test_breaks_pieces_and_limit_are_read(make_recording) -> None:
    facts = {
        "graph_break": [{"file": "train.py", "line": 9, "function": "forward", "reason": "Call to print"}],
        "graph": [{"operations": 9, "compiled_pieces": 4}, {"operations": 9, "compiled_pieces": 6}],
        "recompile_limit": [{"limit": "recompile_limit"}],
        "recompilation": [
            {"file": "train.py", "line": 4, "function": "f", "reason": "k == 1.5"},
            {"reason": 7},
        ],
    }
    found = compiled_model(make_recording([], facts=facts))
    assert (found.pieces_per_backward, found.limit) == (5.0, "recompile_limit")
    assert [(str(one.where), one.reason) for one in found.recompilations] == [("train.py:4 in f", "k == 1.5")]
    assert str(found.breaks[0].where) == "train.py:9 in forward" and found.breaks[0].reason == "Call to print"


def test_nothing_and_damage_give_nothing(make_recording) -> None:
    assert compiled_model(make_recording([])) == CompiledModel()
    facts = {"graph": [{"operations": 9}, {"compiled_pieces": "x"}], "recompile_limit": [{"limit": 7}]}
    assert compiled_model(make_recording([], facts=facts)) == CompiledModel()

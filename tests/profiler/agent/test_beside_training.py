"""What the agent notes beside the stages: pauses with their place, compilations, memory, the text of lines."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.agent import memory
from trainrx.profiler.agent.sampler import describe_stack
from trainrx.profiler.recording import read_ranks
from trainrx.profiler.setup_facts import setup_facts
from trainrx.profiler.timeline.compiled import compiled_model

SCRIPT = """
    import gc
    import torch
    from torch import nn

    rows = [[row] for row in range(200_000)]
    model = nn.Linear(4, 1)
    compiled = torch.compile(model, backend="eager", dynamic=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(6):
        optimizer.zero_grad()
        compiled(torch.ones(step + 2, 4)).sum().backward()
        optimizer.step()
        gc.collect()
    print("done")
"""


def test_pauses_compilations_and_memory_are_noted(write_script, run_recorded) -> None:
    # GIVEN a script that collects garbage and compiles in each step
    output, folder = run_recorded(write_script(SCRIPT))
    assert output.stdout == "done\n"
    (rank,) = read_ranks(folder)
    # THEN each collection is a span with the place of the call
    places = {fact["number"]: fact["frames"] for fact in rank.facts["garbage_place"]}
    long = [span for span in rank.of_code(layout.GARBAGE) if span[3] >= layout.PLACE_UNIT]
    texts = {places[int(span[3]) // layout.PLACE_UNIT][0][-1] for span in long}
    assert "gc.collect()" in texts
    # AND each compilation is one
    assert len(rank.of_code(layout.COMPILATION)) >= 5
    # AND the graph's operations were counted
    assert all(fact["operations"] >= 1 for fact in rank.facts["graph"])
    assert rank.fault is None


SETTINGS = """
    import torch
    from torch import nn
    from torch.utils.checkpoint import checkpoint

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.head = nn.Embedding(1000, 4), nn.Linear(4, 1)

        def part(self, looked_up):
            print("", end="")
            torch._dynamo.graph_break()
            return looked_up + 1

        def forward(self, rows, number):
            return self.head(self.part(self.table(rows))) * number

    torch._dynamo.config.recompile_limit = 2
    torch._dynamo.config.automatic_dynamic_shapes = False
    torch._dynamo.config.specialize_int = True
    model = Model()
    compiled = torch.compile(model, backend="aot_eager", dynamic=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.autograd.set_detect_anomaly(True)
    for step in range(12):
        optimizer.zero_grad()
        compiled(torch.arange(32), step + 2).sum().backward()
        optimizer.step()
    block = nn.Linear(4, 4)
    for step in range(3):
        optimizer.zero_grad()
        checkpoint(block, torch.ones(2, 4), use_reentrant=False).sum().backward()
        optimizer.step()
    model.eval()
    model.part(torch.zeros(1, 4))
    nn.MSELoss()(block.eval()(torch.ones(2, 4)), torch.ones(2, 4))
    with torch.no_grad():
        block(torch.ones(2, 4))
"""


def test_broken_graphs_limits_and_switches_are_noted(write_script, run_recorded) -> None:
    # GIVEN a compiled model with a break in it, that is called with another number each time
    _, folder = run_recorded(write_script(SETTINGS))
    (rank,) = read_ranks(folder)
    assert rank.fault is None
    # THEN the break is placed in the script, the limit is told, and pieces of the model are counted
    compiled = compiled_model(rank)
    assert compiled.limit == "recompile_limit"
    assert {Path(one.where.file or "").name for one in compiled.breaks} == {"train.py"}
    # AND so is what made it compile anew, without the compiler's own numbers and the source behind it
    known = {(one.where.function, one.reason) for one in compiled.recompilations}
    assert any("number" in reason and "==" in reason for _, reason in known), known
    assert all("#" not in reason and "/" not in reason.partition(" ")[0] for _, reason in known)
    assert compiled.pieces_per_backward is not None and compiled.pieces_per_backward >= 2
    # AND what is computed again, and the sorts of forward
    assert len(rank.of_code(layout.RECOMPUTATION)) == 3
    sorts = [int(argument) for argument in rank.of_code(layout.FORWARD)[-3:, 3]]
    assert sorts == [layout.IN_EVALUATION_MODE, layout.OF_NO_PARTS, layout.WITHOUT_GRADIENTS]
    # AND so are switches and what the model looks up
    setup = setup_facts(rank)
    assert setup["torch.anomaly_mode"] is True and setup["torch.profiler"] is False
    assert setup["python.gc_enabled"] is True and setup["env.omp_num_threads"] == 1
    assert (setup["model.dense_embedding_rows"], setup["batch.index_values"]) == (1000, 32)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system has no /proc")
def test_memory_is_read_and_its_limit_known() -> None:
    used, limit = memory.used(), memory.limit()
    assert used["resident_bytes"] > 2**20
    assert limit["memory_limit_bytes"] > used["resident_bytes"] // 2
    assert limit["memory_counted"] in used


def test_the_first_frame_of_the_script_brings_its_text() -> None:
    frames = describe_stack(sys._getframe())
    assert frames[0][3] == "frames = describe_stack(sys._getframe())"
    assert all(len(frame) == 3 for frame in frames[1:])


def test_a_collection_that_no_python_asked_for_is_no_fault(write_script, run_plain) -> None:
    # GIVEN a process that records to its end, and whose last collection, with no Python above it, takes long
    script = """
        import threading, time
        from trainrx.profiler.agent.hooks import garbage

        class Recorder:
            thread, spans, folder = threading.get_ident(), [], None

            def fail(self, error):
                raise error

        class Slow:
            def __del__(self):
                time.sleep(0.002)

        garbage.install(None, Recorder)
        kept = [Slow()]
        kept.append(kept)
    """
    # WHEN it ends THEN nothing is printed
    done = run_plain(write_script(script))
    assert (done.stderr, done.exit_code) == ("", 0)

"""What holds for every program: the replay reproduces it, grows with durations and keeps within bounds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainrx.advisor.predict.building import build_graph
from trainrx.advisor.predict.graph import CAUSES
from trainrx.advisor.predict.replay import critical_edges, replay
from trainrx.advisor.predict.whatif import Replayer, kernels_scaled, standard_changes
from trainrx.profiler.timeline.kernels import KernelKind

KINDS = ("matmul", "elementwise", "communication", "copy")


@st.composite
def programs(draw, simulation, streams=(7, 20)):
    do = simulation.Do
    host, device = st.integers(1, 300), st.integers(1, 600)
    kind = st.sampled_from(KINDS)
    one = st.one_of(
        st.builds(do, st.just("op"), host, device, kind, st.sampled_from(streams)),
        st.builds(
            do, st.just("op"), host, device, st.just("copy"), st.sampled_from(streams), blocks=st.just(True)
        ),
        st.builds(do, st.just("host"), host),
        st.builds(do, st.just("load"), st.integers(1, 2000)),
        st.just(do("sync")),
        st.just(do("step")),
    )
    waits = st.builds(do, st.just("wait"), stream=st.sampled_from(streams), of=st.sampled_from(streams))
    return [do("op", 10, 10), *draw(st.lists(one | waits if len(streams) > 1 else one, max_size=60))]


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_the_unchanged_replay_is_never_later_than_measured_and_hardly_earlier(simulation, data):
    machine = simulation.run(data.draw(programs(simulation)))
    graph = build_graph(machine.trace())
    times = replay(graph, graph.weights())
    assert (times <= graph.time_ns + 0.5).all()
    assert times[graph.completion] == pytest.approx(machine.done_ns, rel=0.02)
    assert graph.measured_ns == machine.done_ns


@settings(max_examples=100, deadline=None)
@given(data=st.data(), factor=st.sampled_from([0.0, 0.25, 0.5, 0.9]), kind=st.sampled_from(KINDS[:2]))
def test_scaled_kernels_are_predicted_as_the_machine_runs_them(simulation, data, factor, kind):
    # GIVEN a run on one stream, whose every dependency the trace tells
    program = data.draw(programs(simulation, streams=(7,)))
    graph = build_graph(simulation.run(program).trace())
    predicted_s = (
        Replayer(graph).predict(kernels_scaled(KernelKind(kind), factor)).predicted_step_s * graph.steps
    )
    truth = simulation.run(simulation.scaled(program, kind, factor))
    # THEN the prediction is the truth, but for microseconds per call that blocks
    blocking = sum(one.what == "sync" or one.blocks for one in program) + 1
    assert abs(predicted_s - truth.done_ns * 1e-9) <= blocking * 6e-6 + 1e-6 * len(program)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_whatif_beats_its_bound(simulation, data):
    replayer = Replayer(build_graph(simulation.run(data.draw(programs(simulation))).trace()))
    measured_ns = replayer.graph.measured_ns
    for change in standard_changes():
        step = replayer.predict(change)
        assert 0 <= step.bound_step_s <= step.predicted_step_s + 1e-12
        assert step.bound_step_s <= step.measured_step_s + 1e-12
        # The bound is no clamp: the changed replay itself is no shorter than the untouched path.
        floor_ns = measured_ns * (1 - replayer.unexplained_share) - replayer.exposed_ns(change)
        assert replayer._completion_ns(change) >= floor_ns - 1e-3 * measured_ns - 1


@settings(max_examples=60, deadline=None)
@given(data=st.data(), cause=st.integers(0, CAUSES - 1))
def test_longer_times_never_make_the_replay_shorter(simulation, data, cause):
    graph = build_graph(simulation.run(data.draw(programs(simulation))).trace())
    ends = []
    for factor in (0.0, 0.5, 1.0, 2.0):
        factors = np.ones(CAUSES)
        factors[cause] = factor
        ends.append(replay(graph, graph.weights(factors)))
    for before, after in pairwise(ends):
        assert (before <= after + 1e-6).all()


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_critical_path_is_as_long_as_the_replay(simulation, data):
    graph = build_graph(simulation.run(data.draw(programs(simulation))).trace())
    weights = graph.weights()
    times = replay(graph, weights)
    assert weights[critical_edges(graph, weights, times)].sum() == pytest.approx(times[graph.completion])


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_edge_runs_forward(simulation, data):
    graph = build_graph(simulation.run(data.draw(programs(simulation))).trace())
    place = np.empty(len(graph.order), dtype=np.int64)
    place[graph.order] = np.arange(len(graph.order))
    assert (place[graph.source] < place[graph.target]).all()
    assert not graph.notes

"""The unchanged replay of recorded traces must reproduce the step that was measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trainrx.advisor.predict.building import build_graph
from trainrx.advisor.predict.ranks import build_ranks_graph
from trainrx.advisor.predict.whatif import Replayer, data_wait_removed, standard_changes
from trainrx.profiler.errors import InputError
from trainrx.profiler.ingest.columns import ABSENT, HostKind
from trainrx.profiler.ingest.kineto import read_kineto

FOLDER = Path(__file__).resolve().parents[3].parent / "shared" / "traces"
CLOSE, FAIR, MOST = 0.02, 0.05, 0.9

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"the recorded traces are not at {FOLDER}")


def read_or_none(path):
    try:
        return read_kineto(path)
    except InputError:
        return None


@pytest.fixture(scope="module")
def traces():
    found = {path.name: read_or_none(path) for path in sorted(FOLDER.rglob("*.json.gz"))}
    return {name: trace for name, trace in found.items() if trace is not None}


@pytest.fixture(scope="module")
def replayers(traces):
    return {name: Replayer(build_graph(trace)) for name, trace in traces.items()}


def has_operators_and_launches(trace):
    launches = trace.device.correlation[trace.device.correlation != ABSENT]
    return len(trace.host_rows(HostKind.OP)) > 0 and len(launches) > 0


def errors(replayer):
    return max(abs(replayer.host_unexplained_share), abs(replayer.unexplained_share))


def test_most_traces_are_reproduced_closely_and_all_fairly(traces, replayers):
    shares = {
        name: errors(replayers[name]) for name, trace in traces.items() if has_operators_and_launches(trace)
    }
    assert len(shares) > 30
    assert {name: share for name, share in shares.items() if share > FAIR} == {}
    assert sum(share <= CLOSE for share in shares.values()) >= MOST * len(shares)


def test_traces_without_operators_or_launches_are_replayed_too(traces, replayers):
    others = [name for name, trace in traces.items() if not has_operators_and_launches(trace)]
    assert others
    assert all(errors(replayers[name]) <= FAIR for name in others)


def test_no_whatif_beats_its_bound_on_any_trace(replayers):
    for replayer in replayers.values():
        for change in standard_changes():
            step = replayer.predict(change)
            assert 0 <= step.bound_step_s <= step.predicted_step_s <= step.measured_step_s * (1 + 1e-9)


def test_the_loader_of_resnet50_is_worth_what_four_workers_brought(replayers):
    # GIVEN the same script recorded with no loader worker and with four
    without, with_four = (
        replayers[f"resnet50_num_workers_{count}.worker0.old_schema.pt.trace.json.gz"] for count in (0, 4)
    )
    step = without.predict(data_wait_removed())
    measured = with_four.predict(data_wait_removed()).measured_step_s
    # THEN the step predicted without data wait is close to the one measured with workers
    assert step.predicted_step_s == pytest.approx(measured, rel=0.05)
    assert step.measured_step_s > 1.15 * measured


@pytest.mark.parametrize("pattern", ["Baseline-12-11-", "worker[0-7]_step_12"])
def test_eight_ranks_are_replayed_jointly(traces, pattern):
    ranks = [trace for name, trace in traces.items() if re.match(pattern, name)]
    assert len(ranks) == 8
    replayer = Replayer(build_ranks_graph(ranks))
    assert errors(replayer) <= CLOSE
    assert any("8 ranks meet in" in note for note in replayer.graph.notes)

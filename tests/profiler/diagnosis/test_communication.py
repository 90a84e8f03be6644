"""What the exchange between ranks is called: by what is exchanged, not by how many calls that takes."""

from types import SimpleNamespace

import pytest

from trainrx.profiler.diagnosis import communication
from trainrx.profiler.timeline.own_collectives import OwnCollectives
from trainrx.profiler.vocabulary import Stage

STAGES = {Stage.FORWARD: 10.0, Stage.BACKWARD: 20.0, Stage.COMMUNICATION: 30.0}


@pytest.mark.parametrize(
    ("setup", "cause", "says"),
    [
        ({"fsdp": True, "optimizer.tensors": 8}, "sharded-parameters", "Gathering sharded parameters"),
        ({"optimizer.tensors": 8}, "per-parameter-collectives", "Exchanging gradients"),
    ],
    ids=["sharded", "by hand"],
)
def test_the_collectives_of_sharding_are_not_taken_for_a_scripts_own(observe, setup, cause, says) -> None:
    # GIVEN as many collectives in a step as there are parameters
    finding = communication.find(observe(STAGES, setup=setup, collectives=OwnCollectives(per_step=12.0)))
    # THEN their cause is the sharding, where there is one
    assert finding is not None and finding.cause == cause
    assert finding.summary.startswith(says) and "12" in finding.summary


@pytest.mark.parametrize(
    ("tiny_s", "waited_ms", "says"),
    [(0.015, 30.0, "50 % of what a rank waits"), (0.04, 30.0, "100 %"), (0.0, 0.0, None)],
)
def test_tiny_collectives_are_a_share_of_what_a_rank_waits(observe, tiny_s, waited_ms, says) -> None:
    # GIVEN ranks of which the least waits 5 ms, while this one waits longer, or not at all
    seen = observe(
        {**STAGES, Stage.COMMUNICATION: waited_ms},
        setup={"optimizer.tensors": 80},
        collectives=OwnCollectives(per_step=2.0, tiny_per_step=2.0, tiny_s=tiny_s),
        lateness=SimpleNamespace(wire_s=0.005),
    )
    finding = communication.find(seen)
    # THEN the tiny ones are no more than all of it
    assert finding is not None
    assert (finding.cause == "loss-allreduce-every-step") == (says is not None)
    assert says is None or says in finding.summary

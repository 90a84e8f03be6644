"""What the exchange between ranks is called: by what is exchanged, not by how many calls that takes."""

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

import pytest

from trainrx.advisor.trial.knob_choice import choose, reasons_against
from trainrx.profiler.errors import UsageError


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["loader.num_workers"], "is not a valid KNOB=VALUE"),
        (["loader.num_workrs=2"], "did you mean loader.num_workers"),
        (["loader.num_workers=two"], "'two' is not a whole number; for example loader.num_workers=2"),
        (["optimizer.fused=true", "optimizer.fused=true"], "given twice"),
        (["=3"], "no knob called ''"),
        (["nonsense=1"], "--knobs"),
    ],
)
def test_what_cannot_be_meant_is_refused(words, message):
    with pytest.raises(UsageError) as refused:
        choose(words)
    assert message in str(refused.value)


def test_the_weakest_equivalence_counts():
    assert choose(["loader.num_workers=2"]).equivalence == "exact"
    assert choose(["loader.num_workers=2", "optimizer.fused=true"]).equivalence == "numerical"
    assert choose(["batch.size=2", "optimizer.fused=true"]).equivalence == "semantic"
    assert choose(["loader.num_workers=2"]).moves_randomness


def test_changes_of_the_same_choice_make_each_other_possible():
    # GIVEN a run without workers
    setup = {"loader.num_workers": 0, "device.kind": "cpu"}

    # THEN prefetching needs workers, which may come with it
    assert "no worker processes" in reasons_against(choose(["loader.prefetch_factor=4"]), setup)[0]
    assert reasons_against(choose(["loader.num_workers=2", "loader.prefetch_factor=4"]), setup) == []

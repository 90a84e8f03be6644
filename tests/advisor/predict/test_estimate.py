"""Speed-ups stay below their bound, whatever a remedy estimates."""

from hypothesis import given
from hypothesis import strategies as st

from trainrx.advisor.predict.estimate import Relief, StepEstimate, speedup

parts = st.floats(0, 1)


@given(exposed=parts, relief=parts, likely_part=parts, remains=st.lists(parts, min_size=3, max_size=3))
def test_no_number_passes_the_bound(exposed, relief, likely_part, remains):
    # GIVEN a step of one second, and any estimate of what a change leaves of its exposed part
    best, likely, worst = (1 - exposed + share * exposed for share in sorted(remains))
    spare = relief * (1 - exposed)

    # WHEN it is turned into a speed-up
    found = speedup(
        1.0, StepEstimate(best, likely, worst), exposed_s=exposed, relief=Relief(likely_part * spare, spare)
    )

    # THEN the numbers are in order and the bound is the step without what can go
    assert 1 - 1e-9 <= found.low <= found.mid <= found.high <= found.bound
    assert found.bound <= 1 / max(1 - exposed - spare, 1e-3) * (1 + 1e-9)


def test_the_rest_is_relieved_in_proportion():
    # GIVEN a step of 10 ms that waits 6 ms, whose rest takes 2 ms less in undisturbed steps
    relief = Relief(likely_s=0.002, best_s=0.002)

    # WHEN a change removes half of the waiting, or all of it
    half = speedup(0.010, StepEstimate(0.007, 0.007, 0.010), exposed_s=0.006, relief=relief)
    whole = speedup(0.010, StepEstimate(0.004, 0.004, 0.010), exposed_s=0.006, relief=relief)

    # THEN half of the relief comes with it, or all
    assert half.mid == 0.010 / 0.006
    assert whole.mid == whole.bound == 0.010 / 0.002
    assert whole.low == 1.0

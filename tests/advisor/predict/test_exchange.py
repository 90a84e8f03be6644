"""Fewer collectives save their latencies, not the bytes."""

import pytest

from trainrx.advisor.predict.exchange import MIB, Exchange, default_buckets


def test_latency_goes_and_bytes_stay():
    # GIVEN 50 collectives that move 10 MB in 110 ms, over a link of 1 GB/s
    exchange = Exchange(exposed_s=0.110, collectives=50, total_bytes=1e7, rate=1e9)

    # THEN one collective takes the bytes' 10 ms and one latency of 2 ms
    assert exchange.remaining(1) == pytest.approx(0.012 / 0.110)
    assert exchange.remaining(50) == pytest.approx(1.0)


def test_an_exchange_that_its_bytes_explain_stays():
    assert Exchange(exposed_s=0.010, collectives=50, total_bytes=1e8, rate=1e9).remaining(1) == 1.0
    assert Exchange(exposed_s=0.0, collectives=50, total_bytes=1e8, rate=1e9).remaining(1) == 1.0


@pytest.mark.parametrize(("size", "buckets"), [(0, 1), (MIB, 1), (2 * MIB, 2), (26 * MIB, 2), (27 * MIB, 3)])
def test_buckets_are_those_of_ddp(size, buckets):
    assert default_buckets(size) == buckets

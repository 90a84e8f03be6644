"""The catalog's words and the profiler's words are the same words."""

from trainrx.catalog import Bottleneck
from trainrx.catalog.vocabulary import Metric
from trainrx.profiler.vocabulary import Kind


def test_bottlenecks_are_the_profilers_kinds_and_sample_efficiency() -> None:
    assert {str(word) for word in Bottleneck} == {str(kind) for kind in Kind} | {"sample-efficiency"}


def test_every_metric_has_words() -> None:
    assert all(metric.label for metric in Metric)

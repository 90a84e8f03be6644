"""The throughput model promises workers only what cores and waiting leave them."""

from trainrx.advisor.predict.loading import LoadingModel


def model(**changes):
    costs = {
        "wall_s": 0.04,
        "cpu_s": 0.04,
        "training_s": 0.01,
        "training_cpu_s": 0.01,
        "cores": 8.0,
    } | changes
    return LoadingModel(**costs)


def test_computing_workers_are_bounded_by_the_cores():
    # GIVEN 40 ms of computing per batch on two cores that the training fills as well
    crowded = model(cores=2.0)

    # THEN no number of workers comes below the CPU seconds of a step on both cores
    assert min(crowded.step(workers).best_s for workers in range(1, 33)) >= 0.97 * 0.025


def test_waiting_workers_are_not():
    # GIVEN batches that only wait for storage
    waiting = model(cpu_s=0.0, cores=2.0)

    # THEN four workers keep pace with the training
    assert waiting.best_workers() in (3, 4)
    assert waiting.step(4).likely_s < 1.2 * waiting.training_s


def test_a_crowd_that_computes_is_slower_than_a_few():
    crowd = model(cores=2.0)
    assert crowd.step(16).likely_s > 1.1 * crowd.step(2).likely_s
    assert model(cpu_s=0.0, cores=2.0).step(16) == model(cpu_s=0.0, cores=2.0).step(8)


def test_cheaper_samples_shorten_the_step():
    assert model().cheaper_by(0.03, 0.03).step(1).likely_s < model().step(1).likely_s
    assert model().cheaper_by(1.0, 1.0).step(0).likely_s >= 0.01

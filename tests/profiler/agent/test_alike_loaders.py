"""Which loaders count as one: those told apart stay few, however many a script makes."""

from trainrx.profiler.agent.alike_loaders import MAX_ALIKE, MAX_SETTINGS, AlikeLoaders


def test_training_and_validation_data_of_the_same_settings_are_told_apart() -> None:
    # GIVEN two data sets that a script reads in turn by loaders of the same settings
    alike, settings = AlikeLoaders(), {"batch_size": 4}
    training, validation = [1], [2]
    # WHEN each is seen twice
    seen = [alike.told_apart(settings, data) for data in (training, validation, training, validation)]
    # THEN they are two loaders
    assert seen[0] == seen[2] != seen[1] == seen[3]
    assert seen[0] | {"dataset_key": None} == {"batch_size": 4, "dataset_key": None}


def test_data_sets_and_settings_without_end_make_few_loaders() -> None:
    alike = AlikeLoaders()
    kept = [[number] for number in range(1000)]
    fresh = {str(alike.told_apart({"batch_size": 4}, data)) for data in kept}
    growing = {str(alike.told_apart({"length": length}, kept[0])) for length in range(1000)}
    assert len(fresh) == MAX_ALIKE
    assert len(growing) <= MAX_SETTINGS

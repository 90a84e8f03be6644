"""Every knob keeps the rules of the registry, whichever it is."""

import pytest

from trainrx.catalog import load_catalog
from trainrx.profiler.agent import knobs

NAMES = knobs.names()
CPU_RUN = {
    "device.kind": "cpu", "world_size": 1, "torch.version": "2.13.0+cpu", "loader.num_workers": 0, "loader.kind": "map",
    "model.has": ["linear"],
}  # fmt: skip


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def test_there_are_the_knobs_that_were_promised():
    assert len(NAMES) >= 25
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_knob_tells_what_it_is(name):
    # GIVEN a knob found by its name
    knob = knobs.find(name)

    # THEN it says everything that people are shown
    assert name == knob.NAME
    assert knob.EQUIVALENCE in ("exact", "numerical", "semantic")
    assert knob.SUMMARY and knob.UNDO
    assert knobs.tolerance(knob) > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_knob_reads_its_example_and_writes_it_down(name):
    knob = knobs.find(name)
    assert knob.snippet(knob.parse(knob.EXAMPLE)).strip()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["", "no such value!", "-3"])
def test_a_knob_refuses_what_it_cannot_mean(name, text):
    with pytest.raises(ValueError) as refused:
        knobs.find(name).parse(text)
    assert repr(text)[1:-1] in str(refused.value) or text in str(refused.value)


@pytest.mark.parametrize("name", NAMES)
def test_unknown_facts_forbid_nothing(name):
    assert knobs.find(name).applies({}) is None


@pytest.mark.parametrize("name", NAMES)
def test_a_knob_of_the_catalog_has_the_catalog_s_equivalence(name, catalog):
    method = catalog.with_knob(name)
    if method is not None:
        assert method.equivalence.value == knobs.find(name).EQUIVALENCE


def test_knobs_that_a_cpu_run_cannot_take_say_why():
    # GIVEN a run on a CPU, in one process, without workers
    reasons = {name: knobs.find(name).applies(CPU_RUN) for name in NAMES}

    # THEN each of these says why it does not apply
    for name in NAMES:
        if name.startswith(("ddp.", "cudnn.", "allocator.", "copy.")):
            assert reasons[name], name
    assert "iterable" in knobs.find("loader.num_workers").applies({"loader.kind": "iterable"})
    assert "no worker" in reasons["loader.prefetch_factor"]
    assert "no conv" in reasons["memory_format.channels_last"]
    assert reasons["loader.num_workers"] is None


@pytest.mark.parametrize("name", ["no.such_knob", "", "../escape", "loader", "__init__", "os.path"])
def test_a_name_that_is_no_knob(name):
    with pytest.raises(KeyError):
        knobs.find(name)

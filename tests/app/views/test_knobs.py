"""The knobs that are offered: prescribed ones first with their value, then those that apply."""

from __future__ import annotations

from typing import Any

from trainrx.advisor.trial.knob_choice import choose, find_knob
from trainrx.app.views.knobs import knob_options


def test_prescribed_first_with_its_value(samples: Any) -> None:
    options = knob_options(samples.advised_report())
    assert (options[0].name, options[0].value, options[0].why) == ("loader.num_workers", "2", "prescribed")
    assert len({option.name for option in options}) == len(options)


def test_only_what_applies_is_offered_and_each_value_can_be_meant(samples: Any) -> None:
    report = samples.full_report(setup={"loader.num_workers": 0, "world_size": 1})
    options = knob_options(report)
    assert options
    for option in options:
        assert find_knob(option.name).applies(report.setup) is None
        assert choose([f"{option.name}={option.value}"])
    assert "ddp.bucket_cap_mb" not in {option.name for option in options}


def test_several_knobs_in_one_prescription_are_not_torn_apart(samples: Any) -> None:
    both = samples.prescription(knob="loader.num_workers=2 loader.prefetch_factor=4")
    options = knob_options(samples.advised_report(prescriptions=[both]))
    assert {option.why for option in options} == {"possible"}

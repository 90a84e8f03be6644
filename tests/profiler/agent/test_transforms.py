"""What the transforms of a data set take, each call counted once."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from trainrx.profiler.agent import transforms


def test_a_call_that_is_inherited_or_nested_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # GIVEN transforms of a class, of one that inherits its call, and of one that calls it twice
    class Noise:
        def __call__(self, value: int) -> int:
            time.sleep(0.002)
            return value + 1

    class LightNoise(Noise): ...

    class DoubleNoise(Noise):
        def __call__(self, value: int) -> int:
            return super().__call__(super().__call__(value))

    line = Noise.__call__.__code__.co_firstlineno
    monkeypatch.setattr(transforms, "_totals", {})
    monkeypatch.setattr(transforms, "_wrapped", set())
    pipeline = [Noise(), LightNoise(), DoubleNoise()]
    transforms.watch(SimpleNamespace(transform=pipeline))
    # WHEN each runs three times
    begun = time.perf_counter_ns()
    values = [transform(0) for transform in pipeline for _ in range(3)]
    passed = time.perf_counter_ns() - begun
    told: list[dict[str, Any]] = []
    transforms.tell(SimpleNamespace(fact=lambda _, **values: told.append(values)))  # type: ignore[arg-type]
    # THEN each has three calls, which together took no longer than all did
    assert values == [1, 1, 1, 1, 1, 1, 2, 2, 2]
    assert [total["calls"] for total in told] == [3, 3, 3]
    assert sum(total["wall_ns"] for total in told) <= passed
    # AND the inherited call's place is where the user wrote it
    assert (told[1]["file"], told[1]["line"]) == (__file__, line)


def test_what_hands_on_to_transforms_of_the_data_set_is_not_timed_beside_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # GIVEN a data set that holds its transforms one by one and in a wrapper, as torchvision's detection data sets do
    class Crop:
        def __call__(self, value: int) -> int:
            return value + 1

    class Flip(Crop): ...

    class Shift(Crop): ...

    class Compose:
        def __init__(self, transforms: list[Any]) -> None:
            self.transforms = transforms

        def __call__(self, value: int) -> int:
            for transform in self.transforms:
                value = transform(value)
            return value

    class StandardTransform:
        def __init__(self, transform: Any, target_transform: Any) -> None:
            self.transform, self.target_transform = transform, target_transform

        def __call__(self, value: int, target: int) -> tuple[int, int]:
            return self.transform(value), self.target_transform(target)

    # AND a wrapper whose member lies nowhere else
    class Sometimes(StandardTransform): ...

    transform, target = Compose([Crop(), Flip()]), Shift()
    both, own = StandardTransform(transform, target), Sometimes(Crop(), None)
    monkeypatch.setattr(transforms, "_totals", {})
    monkeypatch.setattr(transforms, "_wrapped", set())
    transforms.watch(
        SimpleNamespace(transforms=both, transform=transform, target_transform=target, augment=own)
    )
    # WHEN they run
    assert both(0, 0) == (2, 1)
    with pytest.raises(TypeError):
        own(0, 0)
    told: list[dict[str, Any]] = []
    transforms.tell(SimpleNamespace(fact=lambda _, **values: told.append(values)))  # type: ignore[arg-type]
    # THEN the members are timed, the wrapper of them all is not
    assert [total["name"].rpartition(".")[2] for total in told] == ["Crop", "Flip", "Shift", "Sometimes"]

"""A site that notes what a knob says and hands it modules at once."""

from collections.abc import Callable
from typing import Any

import pytest


class FakeSite:
    """Stands in for a knob's `Site`.

    Attributes:
        told: ``(event, detail)`` in order.
        modules: what `when_imported` hands out, by name.
        changes: what is to look at constructions.
        meets: what is to be called with each model.
    """

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.modules: dict[str, Any] = {}
        self.changes: list[Callable[..., None]] = []
        self.meets: list[Callable[[Any], None]] = []
        self.arounds: list[Callable[..., Any]] = []

    @property
    def events(self) -> list[str]:
        return [event for event, _ in self.told]

    def applied(self, detail: str) -> None:
        self.told.append(("applied", detail))

    def not_applied(self, reason: str) -> None:
        self.told.append(("not applied", reason))

    def when_imported(self, module: str, after: Callable[[Any], None]) -> None:
        if module in self.modules:
            after(self.modules[module])

    def on_construction(self, module: str, names: Any, change: Any, *, first: bool = False) -> None:
        self.changes.append(change)

    def on_model(self, meet: Callable[[Any], None]) -> None:
        self.meets.append(meet)

    def around_model(self, around: Callable[..., Any]) -> None:
        self.arounds.append(around)


@pytest.fixture
def site() -> Any:
    return FakeSite()

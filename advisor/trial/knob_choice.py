"""Reads the changes that people ask for (``loader.num_workers=2``) and checks them against the run.

It refuses what cannot be meant before anything is started.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...profiler.agent import knobs
from ...profiler.agent.knobs import Knob
from ...profiler.errors import UsageError


@dataclass(frozen=True)
class Choice:
    """Changes that are put on together.

    Attributes:
        texts: value as text by knob.
        values: value by knob.
    """

    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __bool__(self) -> bool:
        return bool(self.texts)

    def __str__(self) -> str:
        return " ".join(f"{name}={text}" for name, text in self.texts.items())

    @property
    def knobs(self) -> tuple[Knob, ...]:
        """The knobs themselves."""
        return tuple(knobs.find(name) for name in self.texts)

    @property
    def equivalence(self) -> str:
        """The weakest equivalence among them."""
        found = {knob.EQUIVALENCE for knob in self.knobs}
        return next((word for word in ("semantic", "numerical") if word in found), "exact")

    @property
    def is_ceiling(self) -> bool:
        """Whether one of them is no fix and only measures what one could bring."""
        return any(knobs.is_ceiling(knob) for knob in self.knobs)

    @property
    def tolerance(self) -> float:
        """The relative difference of losses that the rounding of all of them together explains."""
        return sum(knobs.tolerance(knob) for knob in self.knobs if knob.EQUIVALENCE == "numerical")

    @property
    def moves_randomness(self) -> bool:
        """Whether random numbers may be drawn in another order."""
        return any(knobs.moves_randomness(knob) for knob in self.knobs)

    def with_(self, other: Choice) -> Choice:
        """Both together; the other one's values win."""
        return Choice({**self.texts, **other.texts}, {**self.values, **other.values})


NOTHING = Choice()


def choose(words: Sequence[str]) -> Choice:
    """Read ``KNOB=VALUE`` words.

    Raises:
        UsageError: a word is none, a knob is unknown or given twice, or its value cannot be meant.
    """
    texts: dict[str, str] = {}
    values: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise UsageError(f"{word!r} is not a valid KNOB=VALUE: write it like loader.num_workers=2")
        if name in texts:
            raise UsageError(f"{name} is given twice: give it once")
        values[name] = _parse(find_knob(name), text)
        texts[name] = text
    return Choice(texts, values)


def reasons_against(choice: Choice, setup: Mapping[str, Any]) -> list[str]:
    """Why some of the changes do not apply to a run with this setup; empty if all may.

    Changes that others of the same choice bring are taken into the setup first.
    """
    with_changes = {**setup, **choice.values}
    return [
        f"{name} does not apply here: {reason}"
        for name in choice.texts
        if (reason := knobs.find(name).applies(_others(with_changes, setup, name))) is not None
    ]


def knob_names() -> tuple[str, ...]:
    """The names of all knobs."""
    return knobs.names()


def _others(with_changes: Mapping[str, Any], setup: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The setup with the other changes, and without this one's own."""
    own = {name: setup[name]} if name in setup else {}
    return {**{key: value for key, value in with_changes.items() if key != name}, **own}


def find_knob(name: str) -> Knob:
    """The knob of this name.

    Raises:
        UsageError: there is none; it names those that are written almost so.
    """
    try:
        return knobs.find(name)
    except KeyError:
        near = difflib.get_close_matches(name, knobs.names(), n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`trainrx try --knobs` lists them all"
        raise UsageError(f"there is no knob called {name!r}: {hint}") from None


def _parse(knob: Knob, text: str) -> Any:
    try:
        return knob.parse(text)
    except ValueError as error:
        raise UsageError(f"{knob.NAME}: {error}; for example {knob.NAME}={knob.EXAMPLE}") from None

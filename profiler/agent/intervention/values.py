"""Reads the values of knobs from text, with one clear sentence where that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_TRUE = ("true", "on", "yes", "1")
_FALSE = ("false", "off", "no", "0")
MAX_CORE = 4095


def flag(text: str) -> bool:
    """True or False.

    Raises:
        ValueError: it is neither.
    """
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError(f"{text!r} is neither true nor false")


def only_true(text: str) -> bool:
    """True, for a knob that can only be put on.

    Raises:
        ValueError: it is anything else.
    """
    if not flag(text):
        raise ValueError(f"{text!r}: this knob can only be put on, with the value true")
    return True


def whole_number(text: str, *, least: int = 0, most: int = 65536) -> int:
    """A whole number within bounds.

    Raises:
        ValueError: it is none, or lies outside.
    """
    try:
        number = int(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None
    if not least <= number <= most:
        raise ValueError(f"{number} is not between {least} and {most}")
    return number


def one_of(text: str, words: Sequence[str]) -> str:
    """One of a few words.

    Raises:
        ValueError: it is none of them.
    """
    word = text.strip().lower()
    if word not in words:
        raise ValueError(f"{text!r} is none of {', '.join(words)}")
    return word


def argument(name: str, value: Any) -> str:
    """An argument as it stands in a script."""
    return f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"


def cores(text: str) -> tuple[int, ...]:
    """A set of core numbers written like ``0-3,6``.

    Raises:
        ValueError: it is not written so.
    """
    chosen: set[int] = set()
    for part in text.split(","):
        first, _, last = (word.strip() for word in part.partition("-"))
        if not first.isdigit() or not (last or first).isdigit() or int(last or first) > MAX_CORE:
            raise ValueError(f"{text!r} names no cores: they are written like 0-3,6")
        chosen.update(range(int(first), int(last or first) + 1))
    if not chosen:
        raise ValueError(f"{text!r} names no cores: a range counts upwards, like 0-3")
    return tuple(sorted(chosen))

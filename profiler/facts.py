"""Reads single values out of the agent's facts, in which a damaged or foreign run folder may hold anything.

A value of another type than the one asked for counts as missing: None. Nothing here raises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Facts = Mapping[str, Any]
MAX_TEXT = 4096
MAX_ITEMS = 256
MAX_WHOLE = 2**63 - 1


def text(fact: Facts, key: str) -> str | None:
    """A text without control characters, cut to a sane length."""
    value = fact.get(key)
    return printable(value) if isinstance(value, str) else None


def texts(fact: Facts, key: str) -> list[str]:
    """The texts of a list; empty where there is no list."""
    value = fact.get(key)
    return (
        [printable(item) for item in value[:MAX_ITEMS] if isinstance(item, str)]
        if isinstance(value, list)
        else []
    )


def whole(fact: Facts, key: str) -> int | None:
    """A whole number that fits 64 bits."""
    value = fact.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if abs(value) <= MAX_WHOLE else None


def number(fact: Facts, key: str) -> float | None:
    """A finite number."""
    value = fact.get(key)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    found = whole(fact, key)
    return None if found is None else float(found)


def setting(fact: Facts, key: str) -> str | int | float | bool | None:
    """A single setting of any simple type."""
    value = fact.get(key)
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(fact, key)
    return whole(fact, key) if isinstance(value, int) else number(fact, key)


def printable(value: str) -> str:
    """A text that changes no terminal: control characters become question marks."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for character in value[:MAX_TEXT]
    )

"""Conditions over a setup, such as ``world_size > 1``.

Read into a small tree, answered true, false or unknown. Nothing is ever executed: the text is split at
blanks and every part is checked against `fields.SETUP_FIELDS`. Unknown means that the run did not tell, and
is never taken for false.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from enum import Enum

from packaging.version import InvalidVersion, Version

from .errors import PredicateError
from .fields import SETUP_FIELDS, FieldType, SetupField

MAX_LENGTH = 200
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


class Truth(Enum):
    """The answer to a condition."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"


class Op(str, Enum):
    """The comparisons."""

    EQ = "=="
    NE = "!="
    GE = ">="
    LE = "<="
    LT = "<"
    GT = ">"
    IN = "in"
    CONTAINS = "contains"


Value = str | float | bool | Version

_ORDERED = frozenset({Op.EQ, Op.NE, Op.GE, Op.LE, Op.LT, Op.GT})
_ALLOWED: Mapping[FieldType, frozenset[Op]] = {
    FieldType.WORD: frozenset({Op.EQ, Op.NE, Op.IN}),
    FieldType.WORDS: frozenset({Op.CONTAINS}),
    FieldType.NUMBER: _ORDERED | {Op.IN},
    FieldType.VERSION: _ORDERED,
    FieldType.FLAG: frozenset({Op.EQ, Op.NE}),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a condition says about a setup; ``reason`` is empty unless the answer is unknown."""

    truth: Truth
    predicate: Predicate
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Predicate:
    """``field op value``; ``operands`` has one value, or several for ``in``."""

    field: SetupField
    op: Op
    operands: tuple[Value, ...]
    text: str

    def __str__(self) -> str:
        return self.text

    def evaluate(self, setup: Mapping[str, object]) -> Answer:
        """Answer for a setup given as field name → value; a missing or unreadable value gives unknown."""
        raw = setup.get(self.field.name)
        if raw is None:
            return Answer(Truth.UNKNOWN, self, f"the run did not tell {self.field.name}")
        if self.field.type is FieldType.WORDS:
            return self._evaluate_words(raw)
        value = _setup_value(self.field, raw)
        if value is None:
            return Answer(Truth.UNKNOWN, self, _unreadable(self.field, raw))
        return Answer(_truth(_holds(self.op, value, self.operands)), self)

    def _evaluate_words(self, raw: object) -> Answer:
        words = _setup_words(raw)
        if words is None:
            return Answer(Truth.UNKNOWN, self, _unreadable(self.field, raw))
        return Answer(_truth(self.operands[0] in words), self)


def parse_predicate(text: str) -> Predicate:
    """Read ``field op value``.

    Raises:
        PredicateError: an unknown field, an operator that the field's type lacks, or a value of another type.
    """
    if len(text) > MAX_LENGTH:
        raise PredicateError(f"a condition has at most {MAX_LENGTH} characters, this one has {len(text)}")
    parts = text.split()
    if len(parts) != 3:
        raise PredicateError(f"'{text}' is not of the form 'field op value', such as 'world_size > 1'")
    field = _field(parts[0], text)
    op = _op(parts[1], field, text)
    words = parts[2].split("|") if op is Op.IN else [parts[2]]
    return Predicate(field, op, tuple(_operand(field, word, text) for word in words), " ".join(parts))


def _field(name: str, text: str) -> SetupField:
    if name not in SETUP_FIELDS:
        raise PredicateError(
            f"'{text}' asks for the unknown field '{name}'; known are {', '.join(SETUP_FIELDS)}"
        )
    return SETUP_FIELDS[name]


def _op(symbol: str, field: SetupField, text: str) -> Op:
    allowed = _ALLOWED[field.type]
    try:
        op = Op(symbol)
    except ValueError:
        op = None
    if op is None or op not in allowed:
        known = ", ".join(op.value for op in Op if op in allowed)
        raise PredicateError(
            f"'{text}': {field.name} is {field.type.value} and takes {known}, not '{symbol}'"
        )
    return op


def _operand(field: SetupField, word: str, text: str) -> Value:
    if field.words and word not in field.words:
        raise PredicateError(f"'{text}': {field.name} is one of {', '.join(field.words)}, not '{word}'")
    if _WORD.fullmatch(word) is None:
        raise PredicateError(f"'{text}': '{word}' is not a plain word, number or version")
    value = _from_text(field, word)
    if value is None:
        raise PredicateError(f"'{text}': '{word}' is not {field.type.value}")
    return value


def _from_text(field: SetupField, word: str) -> Value | None:
    match field.type:
        case FieldType.WORD | FieldType.WORDS:
            return word.lower()
        case FieldType.NUMBER:
            return _number(word)
        case FieldType.VERSION:
            return _version(word)
        case FieldType.FLAG:
            return {"true": True, "false": False}.get(word)


def _setup_value(field: SetupField, raw: object) -> Value | None:
    match field.type:
        case FieldType.WORD | FieldType.WORDS:
            return raw.lower() if isinstance(raw, str) and raw else None
        case FieldType.NUMBER:
            return _number(raw) if isinstance(raw, int | float) and not isinstance(raw, bool) else None
        case FieldType.VERSION:
            return _setup_version(raw)
        case FieldType.FLAG:
            return raw if isinstance(raw, bool) else None


def _setup_version(raw: object) -> Version | None:
    if isinstance(raw, tuple | list):
        return _version(".".join(str(part) for part in raw))
    if isinstance(raw, str | int | float) and not isinstance(raw, bool):
        return _version(str(raw))
    return None


def _setup_words(raw: object) -> frozenset[str] | None:
    if isinstance(raw, str):
        return frozenset({raw.lower()})
    if isinstance(raw, Set | list | tuple):
        return _lowered(raw)
    return None


def _lowered(raw: Iterable[object]) -> frozenset[str] | None:
    words = list(raw)
    if not all(isinstance(word, str) for word in words):
        return None
    return frozenset(str(word).lower() for word in words)


def _number(raw: str | float) -> float | None:
    try:
        value = float(raw)
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def _version(text: str) -> Version | None:
    """The version without local and pre-release parts: a nightly build of 2.6 has what 2.6 has."""
    try:
        return Version(Version(text).base_version)
    except InvalidVersion:
        return None


def _holds(op: Op, value: Value, operands: tuple[Value, ...]) -> bool:
    if op is Op.IN:
        return value in operands
    return _compared(op, _ordering(value, operands[0]))


def _ordering(value: Value, operand: Value) -> int:
    """−1, 0 or 1; both sides have the field's type, so any two of them can be compared."""
    if value == operand:
        return 0
    return -1 if value < operand else 1  # pyright: ignore[reportOperatorIssue]


def _compared(op: Op, order: int) -> bool:
    match op:
        case Op.EQ:
            return order == 0
        case Op.NE:
            return order != 0
        case Op.GE:
            return order >= 0
        case Op.LE:
            return order <= 0
        case Op.LT:
            return order < 0
        case Op.GT:
            return order > 0
        case Op.IN | Op.CONTAINS:
            raise AssertionError(f"{op.value} is answered before")


def _truth(holds: bool) -> Truth:
    return Truth.TRUE if holds else Truth.FALSE


def _unreadable(field: SetupField, raw: object) -> str:
    return f"{field.name} reads {str(raw)[:40]!r}, which is not {field.type.value}"


@dataclass(frozen=True, slots=True)
class Needs:
    """All conditions of a method together."""

    answers: tuple[Answer, ...]

    @property
    def truth(self) -> Truth:
        """False if one is false, else unknown if one is unknown, else true (also where there are none)."""
        truths = {answer.truth for answer in self.answers}
        if Truth.FALSE in truths:
            return Truth.FALSE
        return Truth.UNKNOWN if Truth.UNKNOWN in truths else Truth.TRUE

    @property
    def failed(self) -> tuple[Predicate, ...]:
        """The conditions that this setup does not meet."""
        return tuple(answer.predicate for answer in self.answers if answer.truth is Truth.FALSE)

    @property
    def unknown(self) -> tuple[Answer, ...]:
        """The conditions that the run did not tell enough for, with the reason."""
        return tuple(answer for answer in self.answers if answer.truth is Truth.UNKNOWN)


def evaluate_all(predicates: Iterable[Predicate], setup: Mapping[str, object]) -> Needs:
    """Answer every condition for a setup."""
    return Needs(tuple(predicate.evaluate(setup) for predicate in predicates))

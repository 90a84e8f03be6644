"""Numbers as people read them: the one place in the product where they become text.

Units are always written, a share that is not zero never reads 0 %, and what is missing reads ``n/a`` with its
reason. This module must not round anything that is computed with later.
"""

from __future__ import annotations

from datetime import datetime, timezone

from ...profiler.diagnosis.finding import percent as _percent_of_sentence
from ...profiler.diagnosis.finding import short_path
from ...profiler.report import Fact, Where

_PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
#: Names of kernels are whole C++ types; what a kernel does stands at the beginning.
KERNEL_CHARACTERS = 100
_BYTE_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def milliseconds(value_ms: float) -> str:
    """A time per step in ms: ``66.7 ms``, ``0.34 ms``, ``1,235 ms``; below 0.01 it reads ``<0.01 ms``."""
    if value_ms == 0:
        return "0 ms"
    if 0 < value_ms < 0.01:
        return "<0.01 ms"
    digits = 2 if value_ms < 1 else 1 if value_ms < 1000 else 0
    return f"{value_ms:,.{digits}f} ms"


def per_step(value_ms: float | None) -> str:
    """The time per step of a finding; an estimate from outside a run knows shares only."""
    return unavailable("no step was timed") if value_ms is None else milliseconds(value_ms)


def place(where: Where) -> str:
    """A place with its path cut to the last two parts and a kernel's name to its beginning; the report has all."""
    cut: dict[str, str] = {}
    if where.file is not None:
        cut["file"] = short_path(where.file)
    if where.kernel is not None and len(where.kernel) > KERNEL_CHARACTERS:
        cut["kernel"] = f"{where.kernel[: KERNEL_CHARACTERS - 1]}…"
    return str(where.model_copy(update=cut) if cut else where)


def duration(seconds: float) -> str:
    """A time in the unit that suits it: ``850 µs``, ``78.8 ms``, ``1.23 s``, ``2 min 5 s``."""
    if 0 < seconds < 1e-6:
        return "<1 µs"
    if 0 < seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return milliseconds(seconds * 1e3)
    if seconds < 100:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s"


def sign(difference: float) -> str:
    """What stands before the size of a difference: ``+``, ``−``, or ``±`` where there is none."""
    return "+" if difference > 0 else "−" if difference < 0 else "±"


def percent(share: float) -> str:
    """A share of 1 as in a verdict: ``73 %``, ``2.4 %``; what is more than nothing is at least ``<0.1 %``."""
    if share == 0:
        return "0 %"
    return "<0.1 %" if 0 < share < 0.0005 else _percent_of_sentence(share)


def times(ratio: float) -> str:
    """A ratio: ``2.10×``, ``16×``."""
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:,.0f}×"


def size(count_bytes: float) -> str:
    """An amount of memory or disk: ``3.4 MiB``."""
    unit = 0
    while count_bytes >= 1024 and unit < len(_BYTE_UNITS) - 1:
        count_bytes, unit = count_bytes / 1024, unit + 1
    return f"{count_bytes:.0f} {_BYTE_UNITS[unit]}" if unit == 0 else f"{count_bytes:.1f} {_BYTE_UNITS[unit]}"


def rate(per_second: float) -> str:
    """How many a second: ``12.7``, ``1,480``."""
    return f"{per_second:,.0f}" if per_second >= 100 else f"{per_second:.3g}"


def count(number: int, unit: str = "") -> str:
    """A number of things, with its unit in the right number: ``138,154``, ``1 step``, ``40 steps``."""
    if not unit:
        return f"{number:,}"
    return f"{number:,} {unit if number == 1 else unit + 's'}"


def large(number: float) -> str:
    """A number that may be large and need not be whole: ``12``, ``1,250``, ``3.4 million``, ``2.1e+12``."""
    size = abs(number)
    if size >= 1e12:
        return f"{number:.3g}"
    for limit, word in ((1e9, "billion"), (1e6, "million")):
        if size >= limit:
            return f"{number / limit:.3g} {word}"
    return f"{number:,.0f}" if size >= 100 else f"{number:.3g}"


def amount(number: float, unit: str) -> str:
    """A physical amount with a prefix that suits it: ``3.4 kJ``, ``1.2 EFLOP``."""
    place = 0
    while abs(number) >= 1000 and place < len(_PREFIXES) - 1:
        number, place = number / 1000, place + 1
    return f"{number:.3g} {_PREFIXES[place]}{unit}"


def moment(iso: str) -> str:
    """A time stamp in UTC to the minute; text that is no time stamp is shown as it is."""
    try:
        parsed = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    if parsed.tzinfo is not None:
        parsed = parsed.astimezone(timezone.utc)
    return f"{parsed:%Y-%m-%d %H:%M} UTC"


def unavailable(reason: str | None) -> str:
    """What stands where a number is missing."""
    return f"n/a: {reason}" if reason else "n/a: not recorded"


def fact(item: Fact) -> str:
    """The value of a fact with its unit."""
    value = item.value
    if isinstance(value, (bool, str)):
        return setting(value)
    match item.unit:
        case "ms":
            return milliseconds(value)
        case "s":
            return duration(value)
        case "×":
            return times(value)
        case "bytes":
            return size(value)
        case "µs":
            return duration(value * 1e-6)
        case "share":
            return percent(value)
        case "" if isinstance(value, float) and "share" in item.name:
            return percent(value)
        case unit:
            return f"{setting(value)} {unit}".rstrip()


def setting(value: object) -> str:
    """A value of the setup: ``yes``, ``no``, ``138,154``, its text, or its parts in a row."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return f"{value:,.4g}"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)

"""Makes text of unknown origin safe to stand in Markdown: nothing in it formats, links or draws."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>$:~^=&])")


def escaped(text: str) -> str:
    """The text with every character escaped that Markdown or Streamlit gives a meaning."""
    return _SPECIAL.sub(r"\\\1", text)


def with_code(sentence: str) -> str:
    """A sentence of our own in which what stands between backticks is code; the rest is escaped.

    Should a word of a run have brought backticks that Markdown would pair in another way, all of it is escaped.
    """
    parts = sentence.split("`")
    if len(parts) % 2 == 0 or "``" in sentence:
        return escaped(sentence)
    return "".join(f"`{part}`" if number % 2 else escaped(part) for number, part in enumerate(parts))

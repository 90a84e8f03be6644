"""Makes text of unknown origin safe to stand in Markdown: nothing in it formats, links or draws."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>$:~^=&])")


def escaped(text: str) -> str:
    """The text with every character escaped that Markdown or Streamlit gives a meaning."""
    return _SPECIAL.sub(r"\\\1", text)

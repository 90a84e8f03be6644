"""Text of a run where Streamlit expects Markdown: shown as it is, never taken for markup."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Escape what Markdown, maths and Streamlit's own directives would read as markup."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)

"""Plotly's script as a report carries it: packed, once, and named by its hash so that nothing else may run.

It comes with the installed Plotly; nothing is fetched, here or by the report.
"""

from __future__ import annotations

import gzip
from base64 import b64encode
from functools import cache
from hashlib import sha256


@cache
def packed() -> str:
    """The script as gzip in Base64: some 2 MB in place of 5."""
    return b64encode(gzip.compress(_source().encode(), compresslevel=9, mtime=0)).decode()


@cache
def fingerprint() -> str:
    """The unpacked script's name in a content security policy."""
    return source_hash(_source())


def source_hash(script: str) -> str:
    """A script's name in a content security policy, without quotes."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"


def _source() -> str:
    from plotly.offline import get_plotlyjs  # looks for notebooks, which takes a moment

    return get_plotlyjs()

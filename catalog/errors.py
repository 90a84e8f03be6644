"""What can be wrong with catalog data.

The catalog imports nothing of ours, so its errors have their own base. The command line and the dashboard
turn them into the product's one clear sentence.
"""

from __future__ import annotations


class CatalogError(ValueError):
    """A method file or folder cannot be used: names the file, the field and the reason."""

    def __init__(self, reason: str, *, file: str = "", field: str = "") -> None:
        self.reason = reason
        self.file = file
        self.field = field
        where = ": ".join(part for part in (file, f"field '{field}'" if field else "") if part)
        super().__init__(f"{where}: {reason}" if where else reason)

    def inside(self, file: str) -> CatalogError:
        """The same fault, with the file it was found in."""
        return CatalogError(self.reason, file=self.file or file, field=self.field)


class PredicateError(ValueError):
    """A predicate cannot be read: names the text and what was expected."""

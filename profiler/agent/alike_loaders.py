"""Tells loaders apart, within bounds: a script that builds its data anew in each epoch has one loader, not hundreds.

Each loader told apart has a number, a folder per worker and open files, so there may be only so many in a run. It holds
no data set, only what its address was.
"""

from __future__ import annotations

from typing import Any

#: Loaders of the same settings are told apart by their data sets up to this many, so training and validation data are.
MAX_ALIKE = 2
#: Settings beyond this many in a run count as the last ones.
MAX_SETTINGS = 16


class AlikeLoaders:
    """What was seen of the loaders of one run."""

    def __init__(self) -> None:
        self._datasets: dict[str, list[int]] = {}
        self._last: dict[str, Any] = {}

    def told_apart(self, settings: dict[str, Any], dataset: object) -> dict[str, Any]:
        """The settings with a ``dataset_key``, which is the same for what counts as the same loader."""
        key = repr(settings)
        if key not in self._datasets and len(self._datasets) >= MAX_SETTINGS:
            return self._last
        known = self._datasets.setdefault(key, [])
        if id(dataset) not in known and len(known) < MAX_ALIKE:
            known.append(id(dataset))
        number = known.index(id(dataset)) if id(dataset) in known else MAX_ALIKE - 1
        self._last = {**settings, "dataset_key": number}
        return self._last

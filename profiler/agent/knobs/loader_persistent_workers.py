"""``DataLoader(persistent_workers=…)``: workers live on from epoch to epoch."""

from __future__ import annotations

from ..intervention.loaders import loader_argument
from ..intervention.values import flag

NAME = "loader.persistent_workers"
EQUIVALENCE = "exact"
SUMMARY = "loader workers that live on from epoch to epoch"
EXAMPLE = "true"
UNDO = "take persistent_workers=True out again"
#: New workers are seeded anew in each epoch, those that live on are not.
MOVES_RANDOMNESS = True

parse = flag
applies, install, snippet = loader_argument("persistent_workers")

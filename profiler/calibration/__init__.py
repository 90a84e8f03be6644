"""What this machine can do at most: the ceilings that a run's own rates are held against.

Measured once by ``trainrx check --calibrate`` in a few seconds and kept in the user's cache, for this machine and
torch. What cannot be measured here is left out with its reason.
"""

from __future__ import annotations

from .ceilings import Ceilings, MatmulRate, Rate
from .kept import kept_ceilings, machine_key
from .measuring import calibrate

__all__ = ["Ceilings", "MatmulRate", "Rate", "calibrate", "kept_ceilings", "machine_key"]

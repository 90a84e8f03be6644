"""Estimates the stages of a training process already going on, from stacks sampled from outside by py-spy.

Nothing is loaded into the process and nothing of it is changed; it is paused for a moment at each sample. How long a
step takes cannot be known this way, so everything here is a share of time with an interval, never milliseconds.
"""

from __future__ import annotations

from .attaching import attach

__all__ = ["attach"]

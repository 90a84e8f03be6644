"""The interval of a share that was counted from samples taken one after another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BATCHES = 20
#: The 97.5 % quantile of Student's t with 19 degrees of freedom: the spread is itself estimated from 20 batches.
QUANTILE = 2.093


def share_interval(hits: NDArray[np.bool_]) -> tuple[float, float]:
    """A 95 % interval of the share of true values in ``hits``, shape (n,), which are ordered in time.

    Wilson's interval, with the number of samples divided by how much more the means of consecutive batches spread
    than those of independent samples would (Kish's design effect by the method of batch means): neighbouring samples
    of a long stage tell the same thing.
    """
    n = len(hits)
    if n == 0:
        return 0.0, 1.0
    share = float(hits.mean())
    return _wilson(share, n / _design_effect(hits, share))


def _design_effect(hits: NDArray[np.bool_], share: float) -> float:
    size = len(hits) // BATCHES
    spread = share * (1 - share)
    if size < 2 or spread <= 0:
        return 1.0
    means = hits[: size * BATCHES].reshape(BATCHES, size).mean(axis=1)
    return max(float(means.var(ddof=1)) * size / spread, 1.0)


def _wilson(share: float, n: float) -> tuple[float, float]:
    z = QUANTILE
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * float(np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)))
    return max(min(centre - half, share), 0.0), min(max(centre + half, share), 1.0)

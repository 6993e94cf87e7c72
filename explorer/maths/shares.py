"""The uncertainty of a share that was counted on few examples."""

from __future__ import annotations

import math

Z = 1.959964
"""95% of a normal variable lies within this many standard deviations."""


def wilson(share: float, count: int) -> tuple[float, float]:
    """Return the 95% interval of a share of `count` examples, both ends in [0, 1] (Wilson 1927).

    It stays inside [0, 1], and has a width at 0 and at 1 too.
    """
    middle = (share + Z * Z / (2 * count)) / (1 + Z * Z / count)
    reach = Z / (1 + Z * Z / count) * math.sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    return middle - reach, middle + reach

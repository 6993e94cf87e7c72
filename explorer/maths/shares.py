"""How sure a share is that was counted on few examples."""

from __future__ import annotations

import math

Z = 1.959964
"""Of a normal variable 95% lies within so many standard deviations."""


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95% interval of a share of `count` examples, both in [0, 1] (Wilson 1927).

    It stays inside, and has a width at 0 and at 1 too.
    """
    middle = (share + Z * Z / (2 * count)) / (1 + Z * Z / count)
    reach = Z / (1 + Z * Z / count) * math.sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    return middle - reach, middle + reach

"""How sure a measured number is, in plain values: intervals of a share that was counted on few examples, of the difference of
two settings over several seeds, and of the times of calls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

Z = 1.959964
"""95% of a normal variable lies within this many standard deviations."""


def wilson(share: float, count: int) -> tuple[float, float]:
    """Return the 95% interval of a share of `count` examples, both ends in [0, 1] (Wilson 1927).

    It stays inside [0, 1], and has a width at 0 and at 1 too.
    """
    middle = (share + Z * Z / (2 * count)) / (1 + Z * Z / count)
    reach = Z / (1 + Z * Z / count) * math.sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    return middle - reach, middle + reach


LEVEL = 0.95
DIGITS = 12
"""Decimals to which differences of scores are rounded before they are compared."""


@dataclass(frozen=True)
class PairedInterval:
    """The comparison. mean: of the differences, in the scores' unit. low, high: its confidence interval's ends. pairs:
    how many there are. p: two-sided, of the t-test that the interval belongs to; of equal differences, the sign test's.
    """

    mean: float
    low: float
    high: float
    pairs: int
    p: float

    @property
    def direction(self) -> int:
        """1 if the whole interval lies above 0, -1 if it lies below, 0 if no difference can be told from chance."""
        return (self.low > 0) - (self.high < 0)


def paired_interval(scores: Sequence[float], others: Sequence[float], level: float = LEVEL) -> PairedInterval:
    """Return Student's t interval of mean(scores - others), paired by index (Student 1908, "The Probable Error of a
    Mean").

    It takes the differences for draws from a normal distribution, one for each seed. Equal differences have no spread
    to judge by: both ends are then their mean. Raises ValueError for fewer than two pairs, lists of two lengths, a
    score that is not a finite number, or a level outside 0 to 1.
    """
    from scipy.special import stdtr, stdtrit

    if len(scores) != len(others) or len(scores) < 2:
        raise ValueError(f"an interval needs two pairs or more; got {len(scores)} scores and {len(others)} others")
    if not 0 < level < 1:
        raise ValueError(f"the level must be between 0 and 1; got {level}")
    # 0.9 − 0.8 and 0.92 − 0.82 differ in the last bit alone, which would be a spread to be sure by
    differences = [round(one - other, DIGITS) for one, other in zip(scores, others, strict=True)]
    if not all(math.isfinite(value) for value in differences):
        raise ValueError("every score must be a finite number")
    count, mean, error = len(differences), fmean(differences), stdev(differences) / math.sqrt(len(differences))
    half = float(stdtrit(count - 1, (1 + level) / 2)) * error
    without_spread = 2.0 ** (1 - count) if mean else 1.0  # the sign test: `count` coins that all fall alike
    p = 2 * float(stdtr(count - 1, -abs(mean) / error)) if error else without_spread
    return PairedInterval(mean, mean - half, mean + half, count, p)


@dataclass(frozen=True)
class Spent:
    """Milliseconds a call: the median, and the quartiles, between which half of the calls lie."""

    median: float
    low: float
    high: float


BUSY = 0.1
"""The spread from which a machine is called busy: a model then differs from itself by as much."""


def spread(times: Spent) -> float:
    """Return the distance between the quartiles, as a share of the median."""
    return (times.high - times.low) / times.median


def busy(times: Spent) -> bool:
    """Return whether the times of one and the same call vary too much for anything to be compared with them."""
    return spread(times) > BUSY


@dataclass(frozen=True)
class Ratio:
    """One call's time as a multiple of another's: the median over rounds in which both were timed, and its 95% interval."""

    median: float
    low: float
    high: float

    @property
    def differs(self) -> bool:
        """Whether the interval leaves out 1."""
        return self.low > 1 or self.high < 1

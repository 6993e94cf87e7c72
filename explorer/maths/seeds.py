"""Compares two settings over several seeds: the mean difference of paired scores, and its interval of confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

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

"""Times of calls, in plain values."""

from __future__ import annotations

from dataclasses import dataclass


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

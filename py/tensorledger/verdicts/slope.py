"""The least-squares slope of a series of readings, and how sure it is that a tolerance is exceeded.

The series is cut into BLOCKS blocks of equal length, each of which is reduced to its least reading: a reading is too
high, never too low, where an allocator counts as used what it has only set aside. (V8 does, 150 KB in every other
cycle.) The slope is that of the least-squares line through these. It is a weighted mean of the growth from block to
block, and its standard error comes from how much these growths differ. So a step, which is all in one of them, is never
sure to be a slope, however high it is; and neither is a walk that goes up and down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, linear_regression, median, stdev

BLOCKS = 10
FREEDOM = BLOCKS - 2
"""Degrees of freedom: one less than there are growths from block to block."""

_WEIGHTS = [6 * j * (BLOCKS - j) / (BLOCKS * (BLOCKS**2 - 1)) for j in range(1, BLOCKS)]
"""What each growth from block to block contributes to the least-squares slope; they add up to 1."""

_SPREAD = math.sqrt(sum(weight**2 for weight in _WEIGHTS))


@dataclass(frozen=True)
class Slope:
    """Growth per reading."""

    rate: float
    error: float
    """Its standard error."""
    middle: float
    """The middle one of the growths from block to block, which no step and no spike moves."""
    early: float
    late: float
    """The mean growth per reading in the first and in the last four ninths."""

    def exceeds(self, tolerance: float) -> float:
        """Return the chance of such a slope, or a steeper one, where the true one is the tolerance: small is sure."""
        return _upper_tail(self.rate - tolerance, self.error)

    def stays_below(self, tolerance: float) -> float:
        """Return the chance of such a slope, or a lower one, where the true one is the tolerance."""
        return _upper_tail(tolerance - self.rate, self.error)

    @property
    def steady(self) -> bool:
        """Whether the rate has not fallen by more than a third: what fills up, or warms up, slows down."""
        return self.late >= self.early * 2 / 3 and self.late > 0


def slope(values: Sequence[float]) -> Slope:
    """Return the slope of a series; of its readings, the first that do not fill a block are left out."""
    length = len(values) // BLOCKS
    if length < 1:
        raise ValueError(f"{len(values)} readings are fewer than {BLOCKS}")
    used = values[len(values) - length * BLOCKS :]
    floors = [min(used[start : start + length]) for start in range(0, len(used), length)]
    growths = [(later - earlier) / length for earlier, later in pairwise(floors)]
    return Slope(
        rate=linear_regression(range(BLOCKS), floors).slope / length,
        error=stdev(growths) * _SPREAD,
        middle=median(growths),
        early=fmean(growths[:4]),
        late=fmean(growths[-4:]),
    )


def _upper_tail(difference: float, error: float) -> float:
    """Return Student's upper tail; in closed form, which there is for an even number of degrees of freedom."""
    if error == 0:
        return 0.0 if difference > 0 else 1.0
    t = difference / error
    cosine = FREEDOM / (FREEDOM + t * t)
    total = term = 1.0
    for k in range(1, FREEDOM // 2):
        term *= cosine * (2 * k - 1) / (2 * k)
        total += term
    within = t / math.sqrt(FREEDOM + t * t) * total
    return max(0.0, (1 - within) / 2)

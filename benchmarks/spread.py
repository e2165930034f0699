"""Figures of figures: the middle of some and how far they lie apart, and with what power of a number a cost grows."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping

import msgspec

LINEAR = 1.1
"""The power of a number up to which a cost is said to grow linearly with it."""


class Spread(msgspec.Struct, frozen=True):
    """The median of some figures, their quartiles, and how many there are."""

    median: float
    low: float
    high: float
    runs: int


def spread(figures: Iterable[float]) -> Spread:
    """Return the median and the quartiles; of a single figure they are that figure."""
    found = list(figures)
    low, _, high = statistics.quantiles(found, n=4, method="inclusive") if len(found) > 1 else found * 3
    return Spread(statistics.median(found), low, high, len(found))


def ratios(way: Iterable[float], base: Iterable[float]) -> list[float]:
    """Return what each turn's figure is of the other way's in the same turn."""
    return [one / other for one, other in zip(way, base, strict=True)]


def exponent(costs: Mapping[int, float]) -> float | None:
    """Return the k of cost = a + b·nᵏ, from the three largest n, each the same times the one before.

    Whatever it costs to begin with, a, falls out. None where the costs do not grow measurably.
    """
    small, middle, large = sorted(costs)[-3:]
    first, second = costs[middle] - costs[small], costs[large] - costs[middle]
    return math.log(second / first) / math.log(large / middle) if first > 0 and second > 0 else None


def each(costs: Mapping[int, float]) -> float:
    """Return what one more costs, between the two largest numbers."""
    middle, large = sorted(costs)[-2:]
    return (costs[large] - costs[middle]) / (large - middle)

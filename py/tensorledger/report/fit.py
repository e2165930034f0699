"""A line through what is there after each cycle: how fast a level grows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import linear_regression

import msgspec

from tensorledger.results.result import CycleEnd
from tensorledger.verdicts.slope import BLOCKS, slope

EXACT = ("tensors", "bytes", "buffers")
STATISTICS = ("heap", "native")
LEVELS = (*EXACT, *STATISTICS)
"""What is told of every cycle's end."""


class Fit(msgspec.Struct, frozen=True):
    """Growth per cycle, as fitted."""

    rate: float
    error: float | None
    """Its standard error; null where there are too few cycles for one."""


def levels(series: Sequence[CycleEnd]) -> dict[str, list[float]]:
    """Return each level after each cycle, above the warm-up's end; those that were read throughout.

    Results from before 2026-12 tell only what each cycle left, which adds up to the level for exact counts alone.
    """
    found = {}
    for name in LEVELS:
        if all(end.above for end in series):
            values = [end.above.get(name) for end in series]
        elif name in EXACT:
            values = [*_sums([getattr(end, name) for end in series])]
        else:
            continue
        known = [value for value in values if value is not None]
        if known and len(known) == len(values):
            found[name] = known
    return found


def _sums(left: Sequence[int | None]) -> Iterator[int | None]:
    total: int | None = 0
    for value in left:
        total = None if total is None or value is None else total + value
        yield total


def fits(series: Sequence[CycleEnd]) -> dict[str, Fit]:
    """Return the line through each level: the least-squares one, as the verdict's where there are cycles enough."""
    return {name: fit for name, values in levels(series).items() if (fit := _fit(values)) is not None}


def _fit(values: Sequence[float]) -> Fit | None:
    """Return the line; None where there is too little for one, or more than floats can hold."""
    try:
        fit = _line(values)
    except (ValueError, OverflowError):
        return None
    return fit if fit and math.isfinite(fit.rate) and math.isfinite(fit.error or 0) else None


def _line(values: Sequence[float]) -> Fit | None:
    if len(values) >= BLOCKS:
        found = slope(values)
        return Fit(_rounded(found.rate), _rounded(found.error))
    if len(values) < 2:
        return None
    return Fit(_rounded(linear_regression(range(len(values)), values).slope), None)


def _rounded(value: float) -> float:
    """Return a value to as many digits as mean something."""
    return float(f"{value:.6g}")

"""Readings relative to their cycle's baseline, and growth over cycles."""

from __future__ import annotations

from tensorledger.expectations.description import QUANTITIES
from tensorledger.protocol.messages import Cycle, Outcome, Reading


def relative(reading: Reading, baseline: Reading) -> Reading:
    """Return a reading less the baseline; what either lacks is None."""
    levels = {
        level: {
            name: less(value, getattr(baseline, level).get(name)) for name, value in getattr(reading, level).items()
        }
        for level in ("backend", "heap", "process")
    }
    exact = {quantity: less(getattr(reading, quantity), getattr(baseline, quantity)) for quantity in QUANTITIES}
    return Reading(**exact, **levels)  # type: ignore[arg-type]


def less(value: float | None, other: float | None) -> float | None:
    """Subtract, where both are there."""
    return None if value is None or other is None else value - other


def readings(cycle: Cycle) -> dict[str, Reading]:
    """Return a cycle's checkpoints, relative to its baseline, in their order."""
    return {checkpoint.name: relative(checkpoint.reading, cycle.baseline) for checkpoint in cycle.checkpoints}


def grown(outcome: Outcome) -> Reading | None:
    """Return what all cycles after the warm-up added together; None where there was none."""
    if len(outcome.cycles) < 2:
        return None
    first, last = (cycle.checkpoints[-1].reading for cycle in (outcome.cycles[0], outcome.cycles[-1]))
    return relative(last, first)

"""Growth that no exact count sees: of the collected heap, and of memory outside it.

These are statistics, so one measurement never fails alone: a suspicion is run again in a fresh worker with twice the
cycles, and both must agree. The rule is a coarse one: a level grows if *every* cycle after the warm-up added at least
so much to it. What fills up once, such as a cache or a pool, does not add in every cycle.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from tensorledger.protocol.messages import Outcome, Reading


@dataclass(frozen=True)
class Level:
    """Where a level is in a reading, and how much a cycle must add to be suspicious."""

    part: str
    name: str
    least: int
    unit: str

    def read(self, reading: Reading) -> float | None:
        """Return the level's value; None where the runtime does not tell it."""
        value: float | None = getattr(reading, self.part).get(self.name)
        return value


KIB_256 = 256 * 1024
"""Clean cycles of creating and predicting add 4 to 20 KB to Node.js's heap."""

LEVELS: dict[str, dict[str, Level]] = {
    "heap": {"js": Level("heap", "used", KIB_256, "bytes"), "py": Level("heap", "objects", 500, "objects")},
    "native": {"js": Level("heap", "external", KIB_256, "bytes"), "py": Level("process", "in_use", KIB_256, "bytes")},
}
"""By name and language: what the collector manages, and what is outside it."""

FEWEST = 3
"""Cycles below which nothing is said."""


def growing(outcome: Outcome, language: str) -> dict[str, str]:
    """Return the levels that every cycle added to, each with what is said of it.

    Nothing where a tensor, a byte or a buffer grows: that is exact, and explains the rest.
    """
    ends = [cycle.checkpoints[-1].reading for cycle in outcome.cycles]
    if len(ends) <= FEWEST or any(
        getattr(ends[0], quantity) != getattr(ends[-1], quantity) for quantity in ("tensors", "bytes", "buffers")
    ):
        return {}
    found = {}
    for name, by_language in LEVELS.items():
        level = by_language[language]
        values = [value for value in map(level.read, ends) if value is not None]
        if len(values) < len(ends):
            continue
        least = min(later - earlier for earlier, later in pairwise(values))
        if least >= level.least:
            found[name] = f"{name} grows: each of {len(ends) - 1} cycles added at least {least:,.0f} {level.unit}"
    return found

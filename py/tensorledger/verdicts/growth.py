"""Growth that no exact count sees: of the heap, of memory outside it, of a backend's own, and of the whole process.

These are statistics, so one measurement never fails alone. A first look, at the cycles of an ordinary run, only raises
a suspicion. It is settled in a fresh worker by ``Settling``, over as many cycles as that takes. See decision 0011.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tensorledger.protocol.messages import Cycle, Outcome
from tensorledger.verdicts.levels import LEVELS, Level, tensors_made
from tensorledger.verdicts.slope import Slope, slope

FALSE_ALARMS = 0.01
"""At most so often a cell that leaks nothing is said to grow: over all its levels and all looks together."""

WARM_UP = 10
"""Cycles that are not looked at in settling, where a scenario makes no tensor."""

LIBRARY_WARM_UP = 110
"""And where it makes some: TensorFlow.js, for one, keeps what it has worked out for the last 100 models."""

LOOKS = (40, 80, 160)
"""Cycles after the warm-up at which settling looks whether it is sure by now."""

PLAIN = 12
"""And at which it is sure already where each of these cycles added as much as a first look asks for."""

LONG = 30
"""Cycles from which on a first look goes by the tolerance; a shorter one, by what is much."""

WARMING = 64
"""What part of the coarse amount a cycle may add in a first look that ends before a library has warmed up: 4 KiB."""

CLEAR = 0.05
"""How unlikely growth must be to look no further; being wrong misses a leak, and raises no alarm."""

FEWEST = 3
"""Cycles below which nothing is said."""

SUREST = 0.999999


def warm_up(tensors: int) -> int:
    """Return the cycles that settling does not look at."""
    return LIBRARY_WARM_UP if tensors else WARM_UP


def longest(tensors: int) -> int:
    """Return the cycles that settling takes at most."""
    return warm_up(tensors) + LOOKS[-1]


def _series(cycles: Sequence[Cycle], level: Level) -> list[float]:
    """Return the level after each cycle, the warm-up's first; nothing where one of them is not read."""
    values = [level.read(cycle.checkpoints[-1].reading) for cycle in cycles]
    read = [value for value in values if value is not None]
    return read if len(read) == len(values) else []


def suspicions(outcome: Outcome, language: str) -> list[Level]:
    """Return the levels that seem to grow.

    None where a tensor, a byte or a buffer grows: that is exact, and explains the rest.
    """
    cycles = outcome.cycles
    if len(cycles) <= FEWEST:
        return []
    ends = [cycle.checkpoints[-1].reading for cycle in cycles]
    if any(getattr(ends[0], name) != getattr(ends[-1], name) for name in ("tensors", "bytes", "buffers")):
        return []
    tensors = tensors_made(cycles)
    return [
        level
        for level in LEVELS[language]
        if (values := _series(cycles, level)) and _is_suspicious(values, level, tensors)
    ]


def _is_suspicious(values: Sequence[float], level: Level, tensors: int) -> bool:
    if len(values) <= LONG:
        return _adds_much(values, level)
    passed, tolerance = warm_up(tensors), level.tolerance(tensors)
    if len(values) > passed + LOOKS[0]:
        found = slope(values[passed + 1 :])
    else:
        found = slope(values[len(values) // 3 :])
        tolerance += level.coarse / WARMING if tensors and level.coarse else 0
    return found.middle > tolerance


def _adds_much(values: Sequence[float], level: Level) -> bool:
    """Say whether each cycle added much: what warms up, or is cleared away at times, does so to some."""
    growths = [later - earlier for earlier, later in pairwise(values)]
    return level.coarse is not None and bool(growths) and min(growths) >= level.coarse


@dataclass(frozen=True)
class Grown:
    """A level that grows: what is said of it, and how sure that is."""

    level: Level
    said: str
    confidence: float


@dataclass
class Settling:
    """Settles suspicions, cycle by cycle: ``enough`` says when it is sure, or has to give up."""

    suspected: Sequence[Level]
    seconds: float
    """How long it may go on."""
    grown: list[Grown] = field(default_factory=list)
    _open: list[Level] = field(default_factory=list)
    _started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self._open = list(self.suspected)

    def enough(self, cycles: Sequence[Cycle]) -> bool:
        """Look at the cycles so far, of which the first is the warm-up; say whether no more are needed."""
        tensors = tensors_made(cycles)
        after = len(cycles) - 1 - warm_up(tensors)
        for level in list(self._open):
            if after in LOOKS or (after == PLAIN and _adds_much(_series(cycles, level)[-PLAIN:], level)):
                self._look(cycles, level, tensors)
        return not self._open or after >= LOOKS[-1] or time.monotonic() - self._started > self.seconds

    def _look(self, cycles: Sequence[Cycle], level: Level, tensors: int) -> None:
        passed = warm_up(tensors)
        values = _series(cycles, level)
        if not values:
            self._open.remove(level)
            return
        found = slope(values[passed + 1 :])
        tolerance = level.tolerance(tensors)
        chance = found.exceeds(tolerance)
        if found.steady and chance <= FALSE_ALARMS / len(LOOKS) / len(self.suspected):
            said = _says(level, found, len(values) - 1 - passed, passed)
            self.grown.append(Grown(level, said, min(SUREST, 1 - chance)))
            self._open.remove(level)
        elif found.stays_below(tolerance) <= CLEAR:
            self._open.remove(level)

    def found(self) -> dict[str, Grown]:
        """Return what grows, by name: the first as LEVELS has them, which explains the others."""
        for level in self.suspected:
            for grown in self.grown:
                if grown.level is level:
                    return {level.name: grown}
        return {}

    def retained(self, cycles: Sequence[Cycle], grown: Collection[str]) -> dict[str, str]:
        """Return what is said of the levels that seemed to grow and do not go on growing, by name."""
        if grown:
            return {}
        said: dict[str, str] = {}
        for level in self.suspected:
            values = _series(cycles, level)
            if values and level.name not in said:
                over = len(cycles) > longest(tensors_made(cycles))
                said[level.name] = _says_retained(level, values, level in self._open, over)
        return said


def _says(level: Level, found: Slope, cycles: int, after: int) -> str:
    return (
        f"{level.name} grows by {_rounded(found.rate)} ± {_rounded(found.error)} {level.unit} per cycle, "
        f"steadily over {cycles} cycles after the first {after}"
        + (
            f"; a cache of more than {cycles + after} would too: --cycles {5 * LOOKS[0]} tells"
            if cycles == PLAIN
            else ""
        )
    )


def _says_retained(level: Level, values: Sequence[float], is_open: bool, is_over: bool) -> str:
    half = len(values) // 2
    early, late = ((part[-1] - part[0]) / max(1, len(part) - 1) for part in (values[: half + 1], values[half:]))
    what = f"stopped growing: retention, no leak (known to be kept there: {level.retains})"
    if is_open:
        what = (
            "did not go on growing steadily enough to be a leak" if is_over else "was not settled in the time there was"
        )
    return (
        f"{level.name} {what}: {_rounded(early)} {level.unit} per cycle over the first {half} cycles, "
        f"{_rounded(late)} over the next {len(values) - 1 - half}"
    )


def _rounded(value: float) -> str:
    # Two digits, but no power of ten, which 99.5 would be the first to be written with.
    return f"{value:,.2g}" if abs(value) < 99.5 else f"{value:,.0f}"

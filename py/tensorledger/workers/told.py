"""The cycles that a worker tells while it runs: in their order, each with its end, and as many as were asked for."""

from __future__ import annotations

from tensorledger.expectations.description import COUNTABLE, QUANTITIES
from tensorledger.expectations.expectation import END
from tensorledger.protocol.channel import Breach
from tensorledger.protocol.messages import Cycle, Ended, Outcome, RunScenario


class Told:
    """What one run has told so far."""

    def __init__(self, asked: RunScenario) -> None:
        self._asked = asked
        self.cycles: list[Cycle] = []
        self.is_enough = False
        """Whether the worker was told that no more cycles are needed."""

    def take(self, told: Ended) -> None:
        """Take a cycle. Raises Breach where it is not the next one, or is none."""
        wanted = len(self.cycles)
        if self.is_enough or wanted > self._asked.cycles:
            raise Breach(f"it told of cycle {told.number} after the last one that was wanted")
        if told.number != wanted:
            raise Breach(f"it told of cycle {told.number}, where {wanted} was next")
        names = [checkpoint.name for checkpoint in told.cycle.checkpoints]
        if names[-1:] != [END] or len({*names}) < len(names):
            raise Breach(f"cycle {told.number} does not end with one {END!r}: its checkpoints are {names[:12]}")
        for reading in (told.cycle.baseline, *(checkpoint.reading for checkpoint in told.cycle.checkpoints)):
            for count in (getattr(reading, quantity) for quantity in QUANTITIES):
                if count is not None and abs(count) > COUNTABLE:
                    raise Breach(f"cycle {told.number} counts beyond what can be counted exactly")
        self.cycles.append(told.cycle)

    def breach(self, outcome: Outcome) -> str | None:
        """Say in what an outcome is not that of the cycles that were told; None if it is."""
        if outcome.cycles:
            return "its answer has cycles in it, each of which is told as it ends"
        if self._asked.recipe not in ("", outcome.recipe):
            return f"it released by {outcome.recipe!r}, where {self._asked.recipe!r} was asked for"
        if outcome.error is not None or outcome.not_applicable is not None:
            return None
        stopped = bool(self.cycles) and self.cycles[-1].thrown is not None and not self._asked.throws
        ran = len(self.cycles)  # none at all is an outcome that cannot be judged, and is said to be
        if 0 < ran <= self._asked.cycles and not stopped and not self.is_enough:
            return f"it answered after {ran} of {self._asked.cycles + 1} cycles, and does not say why"
        return None

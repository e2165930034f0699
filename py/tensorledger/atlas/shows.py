"""What a scenario shows on a release, by exact counts alone, which are the same on every machine.

Levels 2 to 4 are statistics and are not in it, and no deviation is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from tensorledger.expectations.description import COUNTABLE, QUANTITIES
from tensorledger.expectations.expectation import END, Expectation
from tensorledger.protocol.messages import Agreement, CheckpointReading, Cycle, Outcome, Reading, Thrown
from tensorledger.targets.target import Target
from tensorledger.verdicts.judge import agrees, hold
from tensorledger.verdicts.relative import readings
from tensorledger.verdicts.verdict import Verdict


class Point(msgspec.Struct, frozen=True, array_like=True):
    """A checkpoint, relative to its cycle's baseline; null: not read."""

    name: str
    tensors: int | None
    bytes: int | None
    buffers: int | None
    buffer_bytes: int | None

    def __post_init__(self) -> None:
        for count in (getattr(self, quantity) for quantity in QUANTITIES):
            if count is not None and abs(count) > COUNTABLE:
                raise ValueError(f"{self.name}: a count of {len(str(abs(count)))} digits")


class Threw(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was thrown, and after which checkpoint (null: before the first)."""

    type: str
    message: str
    after: str | None = None


class Walk(msgspec.Struct, frozen=True, omit_defaults=True):
    """One cycle. The last point is ``end``."""

    points: tuple[Point, ...]
    threw: Threw | None = None

    def __post_init__(self) -> None:
        names = [point.name for point in self.points]
        if names[-1:] != [END] or len({*names}) < len(names):
            raise ValueError(f"a walk ends with one {END!r}, and its points are {names[:12]}")

    @property
    def end(self) -> Point:
        """Return what was left: also what each further cycle adds, for the next one's baseline is this one's end."""
        return self.points[-1]


class Shows(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a scenario shows once two cycles in a row are alike."""

    recipe: str = ""
    cycle: Walk | None = None
    """The last cycle; null where none ended."""
    first: Walk | None = None
    """The warm-up, where it was otherwise."""
    unsteady: bool = False
    """No two cycles in a row were alike, of as many as there were."""
    parity: dict[str, bool] = {}
    """Of each loaded model, by "source/model": whether its predictions are Keras's, but for rounding."""
    broke: str = ""
    """Why the scenario could not be run: it does not load, or the worker died or hung."""

    def __post_init__(self) -> None:
        if not all("/" in key for key in self.parity):
            raise ValueError(f"parity is of a source/model, and not of {list(self.parity)[:12]}")
        points = [point for walk in (self.first, self.cycle) if walk is not None for point in walk.points]
        if len({tuple(getattr(point, quantity) is None for quantity in QUANTITIES) for point in points}) > 1:
            raise ValueError("what is counted at one point is counted at all")

    @property
    def end(self) -> Point | None:
        """What was left at the end of the last cycle; None where none ended."""
        return self.cycle.end if self.cycle else None

    @property
    def threw(self) -> Threw | None:
        """What was thrown, in the last cycle or in the warm-up."""
        return next((walk.threw for walk in (self.cycle, self.first) if walk and walk.threw), None)


def walk(cycle: Cycle) -> Walk:
    """Return a cycle's exact counts."""
    points = tuple(
        Point(name, found.tensors, found.bytes, found.buffers, found.buffer_bytes)
        for name, found in readings(cycle).items()
    )
    thrown = cycle.thrown
    return Walk(points, Threw(thrown.type, lasting(thrown.message), thrown.checkpoint) if thrown else None)


LONGEST = 200
"""Characters of a message that are kept."""
CUT = " …"
_NUMBERED = re.compile(r"(\w+_[A-Za-z]*)\d+")


def lasting(message: str) -> str:
    """Return the beginning of a message, without the numbers that TensorFlow.js gives to names: they count up.

    dense_Dense11 becomes dense_Dense#. What a long message goes on with may be a whole model's configuration.
    """
    beginning = message if len(message) <= LONGEST else f"{message[:LONGEST]}{CUT}"
    return _NUMBERED.sub(r"\1#", beginning)


def numbered(message: str, number: str) -> str:
    """Return a message that ``lasting`` has returned with numbers, or a pattern of them, in their places."""
    return re.sub(r"(?<=[A-Za-z_])#", lambda _: number, message)


def alike(cycles: Sequence[Cycle]) -> bool:
    """Say whether the last two cycles show the same, so that no more are needed."""
    return len(cycles) > 1 and walk(cycles[-1]) == walk(cycles[-2])


def shown(outcome: Outcome) -> Shows:
    """Return what an outcome shows."""
    if outcome.error is not None:
        return Shows(recipe=outcome.recipe, broke=f"{outcome.error.type}: {outcome.error.message}")
    if outcome.not_applicable is not None or not outcome.cycles:
        return Shows(recipe=outcome.recipe, broke=outcome.not_applicable or "no cycle ended")
    first, last = walk(outcome.cycles[0]), walk(outcome.cycles[-1])
    return Shows(
        recipe=outcome.recipe,
        cycle=last,
        first=None if first == last else first,
        unsteady=not alike(outcome.cycles),
        parity={f"{found.source}/{found.model}": agrees(found) for found in outcome.agreements},
    )


BEFORE = 10**12
"""What the outcome that is made up again counts before its first cycle: any number that nothing is taken away from."""


def outcome_of(shows: Shows, cycles: int = 3) -> Outcome:
    """Return an outcome that shows this: what so many cycles after the warm-up would have measured. It has no levels
    beyond the exact ones, and no leaks."""
    assert shows.cycle is not None, "only what ran can be made up again"
    made: list[Cycle] = []
    for course in (shows.first or shows.cycle, *[shows.cycle] * cycles):
        baseline = made[-1].checkpoints[-1].reading if made else _reading(course.end, None)
        checkpoints = [CheckpointReading(name=p.name, reading=_reading(p, baseline)) for p in course.points]
        made.append(Cycle(baseline=baseline, checkpoints=checkpoints, thrown=_thrown(course.threw), leaks=[]))
    agreements = [
        Agreement(model=key.split("/", 1)[1], source=key.split("/", 1)[0], max_abs=0 if same else 2, max_rel=0, bound=1)
        for key, same in shows.parity.items()
    ]
    return Outcome(recipe=shows.recipe, cycles=made, agreements=agreements, not_applicable=None, running=[], error=None)


def _thrown(threw: Threw | None) -> Thrown | None:
    if threw is None:
        return None
    return Thrown(type=threw.type, message=numbered(threw.message, "1"), checkpoint=threw.after, stack=[])


def _reading(point: Point, baseline: Reading | None) -> Reading:
    """Return the absolute reading of a point above a baseline; the baseline itself where there is none."""

    def absolute(quantity: str) -> int | None:
        value: int | None = getattr(point, quantity)
        if value is None:
            return None
        return BEFORE if baseline is None else value + getattr(baseline, quantity)

    exact = {quantity: absolute(quantity) for quantity in QUANTITIES}
    return Reading(**exact, backend={}, heap={}, process={})


def verdict(shows: Shows, expectation: Expectation, target: Target) -> tuple[Verdict, str]:
    """Judge by an expectation as it stands, with no deviation, as far as exact counts go; return the reason too.

    A scenario that leaks on purpose fails where it leaks. Raises BadDefinition.
    """
    if shows.cycle is None:
        return "error", shows.broke
    if shows.threw is not None and expectation.throws is None:
        return "error", f"{shows.threw.type}: {shows.threw.message}"
    found = hold(outcome_of(shows), expectation, target)
    if found.problems:
        return "fail", found.problems[0]
    if found.unread:
        return "skip", f"not read here: {', '.join(found.unread)}"
    return "pass", ""

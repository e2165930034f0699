"""A deviation: a documented, strict exception to an expectation for a range of targets.

``harness/deviations/SCENARIO.toml`` holds a ``[[deviation]]`` for each. It says the exact numbers, so that a target
that no longer deviates, or deviates otherwise, fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from tensorledger.environment.tree import shown, tree
from tensorledger.expectations.amount import Counts
from tensorledger.expectations.expectation import END, Caught, Expectation, LevelName, Throws, check
from tensorledger.expectations.toml import BadDefinition, read
from tensorledger.targets.catalogue import installed
from tensorledger.targets.target import BadTarget, Pattern, Target


class Deviation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What some targets show instead, and why."""

    id: str
    targets: list[str]
    why: str
    report: str | None = None
    """A public report of it, as owner/repository#number."""
    checkpoints: dict[str, Counts] = {}
    first: dict[str, Counts] = {}
    growth: Counts = Counts()
    grows: list[LevelName] = []
    """The levels that grow though no exact count does, such as "native": no more and no fewer."""
    throws: Throws | Literal[False] | None = None
    """False: what the expectation says is thrown is not."""
    caught: Caught | None = None
    """What a leak on purpose is caught with instead."""
    against: dict[str, Counts] = {}
    """What the expectation says in the places that are otherwise here, by checkpoint, and "growth". It is stated
    again, so that a number which every target deviates from cannot be changed unnoticed."""

    def concerns(self, target: Target) -> bool:
        """Say whether a target is in the range."""
        running = replace(target, version=installed(target))
        return any(Pattern.parse(text).matches(running) for text in self.targets)

    def instead_of(self, expectation: Expectation) -> Expectation:
        """Return the expectation with this deviation's numbers in their places, and nothing beyond its throw."""
        reached = _until(self.throws, expectation)
        return replace(
            expectation,
            checkpoints=_over(self.checkpoints, {name: expectation.checkpoints[name] for name in reached}),
            first=_over(self.first, {n: counts for n, counts in expectation.first.items() if n in reached}),
            growth=self.growth.over(expectation.growth),
            caught=self.caught or expectation.caught,
            throws=expectation.throws if self.throws is None else self.throws or None,
        )


def _until(throws: Throws | Literal[False] | None, expectation: Expectation) -> list[str]:
    """Return the checkpoints that a scenario reaches which throws there, in the order of the file."""
    names = list(expectation.checkpoints)
    if not throws or throws.after not in (None, *names):
        return names
    count = 0 if throws.after is None else names.index(throws.after) + 1
    return [name for number, name in enumerate(names) if number < count or name == END]


def _over(mine: dict[str, Counts], theirs: dict[str, Counts]) -> dict[str, Counts]:
    return {**theirs, **{name: counts.over(theirs.get(name, Counts())) for name, counts in mine.items()}}


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    deviation: list[Deviation]


@dataclass(frozen=True)
class Deviations:
    """The deviations of one scenario."""

    all: tuple[Deviation, ...] = ()
    path: Path | None = None

    def of(self, target: Target) -> Deviation | None:
        """Return the one that concerns a target. Raises BadDefinition where two do."""
        found = [deviation for deviation in self.all if deviation.concerns(target)]
        if len(found) > 1:
            ids = " and ".join(deviation.id for deviation in found)
            assert self.path is not None
            raise BadDefinition(f"{shown(self.path)}: {ids} both concern {target}")
        return found[0] if found else None


def load(path: Path, expectation: Expectation) -> Deviations:
    """Return a file's deviations from an expectation. Raises BadDefinition."""
    deviations = Deviations(tuple(read(path, _File).deviation), path)
    for deviation in deviations.all:
        if not deviation.why.strip():
            raise BadDefinition(f"{shown(path)}: {deviation.id} does not say why")
        try:
            names = {Pattern.parse(text).name for text in deviation.targets}
            check(deviation.instead_of(expectation), names)
            for problem in (*against(deviation, expectation), *_unlooked_at(deviation, expectation)):
                raise BadDefinition(problem)
        except (BadTarget, BadDefinition) as error:
            raise BadDefinition(f"{shown(path)}: {deviation.id}: {error}") from error
    return deviations


def otherwise(deviation: Deviation, expectation: Expectation) -> dict[str, dict[str, int | str]]:
    """Return what the expectation says in the places where the deviation does not let it stand."""
    documented = deviation.instead_of(expectation)
    places = {
        name: (counts, documented.checkpoints.get(name, Counts())) for name, counts in expectation.checkpoints.items()
    }
    places["growth"] = (expectation.growth, documented.growth)
    found = {
        place: {quantity: said for quantity, said in theirs.stated() if dict(mine.stated()).get(quantity) != said}
        for place, (theirs, mine) in places.items()
    }
    return {place: counts for place, counts in found.items() if counts}


def against(deviation: Deviation, expectation: Expectation) -> Iterator[str]:
    """Yield where ``against`` is not what the expectation says."""
    wanted = otherwise(deviation, expectation)
    for place in dict.fromkeys([*wanted, *deviation.against]):
        mine = dict(deviation.against.get(place, Counts()).stated())
        theirs = wanted.get(place, {})
        for quantity in dict.fromkeys([*theirs, *mine]):
            if mine.get(quantity) != theirs.get(quantity):
                stands = theirs.get(quantity, "what stands there is not deviated from")
                yield (
                    f"against.{place} {quantity}: {mine.get(quantity, 'not stated')}, "
                    f"but {expectation.source} says: {stands}"
                )


def _unlooked_at(deviation: Deviation, expectation: Expectation) -> Iterator[str]:
    """Yield why the levels that are to grow would never be looked at."""
    if not deviation.grows:
        return
    if expectation.caught is not None:
        yield "grows: the scenario leaks on purpose; what grows is in caught.grows"
    growth = dict(deviation.instead_of(expectation).growth.stated())
    for quantity in ("tensors", "bytes", "buffers"):
        if growth.get(quantity):
            yield f"grows: {expectation.source}: growth {quantity}: {growth[quantity]}, which explains every level"


def deviations_for(scenario: str, expectation: Expectation) -> Deviations:
    """Return the deviations that the project documents for a scenario; a user's own file has none."""
    path = tree() / "harness" / "deviations" / f"{scenario}.toml"
    return load(path, expectation) if not Path(scenario).suffix and path.is_file() else Deviations()

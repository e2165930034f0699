"""A deviation: a documented, strict exception to an expectation for a range of targets.

``harness/deviations/SCENARIO.toml`` holds a ``[[deviation]]`` for each. It says the exact numbers, so that a target
that no longer deviates, or deviates otherwise, fails.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from tensorledger.environment.tree import shown, tree
from tensorledger.expectations.amount import Counts
from tensorledger.expectations.expectation import END, Expectation, Throws, check
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
    throws: Throws | None = None

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
            throws=self.throws or expectation.throws,
        )


def _until(throws: Throws | None, expectation: Expectation) -> list[str]:
    """Return the checkpoints that a scenario reaches which throws there, in the order of the file."""
    names = list(expectation.checkpoints)
    if throws is None or throws.after not in (None, *names):
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
            runtimes = {Pattern.parse(text).name for text in deviation.targets}
            check(deviation.instead_of(expectation), runtimes)
        except (BadTarget, BadDefinition) as error:
            raise BadDefinition(f"{shown(path)}: {deviation.id}: {error}") from error
    return deviations


def deviations_for(scenario: str, expectation: Expectation) -> Deviations:
    """Return the deviations that the project documents for a scenario; a user's own file has none."""
    path = tree() / "harness" / "deviations" / f"{scenario}.toml"
    return load(path, expectation) if not Path(scenario).suffix and path.is_file() else Deviations()

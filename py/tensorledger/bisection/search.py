"""Finds where a value changes along a line of releases, by looking at few of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log2

MOST = 8
"""Changes after which no more are looked for."""


@dataclass(frozen=True)
class Change:
    """Two releases, between which lies none that can be used, and what each shows."""

    previous: str
    first: str
    before: str | int
    after: str | int


class Search:
    """A line of releases, oldest first, and what is known of them."""

    def __init__(self, releases: Sequence[str], look: Callable[[str], str | int | None]) -> None:
        """``look`` says what a release shows, or None where it cannot be used; it is asked once for each."""
        self.releases = list(releases)
        self._look = look
        self._seen: dict[int, str | int | None] = {}

    def changes(self) -> list[Change]:
        """Return the changes that were found, oldest first; none where all that was looked at shows the same.

        A border between the two ends is bisected; then both of its sides are looked at in O(log n) places, as is the
        whole where the ends are alike, and every difference that this brings up is bisected too.
        """
        low = self._usable(range(len(self.releases)))
        high = self._usable(range(len(self.releases) - 1, -1, -1))
        if low is None or high is None or low == high:
            return []
        if self._at(low) == self._at(high):
            sides = [(low, high)]
        else:
            border = self._border(low, high)
            sides = [(low, border[0]), (border[1], high)]
        for side in sides:
            for _ in self._spread(*side):
                pass
        return list(self._all())

    @property
    def ends(self) -> tuple[str, str] | None:
        """The oldest and the newest release that can be used, once ``changes`` has looked; None: there are none."""
        usable = self._known()
        return (self.releases[usable[0]], self.releases[usable[-1]]) if usable else None

    def _at(self, place: int) -> str | int | None:
        if place not in self._seen:
            self._seen[place] = self._look(self.releases[place])
        return self._seen[place]

    def _known(self) -> list[int]:
        """Return the places of the releases that were looked at and can be used, in order."""
        return sorted(place for place, value in self._seen.items() if value is not None)

    def _usable(self, places: Iterable[int]) -> int | None:
        """Return the first of some places whose release can be used."""
        return next((place for place in places if self._at(place) is not None), None)

    def _between(self, low: int, high: int, wanted: int) -> int | None:
        """Return the place nearest to a wanted one, strictly between two, whose release can be used."""
        return self._usable(sorted(range(low + 1, high), key=lambda place: abs(place - wanted)))

    def _border(self, low: int, high: int) -> tuple[int, int]:
        """Return two neighbours between which the value of ``low`` changes, where that of ``high`` is another."""
        while (middle := self._between(low, high, (low + high) // 2)) is not None:
            if self._at(middle) == self._at(low):
                low = middle
            else:
                high = middle
        return low, high

    def _spread(self, low: int, high: int) -> Iterator[int]:
        """Look at some places between two, evenly spread: twice as many as a bisection takes."""
        count = 2 * ceil(log2(high - low + 1))
        for number in range(1, count + 1):
            place = self._between(low, high, low + (high - low) * number // (count + 1))
            if place is not None:
                yield place

    def _all(self) -> Iterator[Change]:
        """Bisect between all neighbours that are known to differ."""
        borders: list[tuple[int, int]] = []
        for low, high in pairwise(self._known()):
            while self._at(low) != self._at(high) and len(borders) < MOST:
                borders.append(self._border(low, high))
                low = borders[-1][1]
        for previous, first in borders:
            before, after = self._at(previous), self._at(first)
            assert before is not None and after is not None
            yield Change(self.releases[previous], self.releases[first], before, after)

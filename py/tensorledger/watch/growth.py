"""Whether rounds leave something for good, by exact counts from the readings between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

PARTS = 3
"""Of the rounds, where they are not alike: something has to have stayed of each part."""


def added(levels: Sequence[int]) -> list[int]:
    """Return what each round added; ``levels`` are before the first round and after each."""
    return [after - before for before, after in pairwise(levels)]


def steady(levels: Sequence[int]) -> bool:
    """Say whether every round added the same, which settles it: nothing, or so much each."""
    return len(set(added(levels))) <= 1


def grows(levels: Sequence[int]) -> bool:
    """Say whether rounds leave something for good.

    Where each adds the same, that is how much. Where they differ, it is what never went again that counts: a level that
    is come back to later is no growth until then. That floor has to rise in each third of the rounds, so that neither a
    cache that is filled once nor one that is emptied now and then is a leak, and one in every third round is.
    """
    if steady(levels):
        return len(levels) > 1 and levels[1] > levels[0]
    floor = [min(levels[index:]) for index in range(len(levels))]
    rounds = len(levels) - 1
    if rounds < PARTS:
        return False
    ends = [round(rounds * part / PARTS) for part in range(PARTS + 1)]
    return all(floor[after] > floor[before] for before, after in pairwise(ends))


def each(levels: Sequence[int]) -> float:
    """Return the growth a round, from first to last; a whole number where it is one."""
    rounds = len(levels) - 1
    total = levels[-1] - levels[0]
    return total // rounds if total % rounds == 0 else round(total / rounds, 2)

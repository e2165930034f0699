"""Ways of doing something, measured in turn, so that what else the machine does meets all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")


def in_turn(ways: Mapping[str, Callable[[], T]], repeats: int, warm_up: int = 1) -> dict[str, list[T]]:
    """Return what each way gave, turn by turn, in an order that turns too; the first turns are not counted."""
    found: dict[str, list[T]] = {name: [] for name in ways}
    names = list(ways)
    for turn in range(-warm_up, repeats):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            one = ways[name]()
            if turn >= 0:
                found[name].append(one)
    return found

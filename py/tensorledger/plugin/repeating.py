"""Runs a test's function several times within its one call, for ``limit_tensor_growth``, and measures its growth."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tensorledger.ledger.collect import collect
from tensorledger.ledger.live import Alive, Mark, groups
from tensorledger.plugin.known import Known
from tensorledger.plugin.limits import TensorGrowth
from tensorledger.protocol.messages import LiveTensor


@dataclass(frozen=True)
class Size:
    """The tensors that a test has made and that are alive."""

    tensors: int
    bytes: int

    @classmethod
    def of(cls, alive: Alive) -> Size:
        return cls(len(alive), sum(size for *_, size in alive.sized()))


@dataclass(frozen=True)
class Grown:
    """By how much a test's tensors have grown, each further run, and what was made in these runs and is alive."""

    tensors: float
    bytes: float
    leaks: list[LiveTensor]


class Repeated:
    """A test whose function runs once to warm up, and then ``cycles`` times. Fixtures are set up once.

    It grows where it is larger after each run of the second half than after any of the first, the warm-up among them:
    what is made once, fills a cache or comes and goes is no growth. By how much is told by the means of the halves.
    """

    def __init__(self, item: Any, limit: TensorGrowth, made: Callable[[], Alive], mark: Callable[[], Mark]) -> None:
        self._item, self._limit, self._made, self._mark = item, limit, made, mark
        self._once = item.runtest
        self._warm = Mark()
        self._sizes: list[Size] = []
        item.runtest = self._run

    def undo(self) -> None:
        """Give the test its own way to run back."""
        del self._item.runtest

    def _run(self) -> None:
        for cycle in range(self._limit.cycles + 1):
            self._once()
            if getattr(self._item, "_excinfo", None):
                return  # a unittest class's test notes what it raises
            if cycle == 0:
                collect()
                self._warm = self._mark()
            else:
                gc.collect()
            self._sizes.append(Size.of(self._made()))

    def grown(self, known: Known, held: float, thawed: Callable[[], AbstractContextManager[None]]) -> Grown | None:
        """Return by how much it has grown where that is more than the limit; else None."""
        if not self._over():
            return None
        with thawed():
            collect()
            self._sizes[-1] = Size.of(self._made())
            since = self._made().only(lambda _, tensor: tensor._id > self._warm.tensor)
            leaks = groups(since, held)
        unknown = [leak for leak in leaks if leak not in known]
        tensors, size = _total([leak for leak in leaks if leak in known])
        cycles = self._limit.cycles
        if not self._over(tensors / cycles, size / cycles):
            return None
        return Grown(self._rate("tensors") - tensors / cycles, self._rate("bytes") - size / cycles, unknown)

    def _over(self, known_tensors: float = 0, known_bytes: float = 0) -> bool:
        if len(self._sizes) <= self._limit.cycles:
            return False
        # A tensor of no elements has no bytes; a test that may not grow at all may not leave such a one.
        return self._rate("bytes") - known_bytes > self._limit.size or (
            self._limit.size == 0 and self._rate("tensors") - known_tensors > 0
        )

    def _rate(self, quantity: str) -> float:
        """Return by how much a quantity grows each run; 0 where it does not."""
        values: list[int] = [getattr(size, quantity) for size in self._sizes]
        half = len(values) // 2
        first, second = values[:half], values[-half:]
        if min(second) <= max(first):
            return 0.0
        return (sum(second) - sum(first)) / half / (len(values) - half)


def _total(leaks: list[LiveTensor]) -> tuple[int, int]:
    return sum(leak.count for leak in leaks), sum(leak.count * (leak.bytes or 0) for leak in leaks)

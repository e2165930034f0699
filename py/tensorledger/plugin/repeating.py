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
    """A test whose function runs once to warm up, and then ``cycles`` times. Fixtures are set up once."""

    def __init__(self, item: Any, limit: TensorGrowth, made: Callable[[], Alive], mark: Callable[[], Mark]) -> None:
        self._item, self._limit, self._made, self._mark = item, limit, made, mark
        self._once = item.runtest
        self._warm = Mark()
        self._first = Size(0, 0)
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
                self._first = Size.of(self._made())
                self._warm = self._mark()

    def grown(self, known: Known, held: float, thawed: Callable[[], AbstractContextManager[None]]) -> Grown | None:
        """Return by how much it has grown where that is more than the limit; else None."""
        gc.collect()
        if not self._over(Size.of(self._made()), 0, 0):
            return None
        with thawed():
            collect()
            return self._told(known, held)

    def _told(self, known: Known, held: float) -> Grown | None:
        last = Size.of(self._made())
        since = self._made().only(lambda _, tensor: tensor._id > self._warm.tensor)
        leaks = groups(since, held)
        familiar = [leak for leak in leaks if leak in known]
        tensors, size = _total(familiar)
        if not self._over(last, tensors, size):
            return None
        cycles = self._limit.cycles
        return Grown(
            tensors=(last.tensors - self._first.tensors - tensors) / cycles,
            bytes=(last.bytes - self._first.bytes - size) / cycles,
            leaks=[leak for leak in leaks if leak not in familiar],
        )

    def _over(self, last: Size, known_tensors: int, known_bytes: int) -> bool:
        tensors = last.tensors - self._first.tensors - known_tensors
        size = last.bytes - self._first.bytes - known_bytes
        # A tensor of no elements has no bytes; a test that may not grow at all may not leave such a one.
        return size > self._limit.size * self._limit.cycles or (self._limit.size == 0 and tensors > 0)


def _total(leaks: list[LiveTensor]) -> tuple[int, int]:
    return sum(leak.count for leak in leaks), sum(leak.count * (leak.bytes or 0) for leak in leaks)

"""Whose each live tensor is: of a fixture that is alive, of the test, of an older model; and which are nobody's."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tensorledger.ledger.collect import collect
from tensorledger.ledger.live import Alive, Ledger, Mark
from tensorledger.plugin.entry import FROZEN_BY_PYTHON
from tensorledger.plugin.reach import older_owners, reached


@dataclass(eq=False)
class Setup:
    """A fixture, and between which moments it was set up."""

    definition: pytest.FixtureDef[Any]
    start: Mark
    param: Any = None
    end: Mark = field(default_factory=Mark)
    broke: bool = False

    def made(self, tensor: Any) -> bool:
        """Say whether a tensor was made in between."""
        return bool(self.start.tensor < tensor._id < self.end.tensor)


class Frozen:
    """What was there before a test, out of the collector's sight while the test runs.

    To collect what the test has left takes a millisecond then; of a whole process with TensorFlow, a hundred. A project
    that freezes objects itself is left alone.
    """

    def __init__(self) -> None:
        self.newer: set[int] | None = None
        """The addresses of objects that are newer, once it is undone; None where that cannot be told."""
        self._on = "tensorflow" in sys.modules and gc.get_freeze_count() <= FROZEN_BY_PYTHON
        self._count = 0
        if self._on:
            gc.collect(1)
            gc.freeze()
            self._count = gc.get_freeze_count()

    def thaw(self) -> None:
        """Undo it."""
        if self._on:
            self._on = False
            self.newer = {id(found) for found in gc.get_objects()}
            if gc.get_freeze_count() <= self._count:  # more: the test has frozen what it made, and that is to stay so
                gc.unfreeze()


class Account:
    """One ledger for all tests, and the fixtures that are alive."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._ledger.start()
        self._setups: dict[pytest.FixtureDef[Any], Setup] = {}

    def close(self) -> None:
        """Record no more."""
        self._ledger.stop()

    def mark(self) -> Mark:
        """Return this moment."""
        return self._ledger.mark()

    @contextmanager
    def setting_up(self, definition: pytest.FixtureDef[Any], param: Any) -> Iterator[None]:
        """Note that what is made inside is a fixture's."""
        setup = self._setups[definition] = Setup(definition, self.mark(), param)
        try:
            yield
        except BaseException:
            setup.broke = True
            raise
        finally:
            setup.end = self.mark()

    def ended(self, definition: pytest.FixtureDef[Any]) -> Setup | None:
        """Note that a fixture has ended; return its setup, if that was seen."""
        return self._setups.pop(definition, None)

    def of_no_fixture(self, tensor: Any) -> bool:
        """Say whether a tensor was made in the setup of none of the fixtures that are alive."""
        return not any(setup.made(tensor) for setup in self._setups.values())

    def fixtures(self) -> Iterator[Any]:
        """Yield the values of the fixtures that are alive."""
        for setup in self._setups.values():
            if setup.definition.cached_result is not None:
                yield setup.definition.cached_result[0]

    def made(self, since: Mark) -> Alive:
        """Return what is alive that was made since, and in no setup of a fixture that is alive."""
        return self._ledger.alive(since).only(lambda _, tensor: self.of_no_fixture(tensor))

    def left(
        self,
        look: Callable[[], Alive],
        most: int,
        frozen: Frozen,
        holders: Callable[[], Iterable[Any]],
    ) -> Alive | None:
        """Return what is alive and nobody's, where that is more than ``most``; the cheapest looks come first.

        ``look`` says what may be meant. ``holders`` are what holds tensors rightly; older models do too.
        """
        if len(look()) <= most:
            return None
        gc.collect()
        if len(look()) <= most or len(without(look(), holders())) <= most:
            return None
        frozen.thaw()
        collect()
        owners = [*holders(), *(older_owners(frozen.newer) if frozen.newer is not None else ())]
        found = without(look(), owners)
        return found if len(found) > most else None


def without(alive: Alive, holders: Iterable[Any]) -> Alive:
    """Return what none of the holders reaches."""
    held = reached(holders, {id(one[0]) for one in (*alive.tensors.values(), *alive.handles.values())})
    return alive.only(lambda _, tensor: id(tensor) not in held)

"""Whose each live tensor is: of a fixture that is alive, of the test, of an older model; and which are nobody's."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from operator import is_
from typing import Any

import pytest

from tensorledger.ledger.live import Alive, Ledger, Mark, members
from tensorledger.plugin.known import Known
from tensorledger.plugin.reach import older_owners, reached

HELD = 2.0
"""Seconds that may go into finding what holds the leaks of a test."""


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
        """The addresses of objects that are newer, as of the first time that it was undone on suspicion."""
        self._on = "tensorflow" in sys.modules and gc.get_freeze_count() == 0
        self._first: list[None] = []
        if self._on:
            gc.collect(1)
            gc.freeze()
            self._first = []  # the first object that the collector sees

    def thaw(self, suspicion: bool = True) -> None:
        """Undo it."""
        if not self._on:
            return
        self._on = False
        newer = gc.get_objects()
        if suspicion:
            self.newer = set(map(id, newer))
        if any(map(is_, newer, repeat(self._first))):  # else the test has frozen what it made, which is to stay so
            gc.unfreeze()


class Account:
    """One ledger for all tests, and the fixtures that are alive."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._ledger.start()
        self._setups: dict[pytest.FixtureDef[Any], Setup] = {}
        self._excused: set[int | str] = set()
        """What older models hold, and TensorFlow's caches; and what is known to leak."""

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
        """Return what is alive that was made since, and is neither a living fixture's nor an older model's."""
        return self._ledger.alive(since).only(
            lambda name, tensor: name not in self._excused and self.of_no_fixture(tensor)
        )

    def left(
        self,
        look: Callable[[], Alive],
        most: int,
        frozen: Frozen,
        holders: Callable[[], Iterable[Any]],
        known: Known,
    ) -> Alive | None:
        """Return what is alive and nobody's, where that is more than ``most``; the cheapest looks come first.

        ``look`` says what may be meant. ``holders`` are what holds tensors rightly; older models do too. What these
        hold, and what is known to leak, is left out of all that is asked later.
        """
        if len(look()) <= most:
            return None
        gc.collect()
        if len(look()) <= most or len(self._unknown(without(look(), holders()), known)) <= most:
            return None
        frozen.thaw()
        for collections in range(3):
            if collections:
                gc.collect()  # all of the process; why twice: ledger/collect.py
            found = self._nobodys(without(look(), holders()), frozen)
            if len(self._unknown(found, known)) <= most:
                return None
            del found
        return without(look(), holders())

    def excuse(self, names: Iterable[int | str]) -> None:
        """Leave these out of all that is asked later."""
        self._excused.update(names)

    def _nobodys(self, found: Alive, frozen: Frozen) -> Alive:
        if frozen.newer is None or not found:
            return found
        nobodys = without(found, older_owners(frozen.newer))
        self.excuse(found.names - nobodys.names)
        return nobodys

    def _unknown(self, found: Alive, known: Known) -> Alive:
        if not known or not found:
            return found
        for group, names in members(found, HELD if known.by_holder else 0):
            if group in known:
                self.excuse(names)
        return found.only(lambda name, _: name not in self._excused)


def without(alive: Alive, holders: Iterable[Any]) -> Alive:
    """Return what none of the holders reaches."""
    held = reached(holders, {id(one[0]) for one in (*alive.tensors.values(), *alive.handles.values())})
    return alive.only(lambda _, tensor: id(tensor) not in held)

"""Whose each live tensor is: of a fixture that is alive, of the test, of an older model; and which are nobody's."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tensorledger.ledger.live import Alive, Ledger, Mark, groups, members
from tensorledger.plugin.known import Known
from tensorledger.plugin.older import Older
from tensorledger.plugin.reach import library_holders, older_owners, reached
from tensorledger.protocol.messages import LiveTensor

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


class Account:
    """One ledger for all tests, and the fixtures that are alive."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._ledger.start()
        self._setups: dict[pytest.FixtureDef[Any], Setup] = {}
        self._older = Older()
        self._excused: set[int | str] = set()
        """What older models hold, and TensorFlow's caches; and what is known to leak."""

    def close(self) -> None:
        """Record no more."""
        self._ledger.stop()
        self._older.close()

    def begin(self, anew: bool) -> Mark:
        """Make ready for a test, and return its beginning. ``anew``: the one before it was held to nothing."""
        start = self.mark()
        self._older.freeze(start, anew)
        return start

    def thawed(self) -> AbstractContextManager[None]:
        """Put everything into the collector's sight for a moment."""
        return self._older.thawed(self.mark())

    def mark(self) -> Mark:
        """Return this moment."""
        return self._ledger.mark()

    @contextmanager
    def setting_up(self, definition: pytest.FixtureDef[Any], param: Any) -> Iterator[None]:
        """Note that what is made inside is a fixture's."""
        setup = self._setups[definition] = Setup(definition, self.mark(), param)
        wide = definition.scope != "function"
        if wide:
            self._older.see(setup.start)
        try:
            yield
        except BaseException:
            setup.broke = True
            raise
        finally:
            setup.end = self.mark()
        if wide:
            self._older.see(setup.end)

    def ended(self, definition: pytest.FixtureDef[Any]) -> Setup | None:
        """Note that a fixture has ended; return its setup, if that was seen."""
        return self._setups.pop(definition, None)

    def of_no_fixture(self, tensor: Any) -> bool:
        """Say whether a tensor was made in the setup of none of the fixtures that are alive."""
        return not any(setup.made(tensor) for setup in self._setups.values())

    def holders(self) -> Iterator[Any]:
        """Yield what holds tensors rightly: the values of fixtures that are alive, and TensorFlow's own caches."""
        yield from library_holders()
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
        born: Callable[[int | str, Any], Mark],
        holders: Callable[[], Iterable[Any]],
        known: Known,
    ) -> Alive | None:
        """Return what is alive and nobody's, where that is more than ``most``; the cheapest looks come first.

        ``look`` says what may be meant. ``holders`` are what holds tensors rightly; so do models that were there when
        what made a tensor began, which ``born`` says. What such models hold, and what is known to leak, is left out of
        all that is asked later.
        """
        if len(look()) <= most:
            return None
        gc.collect()
        if len(look()) <= most or len(self._unknown(without(look(), holders()), known)) <= most:
            return None
        with self.thawed():
            for collections in range(3):
                if collections:
                    gc.collect()  # all of the process; why twice: ledger/collect.py
                found = self._nobodys(without(look(), holders()), born)
                if len(self._unknown(found, known)) <= most:
                    return None
                del found
        return without(look(), holders())

    def groups(self, found: Alive) -> list[LiveTensor]:
        """Return leaks as they are told, each with what holds it."""
        with self.thawed():
            return groups(found, HELD)

    def excuse(self, names: Iterable[int | str]) -> None:
        """Leave these out of all that is asked later."""
        self._excused.update(names)

    def _nobodys(self, found: Alive, born: Callable[[int | str, Any], Mark]) -> Alive:
        by_moment: dict[Mark, set[int | str]] = {}

        def note(name: int | str, tensor: Any) -> bool:
            by_moment.setdefault(born(name, tensor), set()).add(name)
            return True

        found.only(note)
        for moment, names in by_moment.items():
            newer = self._older.newer(moment)
            if newer is not None:
                some = found.among(names)
                self.excuse(names - without(some, older_owners(newer)).names)
        return found.only(lambda name, _: name not in self._excused)

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

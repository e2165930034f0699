"""Whose each live tensor is: of a fixture that is alive, of the test, of an older model; and which are nobody's."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, cast

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
    """A fixture that is alive: between which moments it was set up, and what its tests may leave."""

    definition: pytest.FixtureDef[Any]
    start: Mark
    param: Any = None
    end: Mark = field(default_factory=Mark)
    torn: tuple[Mark, Mark] | None = None
    """Between which moments it was torn down."""
    broke: bool = False
    most: int | None = None
    """The least that a test with it may leave; None where none of its tests is held to anything."""
    ignore: tuple[str, ...] = ()
    gained: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    """What its setup has put into its class and its module, as setUpClass does."""

    @property
    def wide(self) -> bool:
        """Whether several tests may have it."""
        return self.definition.scope != "function"

    def made(self, tensor: Any) -> bool:
        """Say whether a tensor was made in its setup, or as it was torn down."""
        number = tensor._id
        return bool(
            self.start.tensor < number < self.end.tensor
            or (self.torn is not None and self.torn[0].tensor < number < self.torn[1].tensor)
        )

    def hold(self, most: int, ignore: tuple[str, ...]) -> None:
        """Note that a test with it is held to something."""
        self.most = most if self.most is None else min(most, self.most)
        self.ignore = tuple(dict.fromkeys((*self.ignore, *ignore)))

    def values(self) -> Iterator[Any]:
        """Yield what it has set up."""
        if self.definition.cached_result is not None:
            yield self.definition.cached_result[0]
        yield from (namespace.get(name) for namespace, name in self.gained)


class Account:
    """One ledger for all tests, and the fixtures that are alive."""

    def __init__(self, freezes: bool) -> None:
        self._ledger = Ledger()
        self._started = False
        self._setups: dict[pytest.FixtureDef[Any], Setup] = {}
        self._older = Older(freezes)
        self._excused: set[int | str] = set()
        """What older models hold, and TensorFlow's caches; and what is known to leak."""

    def close(self) -> None:
        """Record no more."""
        self._ledger.stop()
        self._older.close()

    def begin(self, anew: bool) -> Mark:
        """Make ready for a test, and return its beginning. ``anew``: the one before it was held to nothing."""
        if not self._started:
            self._started = True
            self._ledger.start()
        start = self.mark()
        if self._ledger.sees:
            self._older.begin(start, anew)
        return start

    def thawed(self) -> AbstractContextManager[None]:
        """Put everything into the collector's sight for a moment."""
        return self._older.thawed(self.mark()) if self._ledger.sees else nullcontext()

    def mark(self) -> Mark:
        """Return this moment."""
        return self._ledger.mark()

    @contextmanager
    def setting_up(self, definition: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Iterator[Setup]:
        """Note that what is made inside is a fixture's."""
        setup = self._setups[definition] = Setup(definition, self.mark(), getattr(request, "param", None))
        namespaces = _namespaces(request) if setup.wide else []
        before = [{name: id(value) for name, value in namespace.items()} for namespace in namespaces]
        self._see(setup)
        try:
            yield setup
        except BaseException:
            setup.broke = True
            raise
        finally:
            setup.end = self.mark()
        self._see(setup)
        for namespace, then in zip(namespaces, before, strict=True):
            setup.gained += [
                (namespace, name) for name, value in list(namespace.items()) if then.get(name) != id(value)
            ]

    def _see(self, setup: Setup) -> None:
        if setup.wide and self._ledger.sees:
            self._older.see(self.mark())

    def hold(self, names: Iterable[str], most: int, ignore: tuple[str, ...]) -> None:
        """Note what a test is held to, which has the fixtures of these names."""
        wanted = set(names)
        for setup in self._setups.values():
            if setup.definition.argname in wanted:
                setup.hold(most, ignore)

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
            yield from setup.values()

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
        if not self._ledger.sees or len(look()) <= most:
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
            some = found.among(names)
            self.excuse(names - without(some, older_owners(self._older.newer(moment))).names)
        return found.only(lambda name, _: name not in self._excused)

    def _unknown(self, found: Alive, known: Known) -> Alive:
        for leak, names in members(found, HELD if known.by_holder else 0, each=known.by_holder):
            if leak in known:
                self.excuse(names)
        return found.only(lambda name, _: name not in self._excused)


def _namespaces(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """Return what the class and the module of a test have, if it has such."""
    owners = (getattr(request.node, "cls", None) or getattr(request, "cls", None), getattr(request, "module", None))
    return [cast("dict[str, Any]", vars(owner)) for owner in owners if owner is not None]


def without(alive: Alive, holders: Iterable[Any]) -> Alive:
    """Return what none of the holders reaches."""
    held = reached(holders, {id(one[0]) for one in (*alive.tensors.values(), *alive.handles.values())})
    return alive.only(lambda _, tensor: id(tensor) not in held)

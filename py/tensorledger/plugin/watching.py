"""Holds tests to what they may leave. It is registered when a test or an option asks for it.

A test is judged when its function has returned: what it made, and nothing that goes on holds, is to be gone. What its
fixtures made, or hold, is judged when they have ended.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import pytest
from _pytest.outcomes import Exit, OutcomeException, Skipped, XFailed

from tensorledger.ledger.live import Alive, Mark
from tensorledger.plugin.account import HELD, Account, Setup, without
from tensorledger.plugin.known import Known
from tensorledger.plugin.limits import Limits, limits_of
from tensorledger.plugin.reach import of_traceback
from tensorledger.plugin.repeating import Repeated
from tensorledger.plugin.telling import TensorLeakWarning, fixture_left, grew, lent_left, test_left

Wrapped = Generator[None, Any, Any]


@dataclass(frozen=True)
class Lent:
    """What a test has made that a fixture holds which is alive."""

    nodeid: str
    most: int
    """How many tensors that test may leave."""


@dataclass
class Test:
    """The one that runs."""

    item: pytest.Item
    limits: Limits
    start: Mark
    called: Mark | None = None
    """When its function began; its fixtures were set up by then."""
    judged: bool = True
    """Whether what its function made is still to be judged: not where it failed, or was told of already."""
    tearing: Mark | None = None
    """Since when the next fixture is torn down."""
    ended: list[Setup] = field(default_factory=list)
    """Fixtures that have ended with it."""
    beside: list[str] = field(default_factory=list)
    """What is told beside its own failure."""

    @property
    def most(self) -> int:
        return self.limits.live.count if self.limits.live else 0

    @property
    def ignore(self) -> tuple[str, ...]:
        return tuple(pattern for limit in (self.limits.live, self.limits.growth) if limit for pattern in limit.ignore)

    @property
    def others(self) -> list[Setup]:
        """Fixtures that have ended with it, that other tests had too, and of which one was held to something."""
        return [setup for setup in self.ended if setup.wide and setup.most is not None]


class Watching:
    """Pytest's hooks. The ledger goes on from the first test that is held to something."""

    def __init__(self, config: pytest.Config, mode: str | None) -> None:
        self._root = config.rootpath
        self._every = mode is not None
        self._warns = mode == "warn"
        self._ignored = tuple(config.getini("tensor_leaks_ignore"))
        self._account = Account(config.getini("tensor_leaks_freeze"))
        self._test: Test | None = None
        self._other = False
        """Whether the latest test is held to nothing."""
        self._lent: dict[int | str, Lent] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Wrapped:
        try:
            limits = limits_of(item, self._every)
        except ValueError:
            limits = None  # its call says so
        start = self._account.mark() if limits is None else self._account.begin(anew=self._other)
        self._other = limits is None
        test = self._test = Test(item, limits or Limits(), start)
        try:
            return (yield)
        except BaseException:
            test.judged = False
            raise

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Wrapped:
        with self._account.setting_up(fixturedef, request) as setup:
            result = yield
        if self._test is not None and self._test.limits.live:
            setup.hold(self._test.most, self._test.ignore)
        return result

    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        setup, test = self._account.ended(fixturedef), self._test
        if setup is None or test is None:
            return
        if test.tearing is not None:
            setup.torn = test.tearing, self._account.mark()
            test.tearing = setup.torn[1]
        if not setup.broke:
            test.ended.append(setup)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapped:
        test, account = self._test, self._account
        assert test is not None
        live, growth = test.limits.live, test.limits.growth
        if live is None and growth is None:
            wrong = _wrong_marker(item, self._every)
            if wrong:
                pytest.fail(wrong, pytrace=False)
            return (yield)
        start = test.called = account.mark()
        if live:
            account.hold(getattr(item, "fixturenames", ()), test.most, test.ignore)
        repeated = Repeated(item, growth, lambda: account.made(start), account.mark) if growth else None
        try:
            result = yield
        except BaseException as error:
            self._failed(test, start, error)
            raise
        finally:
            if repeated:
                repeated.undo()
        # The test of a unittest class does not raise: it notes what was raised.
        for noted in getattr(item, "_excinfo", None) or ():
            self._failed(test, start, noted.value)
            return result
        grown = repeated.grown(self._known(test), HELD, account.thawed) if repeated and growth else None
        said = [grew(grown, growth)] if grown and growth else self._left_by_the_function(test, start)
        if said:
            test.judged = False
            self._tell(item, said)
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Wrapped:
        test = self._test
        assert test is not None
        test.tearing = self._account.mark()
        try:
            result = yield
        except BaseException:
            try:
                test.beside += self._left_at_the_end(test)
            except Exception as ours:  # the failure of its tear-down comes first, too
                test.beside.append(_could_not(ours))
            raise
        said = self._left_at_the_end(test)
        if said:
            self._tell(item, said)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        test = self._test
        if test is not None and test.item is item and test.beside and report.failed:
            report.sections.append(("tensors left, beside the failure", "\n\n".join(test.beside)))
            test.beside = []
        return report

    def pytest_unconfigure(self) -> None:
        self._account.close()

    def _tell(self, item: pytest.Item, said: list[str]) -> None:
        if self._warns:
            item.warn(TensorLeakWarning("\n\n".join(said)))
        else:
            pytest.fail("\n\n".join(said), pytrace=False)

    def _failed(self, test: Test, start: Mark, error: BaseException) -> None:
        test.judged = False
        if isinstance(error, (Exception, OutcomeException)) and not isinstance(error, (Skipped, XFailed, Exit)):
            try:
                test.beside += self._left_by_the_function(test, start, error)
            except Exception as ours:  # the test's own failure comes first, whatever happens here
                test.beside.append(_could_not(ours))

    def _left_by_the_function(self, test: Test, start: Mark, error: BaseException | None = None) -> list[str]:
        """Say what the test's function has left that neither its fixtures hold nor the traceback of its failure."""
        if test.limits.live is None:
            return []
        found = self._account.left(
            lambda: self._account.made(start),
            test.most,
            lambda *_: start,
            lambda: self._holders(test.item, error),
            self._known(test),
        )
        return [] if found is None else [test_left(self._account.groups(found), test.most)]

    def _left_at_the_end(self, test: Test) -> list[str]:
        """Say what is left by fixtures that have ended, and by tests that these held until now."""
        if hasattr(test.item, "funcargs"):
            test.item.funcargs = {}  # pytest drops them after this
        lent = [*self._lent.values()] if test.others else []
        allowed = [*(one.most for one in lent), *(setup.most or 0 for setup in test.others)]
        if test.limits.live:
            allowed.append(test.most)
        if not allowed:
            return []
        account = self._account
        starts = [test.start, *(setup.start for setup in test.ended)]
        since = Mark() if lent else min(starts, key=lambda mark: mark.tensor)
        found = account.left(
            lambda: account.made(since).only(lambda name, one: self._maker(test, name, one) is not None),
            min(allowed),
            lambda name, one: self._began(test, name, one),
            lambda: self._holders(test.item, getattr(sys, "last_value", None)),
            self._known(test),
        )
        told: set[int | str] = set()
        said = [] if found is None else [*self._told(test, found, told)]
        self._lend(test, told)
        return said

    def _maker(self, test: Test, name: int | str, tensor: Any) -> Setup | Lent | Test | None:
        """Return who made a tensor that is to be gone when the test is over; None where it need not be."""
        setup = next((setup for setup in reversed(test.ended) if setup.made(tensor)), None)
        if setup is not None:
            return setup if setup in test.others or (not setup.wide and test.limits.live) else None
        if test.limits.live and tensor._id > test.start.tensor:
            return test if test.judged else None
        return self._lent.get(name) if test.others else None

    def _began(self, test: Test, name: int | str, tensor: Any) -> Mark:
        maker = self._maker(test, name, tensor)
        return maker.start if isinstance(maker, Setup) else test.called or test.start

    def _told(self, test: Test, found: Alive, told: set[int | str]) -> Iterator[str]:
        """Say it of each maker that has left more than it may; ``told`` gets the names of what it is said of."""
        made: dict[int, tuple[Setup | Lent | Test, set[int | str]]] = {}

        def note(name: int | str, tensor: Any) -> bool:
            maker = self._maker(test, name, tensor)
            assert maker is not None
            made.setdefault(id(maker), (maker, set()))[1].add(name)
            return True

        found.only(note)
        own = [names for maker, names in made.values() if not _is_others(maker)]
        within = sum(map(len, own)) <= test.most
        for maker, names in made.values():
            if within if not _is_others(maker) else len(names) <= (maker.most or 0):
                continue
            told |= names
            leaks = self._account.groups(found.among(names))
            if isinstance(maker, Setup):
                yield fixture_left(maker.definition, maker.param, leaks, self._root)
            else:
                yield lent_left(maker.nodeid if isinstance(maker, Lent) else test.item.nodeid, leaks)

    def _lend(self, test: Test, told: set[int | str]) -> None:
        """Remember what a fixture holds that goes on: it is judged when that has ended."""
        account = self._account
        there = account.made(Mark()).names - told if self._lent else set()
        self._lent = {name: lent for name, lent in self._lent.items() if name in there}
        new = account.made(test.start) if test.judged and test.limits.live else None
        if new:
            lent = new.names - without(new, account.holders()).names - told
            self._lent.update(dict.fromkeys(lent, Lent(test.item.nodeid, test.most)))

    def _known(self, test: Test) -> Known:
        return Known((*self._ignored, *test.ignore, *(pattern for setup in test.others for pattern in setup.ignore)))

    def _holders(self, item: pytest.Item, error: BaseException | None) -> Iterator[Any]:
        """Yield what holds tensors rightly: fixtures, the test's instance, what pytest keeps of it, a traceback."""
        yield from self._account.holders()
        yield from (getattr(item, "funcargs", None) or {}).values()
        yield getattr(item, "_instance" if hasattr(item, "_instance") else "instance", None)
        yield from item.stash._storage.values()
        yield getattr(builtins, "_", None)  # what a doctest has shown last
        yield from of_traceback(error)


def _is_others(maker: Setup | Lent | Test) -> TypeGuard[Setup | Lent]:
    return isinstance(maker, Lent) or (isinstance(maker, Setup) and maker.wide)


def _could_not(ours: Exception) -> str:
    return f"tensorledger could not look at what is left: {ours!r}"


def _wrong_marker(item: pytest.Item, every: bool) -> str:
    try:
        limits_of(item, every)
    except ValueError as error:
        return str(error)
    return ""

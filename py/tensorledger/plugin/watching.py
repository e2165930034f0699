"""Holds tests to what they may leave. It is registered when a test or an option asks for it.

A test is judged when its function has returned: what it made, and nothing that goes on holds, is to be gone. What its
fixtures made, or hold, is judged when they have ended.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

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
    ended: list[Setup] = field(default_factory=list)
    """Fixtures that have ended with it."""
    beside: list[str] = field(default_factory=list)
    """What is told beside its own failure."""

    @property
    def ends_others(self) -> bool:
        """Whether a fixture has ended with it that other tests had too."""
        return any(setup.definition.scope != "function" for setup in self.ended)

    @property
    def most(self) -> int:
        return self.limits.live.count if self.limits.live else 0


class Watching:
    """Pytest's hooks. The account goes on from the first test that is held to something."""

    def __init__(self, config: pytest.Config, mode: str | None) -> None:
        self._root = config.rootpath
        self._every = mode is not None
        self._warns = mode == "warn"
        self._ignored = tuple(config.getini("tensor_leaks_ignore"))
        self._account: Account | None = None
        self._test: Test | None = None
        self._other = False
        """Whether the latest test is held to nothing."""
        self._lent: dict[int | str, str] = {}
        """What tests have made that a fixture holds which is alive, and which test made it."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Wrapped:
        self._test = None
        try:
            limits = limits_of(item, self._every)
        except ValueError:
            limits = None  # its call says so
        if limits is None:
            self._other = True
            return (yield)
        self._account = self._account or Account()
        test = self._test = Test(item, limits, self._account.begin(anew=self._other))
        self._other = False
        try:
            return (yield)
        except BaseException:
            test.judged = False
            raise

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Wrapped:
        if self._account is None:
            return (yield)
        with self._account.setting_up(fixturedef, getattr(request, "param", None)):
            return (yield)

    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        setup = self._account.ended(fixturedef) if self._account else None
        if setup is not None and self._test is not None and not setup.broke:
            self._test.ended.append(setup)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapped:
        test, account = self._test, self._account
        if test is None or account is None:
            wrong = _wrong_marker(item, self._every)
            if wrong:
                pytest.fail(wrong, pytrace=False)
            return (yield)
        start = test.called = account.mark()
        growth = test.limits.growth
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
        if test is None:
            return (yield)
        try:
            result = yield
        except BaseException:
            test.beside += self._left_at_the_end(test)
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
        if self._account is not None:
            self._account.close()

    def _tell(self, item: pytest.Item, said: list[str]) -> None:
        if self._warns:
            item.warn(TensorLeakWarning("\n\n".join(said)))
        else:
            pytest.fail("\n\n".join(said), pytrace=False)

    def _failed(self, test: Test, start: Mark, error: BaseException) -> None:
        test.judged = False
        if isinstance(error, (Exception, OutcomeException)) and not isinstance(error, (Skipped, XFailed, Exit)):
            test.beside += self._left_by_the_function(test, start, error)

    def _left_by_the_function(self, test: Test, start: Mark, error: BaseException | None = None) -> list[str]:
        """Say what the test's function has left that neither its fixtures hold nor the traceback of its failure."""
        account = self._account
        assert account is not None
        if test.limits.live is None:
            return []
        found = account.left(
            lambda: account.made(start),
            test.most,
            lambda *_: start,
            lambda: self._holders(test.item, error),
            self._known(test),
        )
        return [] if found is None else [test_left(account.groups(found), test.most)]

    def _left_at_the_end(self, test: Test) -> list[str]:
        """Say what is left by fixtures that have ended, and by tests that these held until now."""
        account = self._account
        assert account is not None
        if hasattr(test.item, "funcargs"):
            test.item.funcargs = {}  # pytest drops them after this
        starts = [test.start, *(setup.start for setup in test.ended)]
        since = Mark() if self._lent and test.ends_others else min(starts, key=lambda mark: mark.tensor)
        found = account.left(
            lambda: account.made(since).only(lambda name, one: self._maker(test, name, one) is not None),
            test.most,
            lambda name, one: self._began(test, name, one),
            lambda: self._holders(test.item, getattr(sys, "last_value", None)),
            self._known(test),
        )
        said = [] if found is None else [*self._told(test, found)]
        self._lend(test, said)
        return said

    def _maker(self, test: Test, name: int | str, tensor: Any) -> Setup | str | None:
        """Return who made a tensor that is to be gone when the test is over: a fixture, or a test's name; or None."""
        setup = next((setup for setup in reversed(test.ended) if setup.made(tensor)), None)
        if setup is not None:
            return setup
        if test.judged and test.limits.live and tensor._id > test.start.tensor:
            return test.item.nodeid
        return self._lent.get(name) if test.ends_others else None

    def _began(self, test: Test, name: int | str, tensor: Any) -> Mark:
        maker = self._maker(test, name, tensor)
        return maker.start if isinstance(maker, Setup) else test.called or test.start

    def _told(self, test: Test, found: Alive) -> Iterator[str]:
        account = self._account
        assert account is not None
        made: dict[Setup | str, set[int | str]] = {}

        def note(name: int | str, tensor: Any) -> bool:
            maker = self._maker(test, name, tensor)
            assert maker is not None
            made.setdefault(maker, set()).add(name)
            return True

        found.only(note)
        for maker, names in made.items():
            leaks = account.groups(found.among(names))
            if isinstance(maker, Setup):
                yield fixture_left(maker.definition, maker.param, leaks, self._root)
            else:
                yield lent_left(maker, leaks)

    def _lend(self, test: Test, said: list[str]) -> None:
        """Remember what a fixture holds that goes on: it is judged when that has ended."""
        account = self._account
        assert account is not None
        there = account.made(Mark()).names if self._lent else set()
        self._lent = {} if said else {name: nodeid for name, nodeid in self._lent.items() if name in there}
        new = account.made(test.start) if test.judged and test.limits.live and not said else None
        if new:
            new = without(new, [getattr(test.item, "_instance", None)])  # pytest keeps that for good
            self._lent.update(dict.fromkeys(new.names, test.item.nodeid))

    def _known(self, test: Test) -> Known:
        limits = (test.limits.live, test.limits.growth)
        return Known((*self._ignored, *(pattern for limit in limits if limit for pattern in limit.ignore)))

    def _holders(self, item: pytest.Item, error: BaseException | None) -> Iterator[Any]:
        """Yield what holds tensors rightly: fixtures, the test's instance, what pytest keeps of it, a traceback."""
        assert self._account is not None
        yield from self._account.holders()
        yield from (getattr(item, "funcargs", None) or {}).values()
        yield getattr(item, "_instance", None)
        yield from item.stash._storage.values()
        yield from of_traceback(error)


def _wrong_marker(item: pytest.Item, every: bool) -> str:
    try:
        limits_of(item, every)
    except ValueError as error:
        return str(error)
    return ""

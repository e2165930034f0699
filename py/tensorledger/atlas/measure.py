"""A cell of the atlas: a scenario on a release, from inputs to what it shows, so that any executor can run it."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tensorledger.atlas.shows import Shows, alike, shown
from tensorledger.cells.cell import LIMIT
from tensorledger.environment.cache import cache_folder
from tensorledger.environment.releases import ReleaseMissing
from tensorledger.environment.tree import tree
from tensorledger.expectations.expectation import expectation_for
from tensorledger.models.saved import saved_model
from tensorledger.protocol.messages import RunScenario
from tensorledger.scenarios.catalogue import Scenario, find
from tensorledger.targets.target import Target
from tensorledger.workers.errors import WorkerFailed, WorkerNotStarted
from tensorledger.workers.pool import Workers
from tensorledger.workers.start import Starter
from tensorledger.workers.worker import Watch

MOST = 5
"""Cycles after the warm-up at most, where no two in a row are alike."""


@dataclass(frozen=True)
class How:
    """How cells are measured."""

    recipe: str = ""
    """Empty: each release's default."""
    limit: float = LIMIT
    """Seconds that a cell may take."""
    cycles: int = MOST
    """Cycles after the warm-up at most."""
    params: dict[str, Any] = field(default_factory=dict)


class Measured(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a cell: what it shows, or why its release cannot be used."""

    shows: Shows | None = None
    not_installed: str = ""
    not_loaded: str = ""
    versions: dict[str, str] = {}
    """What the worker said that it is."""


def counting() -> Workers:
    """Return workers from which nothing but the exact counts is wanted."""
    return Workers(Starter(counts_only=True))


def measure_with(workers: Workers, scenario: Scenario, target: Target, how: How) -> Measured:
    """Run one cell. Raises BadDefinition, NodeMissing, PackagesMissing or CacheUnusable."""
    file = scenario.file(target)
    assert file is not None, "who asks has looked whether it is written in the target's language"
    model = expectation_for(scenario.name, file).model
    # A throw does not end it: what every cycle throws is what the release shows.
    request = RunScenario(
        scenario=str(file), model=model, recipe=how.recipe, cycles=how.cycles, throws=True, params=how.params
    )
    watch = Watch(reached=lambda cycle, checkpoint: None, saved_model=saved_model, enough=alike)
    for last in (False, True):  # what breaks is tried once more: machines stumble, too
        try:
            outcome, _ = workers.run(target, request, watch, how.limit)
            return _plain(Measured(shows=shown(outcome), versions=workers.versions[target]))
        except ReleaseMissing as error:
            return _plain(Measured(not_installed=str(error)))
        except WorkerFailed as error:
            if last and isinstance(error, WorkerNotStarted):
                return _plain(Measured(not_loaded=error.message))
            if last:
                broke = f"{type(error).__name__}: {error.message}"
                return _plain(Measured(shows=Shows(recipe=how.recipe, broke=broke)))
    raise AssertionError("the last attempt returns")


def _plain(measured: Measured) -> Measured:
    """Return it without the places where things happen to be on this machine."""
    text = msgspec.json.encode(measured).decode()
    for folder in (f"{cache_folder()}/releases", str(cache_folder()), str(tree())):
        text = text.replace(folder, "…")
    return msgspec.json.decode(text, type=Measured)


# --- in a process of an executor


class _Kept(threading.local):
    """A thread's workers, for as long as it is given cells of one target."""

    target: Target | None = None
    workers: Workers | None = None


_kept = _Kept()
_all: list[Workers] = []
"""Those of every thread, for ``let_go``."""


def measure(scenario: str, target: Target, how: How) -> Measured:
    """Run one cell in an executor's process, by the scenario's name; the thread's worker of a target goes with it.

    Raises as ``measure_with``.
    """
    if _kept.workers is None or _kept.target != target:
        if _kept.workers is not None:
            _kept.workers.stop()
            with suppress(ValueError):
                _all.remove(_kept.workers)
        _kept.target, _kept.workers = target, counting()
        _all.append(_kept.workers)
    return measure_with(_kept.workers, find(scenario), target, how)


def let_go() -> None:
    """End all workers of this process. What is measured here afterwards starts others."""
    while _all:
        _all.pop().stop()

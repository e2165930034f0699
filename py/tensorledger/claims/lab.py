"""What claims are measured with. Tests put one in its place that says otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tensorledger.atlas.measure import How, counting, measure_with
from tensorledger.atlas.shows import Shows
from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.environment.cache import CacheUnusable
from tensorledger.environment.node import NodeMissing
from tensorledger.environment.packages import PackagesMissing
from tensorledger.environment.tree import tree
from tensorledger.expectations.toml import BadDefinition
from tensorledger.recipes import javascript, python
from tensorledger.recipes.row import Row
from tensorledger.results.result import Result
from tensorledger.scenarios.catalogue import Scenario, all_scenarios, find
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

FEW = 4
"""Cycles that show whether exact counts grow."""


class Unmeasured(Exception):
    """Something could not be measured on a target; the message says why."""


class Lab(Protocol):
    """Measures; the same thing is measured once. Each method raises Unmeasured where that cannot be done."""

    def shows(self, target: Target, scenario: str, recipe: str = "", **params: Any) -> Shows:
        """Return the exact counts that a scenario shows, a throw among them."""
        ...

    def result(self, target: Target, scenario: str, recipe: str = "", cycles: int = 2) -> Result:
        """Return the judged result of a scenario, with every level, after forced collections."""
        ...

    def row(
        self, target: Target, model: str, usage: str, recipe: str, allocator: str = "default", cycles: int = FEW
    ) -> Row:
        """Return a crossing of the recipes table that applies, whatever its recipe threw.

        ``cycles``: in Python; JavaScript's are fixed.
        """
        ...

    def let_go(self, target: Target) -> None:
        """End what is kept for a target."""
        ...


class Measuring:
    """The lab that really measures. Use it as a context manager; each thread has targets of its own."""

    def __init__(self) -> None:
        self._counting, self._whole = counting(), Workers()
        self._known: dict[tuple[Any, ...], Any] = {}
        self._writing = threading.Lock()
        self._over = threading.Event()

    def __enter__(self) -> Measuring:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._counting.stop()
        self._whole.stop()

    def shows(self, target: Target, scenario: str, recipe: str = "", **params: Any) -> Shows:
        def measure() -> Shows:
            measured = measure_with(self._counting, named(scenario, target), target, How(recipe=recipe, params=params))
            if measured.shows is None or measured.shows.broke:
                why = measured.not_installed or measured.not_loaded or (measured.shows and measured.shows.broke)
                raise Unmeasured(str(why))
            return measured.shows

        shows: Shows = self._once((target, scenario, recipe, *sorted(params.items())), measure)
        return shows

    def result(self, target: Target, scenario: str, recipe: str = "", cycles: int = 2) -> Result:
        def measure() -> Result:
            cell = Cell(named(scenario, target), target)
            result = run_cell(cell, self._whole, Settings(cycles=cycles, recipe=recipe)).result
            if not result.checkpoints:
                raise Unmeasured(result.reason)
            return result

        result: Result = self._once((target, scenario, recipe, "whole", cycles), measure)
        return result

    def row(
        self, target: Target, model: str, usage: str, recipe: str, allocator: str = "default", cycles: int = FEW
    ) -> Row:
        def measure() -> Row:
            if target.language == "js":
                [row] = javascript.rows(model, target, [recipe], [usage], self._counting)
            else:
                [row] = python.rows(model, target, [recipe], [usage], [allocator], self._whole, cycles)
            if row.left is None:
                raise Unmeasured(row.reason or (row.error.message if row.error else "nothing was measured"))
            return row

        row: Row = self._once((target, model, usage, recipe, allocator, cycles), measure)
        return row

    def let_go(self, target: Target) -> None:
        self._counting.let_go(target)
        self._whole.let_go(target)

    def _once(self, key: tuple[Any, ...], measure: Callable[[], Any]) -> Any:
        if key not in self._known:
            if self._over.is_set():  # a thread that was interrupted would start workers that nobody ends
                raise Unmeasured("the run is over")
            try:
                found: Any = measure()
            except Unmeasured as error:
                found = error
            except (BadDefinition, NodeMissing, PackagesMissing, CacheUnusable, OSError) as error:
                found = Unmeasured(str(error))
            with self._writing:
                self._known[key] = found
        found = self._known[key]
        if isinstance(found, Unmeasured):
            raise found
        return found


def named(name: str, target: Target) -> Scenario:
    """Return one of the project's scenarios, or one that only a claim needs (js/claims, py/claims)."""
    if name in all_scenarios():
        return all_scenarios()[name]
    folder, suffix = ("js/claims", ".mjs") if target.language == "js" else ("py/claims", ".py")
    stem = name if target.language == "js" else name.replace("-", "_")
    path: Path = tree() / folder / f"{stem}{suffix}"
    return find(str(path))

"""Runs the crossings of a recipes table, several at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from tensorledger.atlas.measure import counting
from tensorledger.protocol.messages import RECIPES
from tensorledger.recipes import javascript, python
from tensorledger.recipes.row import Row
from tensorledger.targets.target import Target
from tensorledger.workers.allocators import DEFAULT
from tensorledger.workers.pool import Workers


@dataclass(frozen=True)
class Choice:
    """What is crossed; what is empty means all there are."""

    models: Sequence[str]
    recipes: Sequence[str] = ()
    usages: Sequence[str] = ()
    allocators: Sequence[str] = (DEFAULT,)
    cycles: int = python.CYCLES
    """Of each crossing in Python, after the warm-up."""

    def size(self, target: Target) -> int:
        """Return how many rows a target has."""
        both = len(self._recipes(target)) * len(self._usages(target)) * len(self._models(target))
        return both * (len(self.allocators) if target.language == "py" else 1)

    def rows(self, target: Target, workers: Workers) -> Iterator[Row]:
        """Yield the rows of a target as they are measured. ``workers`` need not say more than how much is left."""
        recipes, usages = self._recipes(target), self._usages(target)
        for model in self._models(target):
            if target.language == "js":
                yield from javascript.rows(model, target, recipes, usages, workers)
            else:
                yield from python.rows(model, target, recipes, usages, self.allocators, workers, self.cycles)

    def parts(self, target: Target) -> list[Choice]:
        """Return what may be measured beside each other: in Python each model's usages, in JavaScript all of it."""
        if target.language == "js":
            return [self]
        models, usages = self._models(target), self._usages(target)
        return [replace(self, models=(model,), usages=(usage,)) for model in models for usage in usages]

    def _models(self, target: Target) -> list[str]:
        there = javascript if target.language == "js" else python
        return [model for model in self.models if there.takes(model)]

    def _recipes(self, target: Target) -> list[str]:
        return [name for name in RECIPES[target.language] if not self.recipes or name in self.recipes]

    def _usages(self, target: Target) -> list[str]:
        there = javascript.USAGES if target.language == "js" else python.USAGES
        return [name for name in there if not self.usages or name in self.usages]


def sweep(choice: Choice, targets: Sequence[Target], jobs: int, told: Callable[[Row], None]) -> list[Row]:
    """Return all rows, in the order of the targets. ``told`` is handed each as it is measured, by any thread."""
    over = threading.Event()
    own = threading.local()
    everyones: list[Workers] = []

    def mine() -> None:
        own.workers = counting()
        everyones.append(own.workers)

    def run(target: Target, part: Choice) -> list[Row]:
        found = []
        for row in part.rows(target, own.workers):
            found.append(row)
            told(row)
            if over.is_set():
                break
        if target.language == "js":
            own.workers.let_go(target)
        return found

    executor = ThreadPoolExecutor(jobs, initializer=mine)
    try:
        # The last usage first: fit, which takes as long as all others, is not to be what is left at the end.
        parts = [[executor.submit(run, target, part) for part in reversed(choice.parts(target))] for target in targets]
        return [row for of_target in parts for part in reversed(of_target) for row in part.result()]
    finally:
        # First nothing new may start: a thread whose worker is stopped goes on to the next part.
        over.set()
        executor.shutdown(wait=False, cancel_futures=True)
        for workers in everyones:
            workers.stop()

"""Measures scenarios on releases, release by release, through any executor; what is in the store is not run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from tensorledger.atlas.measure import How, Measured, measure
from tensorledger.atlas.shelf import Shelf
from tensorledger.atlas.store import Store, key
from tensorledger.environment.releases import ReleaseMissing
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.target import Target

TURN = 0.5
"""Seconds after which who waits looks whether it was interrupted."""


@dataclass
class Swept:
    """What a sweep came to: of each target what each scenario shows, by name, or why it cannot be used."""

    cells: dict[Target, dict[str, Measured]] = field(default_factory=dict)
    ran: int = 0
    """Cells that were run, and not found in the store."""

    def unusable(self, target: Target) -> Measured | None:
        """Return what says why a release cannot be used; None where it can."""
        return next((cell for cell in self.cells.get(target, {}).values() if cell.shows is None), None)


@dataclass
class _Open:
    """A release that is being measured."""

    target: Target
    waiting: list[Scenario]
    """The scenarios that are to be run once one of them has shown that the release loads."""
    running: int = 0


def sweep(
    scenarios: Sequence[Scenario],
    targets: Sequence[Target],
    how: How,
    executor: Executor,
    jobs: int,
    store: Store,
    shelf: Shelf,
    told: Callable[[Target, int], None],
) -> Swept:
    """Measure what is not in the store; keep each cell there as it ends.

    ``jobs``: how many cells the executor runs at once. ``told`` hears of each target how many more cells are done.
    Raises what a cell raises, StoreUnusable, and what the executor raises when its processes die.
    """
    swept = Swept({target: {} for target in targets})
    keys: dict[tuple[Target, str], str] = {}
    to_do: deque[_Open] = deque()
    for target in targets:
        waiting = []
        for scenario in scenarios:
            if scenario.file(target) is None:
                continue
            keys[target, scenario.name] = key(scenario, target, how)
            found = store.get(keys[target, scenario.name])
            if found is None:
                waiting.append(scenario)
            else:
                swept.cells[target][scenario.name] = found
        unusable = swept.unusable(target)
        if unusable is not None:  # one cell speaks for all of them
            waiting = []
        told(target, len([s for s in scenarios if s.file(target)]) - len(waiting))
        if waiting:
            to_do.append(_Open(target, waiting))

    needed = {release.target for release in to_do}
    cells: dict[Future[Measured], tuple[_Open, Scenario]] = {}
    fetching: dict[Future[None], _Open] = {}

    def submit(release: _Open, chosen: Sequence[Scenario]) -> None:
        for scenario in chosen:
            cells[executor.submit(measure, scenario.name, release.target, how)] = (release, scenario)
        release.running += len(chosen)

    def give_up(release: _Open, measured: Measured) -> None:
        told(release.target, len(release.waiting))
        release.waiting = []
        needed.discard(release.target)
        for scenario in scenarios:
            swept.cells[release.target].setdefault(scenario.name, measured)

    with ThreadPoolExecutor(1) as fetcher:
        while to_do or cells or fetching:
            # As many as keep the executor busy while the next is fetched, and no more: they cannot be discarded.
            while to_do and len({id(release) for release, _ in cells.values()}) + len(fetching) <= jobs:
                release = to_do.popleft()
                fetching[fetcher.submit(shelf.bring, release.target, frozenset(needed))] = release
            running: list[Future[Any]] = [*cells, *fetching]
            done, _ = wait(running, timeout=TURN, return_when=FIRST_COMPLETED)
            for future in done:
                if future in fetching:
                    release = fetching.pop(future)
                    try:
                        future.result()
                    except ReleaseMissing as error:  # not kept in the store: the next run tries again
                        give_up(release, Measured(not_installed=str(error)))
                        continue
                    first, *release.waiting = release.waiting
                    submit(release, [first])
                    continue
                release, scenario = cells.pop(future)
                measured: Measured = future.result()
                release.running -= 1
                swept.ran += 1
                if not measured.not_installed:
                    store.add(release.target, scenario.name, keys[release.target, scenario.name], measured)
                swept.cells[release.target][scenario.name] = measured
                told(release.target, 1)
                if measured.shows is None:
                    give_up(release, measured)
                elif release.waiting:
                    submit(release, release.waiting)
                    release.waiting = []
                if not release.running:
                    needed.discard(release.target)
    return swept

"""Runs cells on several cores, target by target, ahead of who asks for them in order."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, wait
from contextlib import suppress
from itertools import groupby

from tensorledger.cells.cell import Cell, Ran, Settings, run_cell
from tensorledger.workers.pool import Workers

TURN = 0.5
"""Seconds after which who waits for a cell looks whether it was interrupted."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _line(cell: Cell) -> object:
    """Return what cells have in common that run one after another: the target, or the browser, of which there is one.

    So what breaks the browser, or has its GPU reset, breaks one scenario.
    """
    return "browser" if cell.target.browser else cell.target


class Ahead:
    """The cells of a run, of which each of ``jobs`` threads runs one target's after another's."""

    def __init__(self, cells: Iterable[Cell], workers: Workers, settings: Settings, jobs: int) -> None:
        listed = list(cells)
        self._workers = workers
        self._settings = settings
        self._ran: dict[str, Future[Ran]] = {str(cell): Future() for cell in listed}
        self._asked: set[str] = set()
        self._waiting = deque(list(group) for _, group in groupby(listed, key=_line))
        self._over = threading.Event()
        for _ in range(min(jobs, len(self._waiting))):
            # A daemon: what it is in the middle of may take minutes, and nobody waits for it once the run is over.
            threading.Thread(target=self._work, daemon=True).start()

    def run(self, cell: Cell) -> Ran:
        """Return what came of a cell as soon as it is done; one that was asked for before is run again."""
        name = str(cell)
        if name not in self._ran or name in self._asked:
            return run_cell(cell, self._workers, self._settings)
        self._asked.add(name)
        future = self._ran[name]
        # In turns: a Ctrl-C that the system gives to another thread does not wake this one.
        while not wait([future], timeout=TURN).done:
            pass
        return future.result()

    def stop(self) -> None:
        """Begin no further cell. Those that run end as soon as their workers are stopped."""
        self._over.set()

    def _work(self) -> None:
        with suppress(IndexError):
            while True:
                for cell in self._waiting.popleft():
                    if self._over.is_set():
                        return
                    future = self._ran[str(cell)]
                    try:
                        future.set_result(run_cell(cell, self._workers, self._settings))
                    except BaseException as error:  # it ends the whole run, so it is for who asks
                        future.set_exception(error)
        # On Linux a process ends with the thread that started it: the last workers may be asked for more.
        self._over.wait()

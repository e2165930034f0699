"""Runs one cell in a process of its own, and prints what that took, as JSON: one_cell.py FILE TARGET CYCLES PARAMS

Processor seconds are the cell's alone: a worker has started, and has run a cell of no size, before they are counted.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path

import msgspec
import psutil
from clocks import processor_seconds

from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.catalogue import resolve
from tensorledger.workers.pool import Workers

LIMIT = 1200.0


class Took(msgspec.Struct, frozen=True):
    """What one cell took of the harness, and of its workers together."""

    harness: float
    """Processor seconds."""
    workers: float
    harness_memory: float
    """MiB that were resident at most, at any time of the process."""
    worker_memory: float
    """Of the worker."""
    verdict: str

    @property
    def seconds(self) -> float:
        return self.harness + self.workers


def run(file: Path, written: str, cycles: int, params: dict[str, int]) -> Took:
    (target,) = resolve([written])
    cell = Cell(Scenario(file.stem, {target.language: file}), target)
    peaks: dict[int, float] = {}

    def reached(cycle: int, checkpoint: str) -> None:
        if cycle == cycles:
            peaks.update({worker.pid: _peak(worker.pid) for worker in _workers()})

    with Workers() as workers:
        run_cell(cell, workers, Settings(cycles=3, params=dict.fromkeys(params, 0) | {"every": 1}))
        before = _seconds()
        settings = Settings(cycles=cycles, limit=LIMIT, params={"every": 1, **params}, reached=reached)
        result = run_cell(cell, workers, settings).result
        after = _seconds()
    said = f"{result.verdict}: {result.reason}" if result.verdict in ("error", "skip") else result.verdict
    harness, below = (later - earlier for earlier, later in zip(before, after, strict=True))
    return Took(harness, below, _peak("self"), max(peaks.values(), default=0.0), said)


def _workers() -> list[psutil.Process]:
    """Return the processes below this one that have none below them: a stem has its workers."""
    return [child for child in psutil.Process().children(recursive=True) if not child.children()]


def _seconds() -> tuple[float, float]:
    """Return the processor seconds of this process, and of all below it: those that have ended too."""
    own = psutil.Process().cpu_times()
    below = own.children_user + own.children_system
    for child in psutil.Process().children(recursive=True):
        ended = child.cpu_times()
        below += processor_seconds(child.pid) + ended.children_user + ended.children_system
    return time.process_time(), below


def _peak(pid: int | str) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    return int(found[1]) / 1024 if found else 0.0


if __name__ == "__main__":
    file, written, cycles, params = sys.argv[1:]
    print(msgspec.json.encode(run(Path(file).resolve(), written, int(cycles), json.loads(params))).decode())

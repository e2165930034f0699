"""What a scenario takes in a page, warm: every scenario once on each target, one after another. See README.md.

.venv/bin/python benchmarks/page_seconds.py [--target T]… [--cycles N] [--json FILE]
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import psutil
from rich.console import Console
from rich.table import Table

from tensorledger.cells.cell import Cell, Settings, cells, run_cell
from tensorledger.scenarios.catalogue import all_scenarios
from tensorledger.targets.catalogue import lacking, resolve
from tensorledger.workers.pool import Workers

TARGETS = ("tfjs/cpu+browser", "tfjs/wasm+browser", "tfjs/webgl", "tfjs/webgpu")
AIMS = {"cpu": 2.0, "wasm": 2.0, "webgl": 4.0}
"""Seconds that a scenario is to take at most, by the backend."""


@dataclass(frozen=True)
class Took:
    """The seconds of one cell, and how it was judged."""

    target: str
    scenario: str
    verdict: str
    seconds: float


def measure(written: str, cycles: int) -> list[Took]:
    """Return what each scenario took that a target has, after one that is not counted. Each must come to a verdict."""
    (target,) = resolve([written])
    lacks = lacking(target)
    if lacks is not None:
        sys.exit(f"{target}: {lacks}")
    found = []
    with Workers() as workers:
        wanted = cells(list(all_scenarios().values()), [target])
        run_cell(wanted[0], workers, Settings(cycles=cycles))
        for cell in wanted:
            found.append(_took(cell, workers, cycles))
    return found


def _took(cell: Cell, workers: Workers, cycles: int) -> Took:
    result = run_cell(cell, workers, Settings(cycles=cycles)).result
    if result.verdict in ("error", "skip"):
        sys.exit(f"{cell}: {result.verdict}: {result.reason}")
    return Took(str(cell.target), cell.scenario.name, result.verdict, result.seconds)


def table(found: list[Took]) -> Table:
    """Return each target's median, and its slowest scenarios."""
    shown = Table(title="seconds of a scenario in a page, warm")
    for column in ("target", "scenarios", "median", "aim", "above it", "slowest"):
        shown.add_column(column)
    for target in dict.fromkeys(took.target for took in found):
        mine = sorted((took for took in found if took.target == target), key=lambda took: -took.seconds)
        aim = AIMS.get(resolve([target])[0].backend or "")
        above = [took for took in mine if aim is not None and took.seconds > aim]
        shown.add_row(
            target,
            str(len(mine)),
            f"{statistics.median(took.seconds for took in mine):.1f}",
            "–" if aim is None else f"{aim:g}",
            str(len(above)) if aim is not None else "–",
            ", ".join(f"{took.scenario} {took.seconds:.1f}" for took in mine[:3]),
        )
    return shown


@click.command()
@click.option("--target", "targets", multiple=True, default=TARGETS, show_default=True)
@click.option("--cycles", default=3, show_default=True, help="After the warm-up, as in `pytest harness`.")
@click.option("--json", "file", type=click.Path(path_type=Path))
def main(targets: tuple[str, ...], cycles: int, file: Path | None) -> None:
    """Measure, and print a table."""
    load = os.getloadavg()[0]
    found = [took for target in targets for took in measure(target, cycles)]
    shown = Console()
    shown.print(table(found))
    shown.print(f"{psutil.cpu_count()} cores, load {load:.1f} at the start, {os.getloadavg()[0]:.1f} at the end")
    if file is not None:
        file.write_text(json.dumps([asdict(took) for took in found], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

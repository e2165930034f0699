"""What a scenario takes in a page, warm: every one once on each target, but for those of reports. See README.md.

.venv/bin/python benchmarks/page_seconds.py [--target T]… [--cycles N] [--json FILE]
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from findings import Aim, Findings, Table, hand_over, json_option
from spread import spread

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
        wanted = cells([found for found in all_scenarios().values() if not found.of_a_report], [target])
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
    """Return each target's median and quartiles, and its slowest scenarios."""
    rows = []
    for target, mine in by_target(found).items():
        seconds = spread(took.seconds for took in mine)
        slowest = ", ".join(f"{took.scenario} {took.seconds:.1f}" for took in mine[:3])
        rows.append([target, f"{seconds.median:.1f}", f"{seconds.low:.1f} – {seconds.high:.1f}", slowest])
    return Table("seconds of a scenario in a page, warm", ["target", "median", "quartiles", "slowest"], rows)


def aims(found: list[Took]) -> list[Aim]:
    judged = []
    for target, mine in by_target(found).items():
        limit = AIMS.get(resolve([target])[0].backend or "")
        if limit is not None:
            above = sum(took.seconds > limit for took in mine)
            judged.append(Aim(f"scenarios of {len(mine)} above {limit:g} s, {target}", 0, spread([above])))
    return judged


def by_target(found: list[Took]) -> dict[str, list[Took]]:
    """Return what was measured, by target, the slowest first."""
    ordered = sorted(found, key=lambda took: -took.seconds)
    return {
        target: [took for took in ordered if took.target == target] for target in {took.target: 0 for took in found}
    }


@click.command()
@click.option("--target", "targets", multiple=True, default=TARGETS, show_default=True)
@click.option("--cycles", default=3, show_default=True, help="After the warm-up, as in `pytest harness`.")
@json_option
def main(targets: tuple[str, ...], cycles: int, json_file: Path | None) -> None:
    """Measure, and print a table."""
    found = []
    for target in targets:
        click.echo(target)
        found += measure(target, cycles)
    hand_over(Findings([table(found)], aims(found), [], {"cells": [asdict(took) for took in found]}), json_file)


if __name__ == "__main__":
    main()

"""What the harness costs: a cell through it, beside the same scenario as a bare script. See README.md.

.venv/bin/python benchmarks/cell_cost.py [--repeats N] [--target T]… [--json FILE]
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec
import psutil
from clocks import Clocks, Spent
from findings import Aim, Findings, Table, hand_over, json_option
from spread import Spread, ratios, spread
from turns import in_turn

from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.environment import addon
from tensorledger.environment.node import node
from tensorledger.environment.releases import packages
from tensorledger.scenarios.catalogue import Scenario, all_scenarios
from tensorledger.targets.catalogue import lacking, resolve
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers
from tensorledger.workers.start import NODE, QUIET

HERE = Path(__file__).resolve().parent
SCENARIOS = ("create-dispose", "predict-dispose")
TARGETS = ("tfjs", "tfjs/node", "keras", "tf-keras")
CYCLES = 3
AIMS = {"js": 20.0, "py": 100.0}
"""Milliseconds that a cell may take beyond the bare script."""
ON_NODE = 1.2
"""How many times as long as the bare script a cell on tfjs-node may take."""
READINGS = 200
"""Readings that are timed."""


@dataclass(frozen=True)
class Comparison:
    """One scenario on one target, both ways, turn by turn."""

    scenario: str
    target: str
    language: str
    on_node: bool
    harness: list[Spent]
    bare: list[Spent]
    twin: list[Spent]
    """A second bare script, like the first: how far apart two are that are the same."""
    readings: int
    """Readings in a cell."""

    @property
    def name(self) -> str:
        return f"{self.scenario} on {self.target}"

    def milliseconds(self, way: str, clock: str) -> Spread:
        return spread(1000 * each for each in self._seconds(way, clock))

    def ratio(self, clock: str) -> Spread:
        """Return how many times as long the harness took as the bare script that ran in the same turn."""
        return spread(ratios(self._seconds("harness", clock), self._seconds("bare", clock)))

    def beyond(self, way: str, clock: str) -> Spread:
        """Return the milliseconds that each took beyond the bare script that ran in the same turn."""
        pairs = zip(self._seconds(way, clock), self._seconds("bare", clock), strict=True)
        return spread(1000 * (one - bare) for one, bare in pairs)

    def aims(self) -> list[Aim]:
        found = [
            Aim(
                f"{self.name}: beyond the bare script, {said}",
                AIMS[self.language],
                self.beyond("harness", clock),
                " ms",
                twin=self.beyond("twin", clock),
            )
            for clock, said in (("wall", "time that passes"), ("cpu", "processor time"))
        ]
        return (
            [*found, Aim(f"{self.name}: times the bare script", ON_NODE, self.ratio("wall"))] if self.on_node else found
        )

    def _seconds(self, way: str, clock: str) -> list[float]:
        return [getattr(one, clock) for one in getattr(self, way)]


class Bare:
    """A bare script: a process that has paid its imports."""

    def __init__(self, target: Target) -> None:
        if target.language == "js":
            assert target.version is not None and target.backend is not None
            package = packages(target.version, target.backend).library
            command = [str(node()), *NODE, str(HERE / "bare.mjs"), str(package), target.backend]
            environment = addon.QUIET if target.backend == "node" else {}
        else:
            command = [sys.executable, str(HERE / "bare.py"), target.name]
            environment = {**QUIET, **({"TF_USE_LEGACY_KERAS": "1"} if target.name == "tf-keras" else {})}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **environment},
        )

    def ask(self, **request: Any) -> dict[str, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{' '.join(self._process.args)} ended with status {self._process.wait()}")  # type: ignore[arg-type]
        answer: dict[str, float] = json.loads(line)
        return answer

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        self._process.communicate()


def _fresh(scenario: Scenario, target: Target, folder: Path, turn: int) -> Scenario:
    """Return the scenario with a file that a JavaScript worker has not imported yet, as every cell's is in a run."""
    if target.language == "py":
        return scenario  # read anew each time
    copy = folder / str(turn) / scenario.files["js"].name
    copy.parent.mkdir(exist_ok=True)
    shutil.copyfile(scenario.files["js"], copy)
    return Scenario(scenario.name, {"js": copy})


def compare(target: Target, repeats: int, warm_up: int) -> list[Comparison]:
    """Run each scenario ``repeats`` times each way, turn by turn, after ``warm_up`` turns that are not counted."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tensorledger-bench-")))
        scripts = {"bare": Bare(target), "twin": Bare(target)}
        for script in scripts.values():
            stack.callback(script.stop)
        workers = stack.enter_context(Workers())
        return [
            _compared(all_scenarios()[name], target, scripts, workers, folder, repeats, warm_up) for name in SCENARIOS
        ]


def _compared(
    scenario: Scenario,
    target: Target,
    scripts: dict[str, Bare],
    workers: Workers,
    folder: Path,
    repeats: int,
    warm_up: int,
) -> Comparison:
    pids: list[list[int]] = []
    """Of the worker's processes, after each turn."""
    readings: list[float] = []

    def harness() -> Spent:
        cell = Cell(_fresh(scenario, target, folder, len(pids)), target)
        clocks = Clocks(pids[-1] if pids else ())
        result = run_cell(cell, workers, Settings(cycles=CYCLES)).result
        spent = clocks.spent()
        if result.verdict != "pass":
            raise SystemExit(f"{cell}: {result.verdict}: {result.reason}")
        ours = psutil.Process().children(recursive=True)
        pids.append([child.pid for child in ours if child.pid not in [script.pid for script in scripts.values()]])
        return spent

    def bare(script: Bare) -> Spent:
        clocks = Clocks([script.pid])
        told = script.ask(scenario=scenario.name, cycles=CYCLES)
        readings.append(told["readings"])
        return msgspec.structs.replace(clocks.spent(), wall=told["wall"])

    ways: dict[str, Callable[[], Spent]] = {
        "harness": harness,
        **{name: partial(bare, script) for name, script in scripts.items()},
    }
    found = in_turn(ways, repeats, warm_up)
    if any(pid != pids[-1] for pid in pids[warm_up - 1 :]):
        raise SystemExit(f"{scenario.name} on {target}: the worker was replaced; that is no warm one")
    return Comparison(
        scenario.name, str(target), target.language, target.backend == "node", **found, readings=int(readings[-1])
    )


def cost_of_readings(target: Target) -> dict[str, float]:
    """Return the seconds of one reading, in the bare script and in the harness, and of one forced collection."""
    bare = Bare(target)
    try:
        bare.ask(scenario="predict-dispose", cycles=CYCLES)
        told = bare.ask(count=READINGS)
        return {name: told[name] for name in ("bare", "harness", "collection")}
    finally:
        bare.stop()


def cells_table(comparisons: Iterable[Comparison]) -> Table:
    rows = []
    for one in comparisons:
        wall = [one.milliseconds("harness", "wall").median, one.milliseconds("bare", "wall").median]
        cpu = [one.milliseconds("harness", "cpu").median, one.milliseconds("bare", "cpu").median]
        beyond, quickest = one.beyond("harness", "wall"), [min(s.wall for s in way) for way in (one.harness, one.bare)]
        rows.append([
            one.target,
            one.scenario,
            *(_ms(wall[0]), _ms(wall[1]), f"{one.ratio('wall').median:.2f}"),
            *(_ms(beyond.median), f"{_ms(beyond.low)} – {_ms(beyond.high)}", _ms(1000 * (quickest[0] - quickest[1]))),
            _ms(one.beyond("twin", "wall").median),
            *(_ms(cpu[0]), _ms(cpu[1]), f"{one.ratio('cpu').median:.2f}"),
            *(_ms(one.beyond("harness", "cpu").median), _ms(one.beyond("twin", "cpu").median)),
        ])  # fmt: skip
    headings = ["harness", "bare", "ratio", "beyond", "quartiles", "quickest", "twin"]
    columns = ["target", "scenario", *headings, "CPU: harness", "bare", "ratio", "beyond", "twin"]
    return Table(f"one cell: a warm-up and {CYCLES} cycles, milliseconds, medians", columns, rows)


def readings_table(costs: dict[str, dict[str, float]], comparisons: Iterable[Comparison]) -> Table:
    rows = []
    for target, cost in costs.items():
        counts = [comparison.readings for comparison in comparisons if comparison.target == target]
        rows.append([
            target,
            *(f"{1000 * cost[name]:.3f}" for name in ("bare", "harness", "collection")),
            " / ".join(map(str, counts)),
            " / ".join(f"{1000 * cost['harness'] * count:.1f}" for count in counts),
        ])  # fmt: skip
    headings = ["a reading, bare", "a reading, harness", "a forced collection", "readings in a cell"]
    return Table("the readings by themselves, milliseconds", ["target", *headings, "all of them, harness"], rows)


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:.1f}"


@click.command()
@click.option(
    "--repeats", default=20, show_default=True, type=click.IntRange(min=3), help="Counted turns of each kind."
)
@click.option("--warm-up", default=3, show_default=True, type=click.IntRange(min=2), help="Turns that are not counted.")
@click.option("--target", "written", multiple=True, default=TARGETS, show_default=True, help="Again for more.")
@json_option
def main(repeats: int, warm_up: int, written: tuple[str, ...], json_file: Path | None) -> None:
    """Measure what a cell costs beyond the same scenario as a bare script."""
    comparisons: list[Comparison] = []
    costs: dict[str, dict[str, float]] = {}
    lacks = {target: lacking(target) for target in resolve(written)}
    for target in [target for target, reason in lacks.items() if reason is None]:
        click.echo(target)
        comparisons += compare(target, repeats, warm_up)
        costs[str(target)] = cost_of_readings(target)
    findings = Findings(
        [cells_table(comparisons), readings_table(costs, comparisons)],
        [aim for comparison in comparisons for aim in comparison.aims()],
        [f"{target} is left out: {reason}" for target, reason in lacks.items() if reason is not None],
        {"cycles": CYCLES, "cells": [asdict(comparison) for comparison in comparisons], "readings": costs},
    )
    hand_over(findings, json_file)


if __name__ == "__main__":
    main()

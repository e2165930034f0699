"""What the harness costs: a cell through it, beside the same scenario as a bare script. See README.md.

.venv/bin/python benchmarks/cell_cost.py [--repeats N] [--target T]… [--json FILE]
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import click
import psutil
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

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
AIMS = {"js": 0.020, "py": 0.100}
"""Seconds that a cell may take beyond the bare script."""
ON_NODE = 1.2
"""How many times as long as the bare script a cell on tfjs-node may take."""
READINGS = 200
"""Readings that are timed."""
AFTERWARDS = 0.03
"""Seconds in which V8's helper threads sweep what the last collection left; that is the cell's processor time too."""


@dataclass(frozen=True)
class Spent:
    """Seconds: those that passed, and those of all processors together."""

    wall: float
    cpu: float


@dataclass
class Comparison:
    """One scenario on one target, both ways, turn by turn."""

    scenario: str
    target: str
    aim: float
    harness: list[Spent] = field(default_factory=list)
    bare: list[Spent] = field(default_factory=list)
    twin: list[Spent] = field(default_factory=list)
    """A second bare script, like the first: how far apart two are that are the same."""
    readings: int = 0
    """Readings in a cell."""

    def medians(self, clock: str) -> tuple[float, float]:
        """Return the harness's median and the bare script's."""
        return _median(self.harness, clock), _median(self.bare, clock)

    def beyond(self, spent: list[Spent], clock: str) -> list[float]:
        """Return what each of these took beyond the bare script that ran in the same turn."""
        return [getattr(a, clock) - getattr(b, clock) for a, b in zip(spent, self.bare, strict=True)]

    def document(self) -> dict[str, Any]:
        figures: dict[str, dict[str, Any]] = {}
        for clock in ("wall", "cpu"):
            harness, bare = self.medians(clock)
            low, middle, high = statistics.quantiles(self.beyond(self.harness, clock), n=4)
            beyond = {"median": middle, "quartiles": [low, high]}
            quickest = [min(getattr(one, clock) for one in spent) for spent in (self.harness, self.bare)]
            figures[clock] = {
                "harness": harness,
                "bare": bare,
                "ratio": harness / bare,
                "beyond": beyond,
                "twin": statistics.median(self.beyond(self.twin, clock)),
                "quickest": {"harness": quickest[0], "bare": quickest[1], "beyond": quickest[0] - quickest[1]},
            }
        return asdict(self) | {"figures": figures}


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


def _median(spent: list[Spent], clock: str) -> float:
    return float(statistics.median(getattr(one, clock) for one in spent))


def _cpu_of(pid: int) -> float:
    """Return the processor seconds of another process, exactly; as clock_getcpuclockid(3) has it on Linux."""
    return time.clock_gettime((~pid << 3) | 2)


class Processors:
    """A clock of the processor time in this process and in others."""

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids
        self._started = self._now()

    def spent(self) -> float:
        """Return the seconds since this clock was made, when what goes on in the background has ended too."""
        time.sleep(AFTERWARDS)
        return self._now() - self._started

    def _now(self) -> float:
        return time.process_time() + sum(map(_cpu_of, self._pids))


def _fresh(scenario: Scenario, target: Target, folder: Path, turn: int) -> Scenario:
    """Return the scenario with a file that a JavaScript worker has not imported yet, as every cell's is in a run."""
    if target.language == "py":
        return scenario  # read anew each time
    copy = folder / str(turn) / scenario.files["js"].name
    copy.parent.mkdir(exist_ok=True)
    shutil.copyfile(scenario.files["js"], copy)
    return Scenario(scenario.name, {"js": copy})


def compare(target: Target, repeats: int, warm_up: int, advance: Callable[[], None]) -> list[Comparison]:
    """Run each scenario ``repeats`` times each way, turn by turn, after ``warm_up`` turns that are not counted."""
    comparisons = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tensorledger-bench-")))
        bare, twin = Bare(target), Bare(target)
        stack.callback(bare.stop)
        stack.callback(twin.stop)
        workers = stack.enter_context(Workers())
        for name in SCENARIOS:
            scenario = all_scenarios()[name]
            comparison = Comparison(name, str(target), AIMS[target.language])
            pids: list[int] = []
            for turn in range(-warm_up, repeats):
                cell = Cell(_fresh(scenario, target, folder, turn), target)
                processors, started = Processors(pids), time.perf_counter()
                result = run_cell(cell, workers, Settings(cycles=CYCLES)).result
                comparison.harness.append(Spent(time.perf_counter() - started, processors.spent()))
                if result.verdict != "pass":
                    raise SystemExit(f"{cell}: {result.verdict}: {result.reason}")
                for spent, script in ((comparison.bare, bare), (comparison.twin, twin)):
                    processors = Processors([script.pid])
                    told = script.ask(scenario=name, cycles=CYCLES)
                    spent.append(Spent(told["wall"], processors.spent()))
                comparison.readings = int(told["readings"])
                ours = psutil.Process().children(recursive=True)
                now = [child.pid for child in ours if child.pid not in (bare.pid, twin.pid)]
                if turn < 0:
                    comparison.harness.clear()
                    comparison.bare.clear()
                    comparison.twin.clear()
                elif now != pids:
                    raise SystemExit(f"{cell}: the worker was replaced; that is no warm one")
                pids = now
                advance()
            comparisons.append(comparison)
    return comparisons


def cost_of_readings(target: Target) -> dict[str, float]:
    """Return the seconds of one reading, in the bare script and in the harness, and of one forced collection."""
    bare = Bare(target)
    try:
        bare.ask(scenario="predict-dispose", cycles=CYCLES)
        told = bare.ask(count=READINGS)
        return {name: told[name] for name in ("bare", "harness", "collection")}
    finally:
        bare.stop()


def _advance(progress: Progress, task: TaskID) -> None:
    progress.advance(task)
    progress.refresh()


def _cells_table(comparisons: list[Comparison]) -> Table:
    table = Table(title=f"one cell: a warm-up and {CYCLES} cycles, milliseconds, medians")
    table.add_column("target")
    table.add_column("scenario")
    headings = ("harness", "bare", "ratio", "beyond", "quartiles", "quickest", "twin", "aim")
    for heading in (*headings, "CPU: harness", "bare", "ratio", "beyond", "twin"):
        table.add_column(heading, justify="right")
    for comparison in comparisons:
        figures = comparison.document()["figures"]
        wall, cpu = figures["wall"], figures["cpu"]
        low, high = wall["beyond"]["quartiles"]
        table.add_row(
            comparison.target,
            comparison.scenario,
            *(_ms(wall["harness"]), _ms(wall["bare"]), f"{wall['ratio']:.2f}"),
            *(f"[bold]{_ms(wall['beyond']['median'])}[/]", f"{_ms(low)} – {_ms(high)}"),
            *(_ms(wall["quickest"]["beyond"]), _ms(wall["twin"]), f"≤ {_ms(comparison.aim)}"),
            *(_ms(cpu["harness"]), _ms(cpu["bare"]), f"{cpu['ratio']:.2f}"),
            *(_ms(cpu["beyond"]["median"]), _ms(cpu["twin"])),
        )
    return table


def _readings_table(costs: dict[str, dict[str, float]], comparisons: list[Comparison]) -> Table:
    table = Table(title="the readings by themselves, milliseconds")
    table.add_column("target")
    headings = (
        "a reading, bare",
        "a reading, harness",
        "a forced collection",
        "readings in a cell",
        "all of them, harness",
    )
    for heading in headings:
        table.add_column(heading, justify="right")
    for target, cost in costs.items():
        counts = [comparison.readings for comparison in comparisons if comparison.target == target]
        table.add_row(
            target,
            *(f"{1000 * cost[name]:.3f}" for name in ("bare", "harness", "collection")),
            " / ".join(map(str, counts)),
            " / ".join(f"{1000 * cost['harness'] * count:.1f}" for count in counts),
        )
    return table


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.1f}"


@click.command()
@click.option(
    "--repeats", default=20, show_default=True, type=click.IntRange(min=3), help="Counted turns of each kind."
)
@click.option("--warm-up", default=3, show_default=True, type=click.IntRange(min=2), help="Turns that are not counted.")
@click.option("--target", "written", multiple=True, default=TARGETS, show_default=True, help="Again for more.")
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write the figures here.")
def main(repeats: int, warm_up: int, written: tuple[str, ...], json_file: Path | None) -> None:
    """Measure what a cell costs beyond the same scenario as a bare script. It judges nothing: exit status 0."""
    console = Console(width=None if sys.stdout.isatty() else 170)
    lacks = {target: lacking(target) for target in resolve(written)}
    for target, reason in lacks.items():
        if reason is not None:
            console.print(f"{target} is left out: {reason}", markup=False)
    targets = [target for target, reason in lacks.items() if reason is None]
    comparisons: list[Comparison] = []
    costs: dict[str, dict[str, float]] = {}
    # Drawn between the turns only: its own thread would be in the figures.
    with Progress(console=Console(stderr=True), transient=True, auto_refresh=False) as progress:
        task = progress.add_task("", total=len(targets) * len(SCENARIOS) * (repeats + warm_up))
        for target in targets:
            progress.update(task, description=str(target))
            comparisons += compare(target, repeats, warm_up, lambda: _advance(progress, task))
            costs[str(target)] = cost_of_readings(target)
    console.print(_cells_table(comparisons))
    console.print(_readings_table(costs, comparisons))
    console.print(
        "aims: beyond the bare script at most "
        f"{_ms(AIMS['js'])} ms for a JavaScript cell and {_ms(AIMS['py'])} ms for a Python cell, time that passes; "
        f"on tfjs-node a ratio of at most {ON_NODE:.2f}"
    )
    if json_file is not None:
        document = {
            "schema": "tensorledger/benchmark-cell-cost/1",
            "machine": {"platform": platform.platform(), "processors": os.cpu_count(), "load": os.getloadavg()},
            "cycles": CYCLES,
            "cells": [comparison.document() for comparison in comparisons],
            "readings": costs,
        }
        json_file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

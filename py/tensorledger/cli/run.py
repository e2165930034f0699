"""``tensorledger run``: judge scenarios against their expectations."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from tensorledger.cells.cell import LIMIT, Cell, Settings, cells, prepare, run_cell
from tensorledger.cli.options import ParameterType, ScenarioType, flat, json_option, target_option
from tensorledger.results.result import Result, document, write
from tensorledger.scenarios.catalogue import Scenario, all_scenarios
from tensorledger.targets.target import Target
from tensorledger.terminal.cell import details
from tensorledger.terminal.grid import grid
from tensorledger.terminal.marks import marked
from tensorledger.verdicts.verdict import AS_EXPECTED
from tensorledger.workers.pool import Workers

ON_PURPOSE = "leak-"
"""What the names of the scenarios start with that leak on purpose; they run only when they are named."""


@click.command()
@click.argument("scenarios", nargs=-1, type=ScenarioType(), metavar="[SCENARIO]...")
@target_option
@click.option("--cycles", default=10, show_default=True, type=click.IntRange(min=1), help="Cycles after the warm-up.")
@click.option("--recipe", default="", help="The way to release. Default: the target's own.")
@click.option(
    "--timeout", "limit", default=LIMIT, show_default=True, type=click.FloatRange(min=0.1), help="Seconds for one cell."
)
@click.option(
    "--param",
    "params",
    type=ParameterType(),
    multiple=True,
    help="Handed to scenarios as context.params. Again for more.",
)
@json_option
def run(
    scenarios: Sequence[Scenario],
    chosen: Sequence[list[Target]],
    cycles: int,
    recipe: str,
    limit: float,
    params: Sequence[tuple[str, Any]],
    json_file: Path | None,
) -> None:
    """Run scenarios, by name or as files, and judge them against their expectations.

    A file of your own is held to the default expectation (at the end everything is back at the baseline, nothing
    throws, no cycle adds anything), or to the .toml file of the same name beside it. Without a SCENARIO, all of the
    project's run, but for those that leak on purpose.
    """
    named = list(scenarios) or [found for name, found in all_scenarios().items() if not name.startswith(ON_PURPOSE)]
    to_run = _cells(named, flat(chosen))
    console = Console(highlight=False)
    results: list[Result] = []
    settings = Settings(cycles=cycles, recipe=recipe, limit=limit, params=dict(params))
    with Workers() as workers:
        try:
            _run(to_run, workers, settings, console, results)
        except KeyboardInterrupt:
            console.print(f"[yellow]interrupted after {len(results)} of {len(to_run)} cells[/]")
            raise click.exceptions.Exit(128 + signal.SIGINT) from None
        finally:
            if json_file is not None:
                versions = {str(target): found for target, found in workers.versions.items()}
                write(json_file, document(results, versions))
    if len(results) > 1:
        console.print(grid((result.scenario, result.target, result.verdict) for result in results))
    if all(result.verdict == "skip" for result in results):
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(0 if all(result.verdict in AS_EXPECTED for result in results) else 1)


def _cells(scenarios: list[Scenario], targets: list[Target]) -> list[Cell]:
    found = cells(scenarios, targets)
    for scenario in scenarios:
        if not any(cell.scenario == scenario for cell in found):
            languages = " and ".join(sorted(scenario.files))
            raise click.UsageError(
                f"{scenario.name} is written in {languages}, and runs on none of: {', '.join(map(str, targets))}"
            )
    return found


def _run(to_run: list[Cell], workers: Workers, settings: Settings, console: Console, results: list[Result]) -> None:
    # On the results' own console where that is a terminal, so that the two do not draw over each other.
    shown_on = console if console.is_terminal else Console(stderr=True)
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=shown_on,
        transient=True,
        disable=not shown_on.is_terminal,
    )
    prepare([cell.target for cell in to_run], workers)
    with progress:
        task = progress.add_task("", total=len(to_run))
        for cell in to_run:
            progress.update(task, description=escape(str(cell)))

            def reached(cycle: int, checkpoint: str, cell: Cell = cell) -> None:
                progress.update(task, description=f"{escape(str(cell))} [dim]cycle {cycle}: {escape(checkpoint)}[/]")

            result = run_cell(cell, workers, replace(settings, reached=reached)).result
            results.append(result)
            progress.advance(task)
            _tell(console, cell, result)


def _tell(console: Console, cell: Cell, result: Result) -> None:
    reason = f"  [dim]{escape(result.reason.splitlines()[0])}[/]" if result.reason else ""
    line = f"{marked(result.verdict)} {escape(str(cell))} [dim]{result.seconds:.1f} s[/]{reason}"
    console.print(line, soft_wrap=True)
    if result.verdict in ("fail", "error"):
        for part in details(result):
            console.print(part, soft_wrap=isinstance(part, Text))

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
from rich.text import Text

from tensorledger.cells.cell import LIMIT, Cell, Settings, cells, prepare, run_cell
from tensorledger.cli.options import (
    ParameterType,
    RecipeType,
    ScenarioType,
    flat,
    json_option,
    target_option,
    write_json,
)
from tensorledger.expectations.expectation import expectation_for
from tensorledger.expectations.toml import BadDefinition
from tensorledger.results.result import Result, document
from tensorledger.scenarios.catalogue import Scenario, all_scenarios
from tensorledger.targets.target import Target
from tensorledger.terminal.cell import details
from tensorledger.terminal.console import console
from tensorledger.terminal.grid import grid, seconds
from tensorledger.terminal.marks import marked
from tensorledger.terminal.progress import progress
from tensorledger.verdicts.verdict import AS_EXPECTED
from tensorledger.workers.allocators import ALLOCATORS, DEFAULT
from tensorledger.workers.pool import Workers


@click.command()
@click.argument("scenarios", nargs=-1, type=ScenarioType(), metavar="[SCENARIO]...")
@target_option
@click.option("--cycles", default=10, show_default=True, type=click.IntRange(min=1), help="Cycles after the warm-up.")
@click.option("--recipe", default="", type=RecipeType(), help="The way to release. Default: the target's own.")
@click.option(
    "--allocator",
    default=DEFAULT,
    show_default=True,
    type=click.Choice([*ALLOCATORS]),
    help="The setting of TensorFlow's allocator, in Python.",
)
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
@click.option(
    "--full-stacks",
    is_flag=True,
    help="In JavaScript, take the whole stack of every tensor as it is made, the library's frames too. Slow.",
)
@json_option
def run(
    scenarios: Sequence[Scenario],
    chosen: Sequence[list[Target]],
    cycles: int,
    recipe: str,
    allocator: str,
    limit: float,
    params: Sequence[tuple[str, Any]],
    full_stacks: bool,
    json_file: Path | None,
) -> None:
    """Run scenarios, by name or as files, and judge them against their expectations.

    A file of your own is held to the default expectation (at the end everything is back at the baseline, nothing
    throws, no cycle adds anything), or to the .toml file of the same name beside it. Without a SCENARIO, all of the
    project's run, but for those that leak on purpose.
    """
    named = list(scenarios) or [found for found in all_scenarios().values() if not _leaks_on_purpose(found)]
    to_run = _cells(named, flat(chosen))
    shown = console()
    results: list[Result] = []
    settings = Settings(
        cycles=cycles,
        recipe=recipe,
        allocator=allocator,
        limit=limit,
        params=dict(params),
        full_stacks=full_stacks,
    )
    with Workers() as workers:
        try:
            _run(to_run, workers, settings, shown, results)
        except KeyboardInterrupt:
            shown.print(f"[yellow]interrupted after {len(results)} of {len(to_run)} cells[/]")
            raise click.exceptions.Exit(128 + signal.SIGINT) from None
        finally:
            if json_file is not None:
                versions = {str(target): found for target, found in workers.versions.items()}
                write_json(json_file, document(results, versions))
    if len(results) > 1:
        shown.print(grid((result.scenario, result.target, result.verdict) for result in results))
        shown.print(seconds((result.target, result.seconds) for result in results))
    if all(result.verdict == "skip" for result in results):
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(0 if all(result.verdict in AS_EXPECTED for result in results) else 1)


def _leaks_on_purpose(scenario: Scenario) -> bool:
    try:
        return expectation_for(scenario.name, next(iter(scenario.files.values()))).caught is not None
    except BadDefinition:
        return False  # it is run, and says so


def _cells(scenarios: list[Scenario], targets: list[Target]) -> list[Cell]:
    found = cells(scenarios, targets)
    for scenario in scenarios:
        if not any(cell.scenario == scenario for cell in found):
            languages = " and ".join(sorted(scenario.files))
            raise click.UsageError(
                f"{scenario.name} is written in {languages}, and runs on none of: {', '.join(map(str, targets))}"
            )
    return found


def _run(to_run: list[Cell], workers: Workers, settings: Settings, shown: Console, results: list[Result]) -> None:
    bar = progress(shown)
    prepare([cell.target for cell in to_run], workers, settings.allocator)
    with bar:
        task = bar.add_task("", total=len(to_run))
        for cell in to_run:
            bar.update(task, description=escape(str(cell)))

            def reached(cycle: int, checkpoint: str, cell: Cell = cell) -> None:
                bar.update(task, description=f"{escape(str(cell))} [dim]cycle {cycle}: {escape(checkpoint)}[/]")

            result = run_cell(cell, workers, replace(settings, reached=reached)).result
            results.append(result)
            bar.advance(task)
            _tell(shown, cell, result)


def _tell(shown: Console, cell: Cell, result: Result) -> None:
    reason = f"as documented: {result.deviation}" if result.verdict == "deviates" else result.reason
    first, *others = reason.splitlines() or [""]
    line = f"{marked(result.verdict)} {escape(str(cell))} [dim]{result.seconds:.1f} s[/]"
    if result.caught:
        line += "  [dim]it leaks on purpose, and is caught[/]"
    elif first:
        line += f"  [dim]{escape(first)}[/]"
    shown.print(line, soft_wrap=True)
    for more in others:
        shown.print(Text(f"  {more}", style="dim"), soft_wrap=True)
    if result.verdict in ("fail", "error", "deviates"):
        for part in details(result):
            shown.print(part, soft_wrap=isinstance(part, Text))

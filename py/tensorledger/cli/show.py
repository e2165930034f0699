"""``tensorledger show``: a file of results in the terminal."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.text import Text

from tensorledger.cli.streams import complain, told_of_stdout
from tensorledger.report.merged import Key, Merged, merge, name_of
from tensorledger.report.plain import broken, headline, runs
from tensorledger.terminal.cell import details
from tensorledger.terminal.check import page
from tensorledger.terminal.console import console
from tensorledger.terminal.grid import grid, seconds
from tensorledger.terminal.life import life
from tensorledger.terminal.marks import marked
from tensorledger.terminal.recipes import LEGEND, levels, tables


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.argument("cell", required=False)
def show(file: Path, cell: str | None) -> None:
    """Show a file of results: its grid, or one CELL of it as curves through the model's life.

    A CELL is SCENARIO[TARGET], or a part of that which fits one alone. It judges nothing. Exit status: 2 where the file
    cannot be read, or no one cell is meant.
    """
    merged = merge([file])
    for problem in merged.problems:
        complain(problem)
    if merged.problems:
        raise click.exceptions.Exit(2)
    with told_of_stdout():
        shown = console()
        if cell is not None:
            _show_cell(shown, merged, _meant(merged, cell))
        elif not _show_all(shown, merged):
            raise click.UsageError(f"{file} holds no results")


def _show_all(shown: Console, merged: Merged) -> bool:
    """Show what a file holds; return whether it holds anything."""
    if merged.cells:
        for key in broken(merged):
            _tell(shown, merged, key)
        shown.print(grid((*key, merged.shown(key).verdict) for key in merged.cells))
        shown.print(Text(seconds((key[1], merged.shown(key).result.seconds) for key in merged.cells)))
    for table in tables(merged.rows):
        shown.print(table)
    if merged.rows:
        shown.print(LEGEND)
    if (resident := levels(merged.rows)) is not None:
        shown.print(resident)
    for check in merged.checks:
        for part in page(check):
            shown.print(part)
    for atlas in merged.atlases:
        ranges = sum(map(len, atlas.scenarios.values()))
        releases, scenarios = len(atlas.releases), len(atlas.scenarios)
        said = f"an atlas: {scenarios} scenarios on {releases} releases, {ranges} ranges; see `report`"
        shown.print(said, markup=False)
    return not merged.empty


def _tell(shown: Console, merged: Merged, key: Key) -> None:
    seen = merged.shown(key)
    line = f"{marked(seen.verdict)} {escape(name_of(key))}  [dim]{escape(headline(seen.result))}[/]"
    shown.print(line, soft_wrap=True)
    for said in runs(merged, key):
        shown.print(Text(f"  {said}", style="dim"), soft_wrap=True)


def _show_cell(shown: Console, merged: Merged, key: Key) -> None:
    _tell(shown, merged, key)
    result = merged.shown(key).result
    if result.deviation is not None:
        shown.print(Text(f"as documented: {result.deviation}"), soft_wrap=True)
    for part in details(result):
        shown.print(part, soft_wrap=isinstance(part, Text))
    for part in life(result, shown.width):
        shown.print(part)


def _meant(merged: Merged, written: str) -> Key:
    """Return the cell that is meant. Raises click.UsageError, which names those that may be."""
    named = {name_of(key): key for key in merged.cells}
    if written in named:
        return named[written]
    fit = [name for name in named if written in name]
    if len(fit) == 1:
        return named[fit[0]]
    if fit:
        more = f" and {len(fit) - 12} more" if len(fit) > 12 else ""
        raise click.UsageError(f"{written!r} is in {len(fit)} cells: {', '.join(fit[:12])}{more}")
    close = get_close_matches(written, named, n=3, cutoff=0.3)
    said = f"did you mean {', '.join(close)}?" if close else "the file holds none"
    raise click.UsageError(f"there is no cell {written!r}; {said}")

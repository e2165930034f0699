"""``tensorledger doctor``: whether everything is here that runs need."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec
from rich.markup import escape
from rich.table import Table

from tensorledger.cli.options import json_option
from tensorledger.environment.checks import checks
from tensorledger.results.result import write
from tensorledger.terminal.console import console


@click.command()
@json_option
def doctor(json_file: Path | None) -> None:
    """Look at what runs need, and say how to mend what is missing. Exit status 2 where something is.

    What only some targets need may be missing: those are skipped then.
    """
    found = list(checks())
    table = Table()
    for column in ("", "what", "found", "to mend it"):
        table.add_column(column)
    for check in found:
        mark = "[green]✓[/]" if check.well else "[bold red]✗[/]" if check.in_the_way else "[yellow]–[/]"
        table.add_row(mark, check.name, escape(check.found), escape(check.mend))
    console().print(table)
    if json_file is not None:
        write(json_file, {"schema": "tensorledger/doctor/1", "checks": msgspec.to_builtins(found)})
    raise click.exceptions.Exit(2 if any(check.in_the_way for check in found) else 0)

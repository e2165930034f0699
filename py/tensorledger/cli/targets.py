"""``tensorledger targets``: which targets there are, and whether they can run here."""

from __future__ import annotations

from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from tensorledger.cli.options import json_option
from tensorledger.results.result import write
from tensorledger.targets.catalogue import ALL_BACKENDS, DEFAULT, all_backends, default, installed, lacking
from tensorledger.terminal.console import console


@click.command()
@json_option
def targets(json_file: Path | None) -> None:
    """List the targets that have a set's name, the version that would run, and what one that cannot run here lacks.

    Any other release can be named too, and ranges: `run --help`.
    """
    rows = [
        {
            "target": str(target),
            "version": installed(target),
            "language": target.language,
            "set": DEFAULT if target in default() else ALL_BACKENDS,
            "lacking": lacking(target),
        }
        for target in all_backends()
    ]
    table = Table()
    for column in ("target", "version", "scenarios", "set", "runs here"):
        table.add_column(column)
    for row in rows:
        lacks = row["lacking"]
        state = "[green]yes[/]" if lacks is None else f"[yellow]no[/]: {escape(lacks)}"
        table.add_row(row["target"], row["version"] or "", row["language"], row["set"], state)
    console().print(table)
    if json_file is not None:
        write(json_file, {"schema": "tensorledger/targets/1", "targets": rows})

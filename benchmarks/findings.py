"""What a benchmark has found: aims and what was measured of them, tables, and what went wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Drawn
from spread import Spread

from tensorledger.environment.folders import write_whole

json_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write what was found here."
)


class Aim(msgspec.Struct, frozen=True):
    """What something is to cost at most, or to reach at least, and what was measured."""

    what: str
    limit: float
    measured: Spread
    unit: str = ""
    at_least: bool = False
    twin: Spread | None = None
    """The same measured of two that are the same: where it reaches the limit, the machine was too busy to tell."""

    @property
    def met(self) -> bool:
        """Say whether the median keeps to the limit."""
        return self.measured.median >= self.limit if self.at_least else self.measured.median <= self.limit

    @property
    def row(self) -> list[str]:
        """Return it as a table has it."""
        found = self.measured
        met = "met" if self.met else "**not met**"
        return [
            self.what,
            f"{'≥' if self.at_least else '≤'} {number(self.limit)}{self.unit}",
            f"{number(found.median)}{self.unit}",
            f"{number(found.low)} – {number(found.high)}" if found.runs > 1 else "",
            f"{number(self.twin.low)} – {number(self.twin.high)}" if self.twin else "",
            str(found.runs),
            f"{met}, within the noise" if self.noisy else met,
        ]

    @property
    def noisy(self) -> bool:
        """Say whether the limit is between the quartiles, or a twin would not keep to it either."""
        found = self.measured
        between = found.runs > 1 and found.low < self.limit < found.high
        return between or (self.twin is not None and not self.at_least and self.twin.high >= self.limit)


AIMS = ["aim", "wanted", "median", "quartiles", "twin", "runs", ""]


WIDTH = 180
"""Columns where the output is no terminal: these tables are wide."""


class Table(msgspec.Struct, frozen=True):
    """A table as it is shown: in the terminal, and in Markdown."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""


class Findings(msgspec.Struct, frozen=True):
    """All that one benchmark has found."""

    tables: list[Table]
    aims: list[Aim] = []
    wrong: list[str] = []
    """What was not measured though it was to be, such as a peer that came to no answer."""
    figures: dict[str, Any] = {}
    """What the tables were made of, for who wants to look again."""


def number(value: float) -> str:
    """Return a figure with as many digits as say something."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 10 or abs(value) < 0.1 else f"{value:.2f}"


def hand_over(findings: Findings, json_file: Path | None) -> None:
    """Print what was found, and write it where that is asked for; exit status 1 where something went wrong."""
    shown = Console(highlight=False)
    if not shown.is_terminal:
        shown.width = WIDTH
    aims = [Table("aims", AIMS, [aim.row for aim in findings.aims])] if findings.aims else []
    for table in [*findings.tables, *aims]:
        drawn = Drawn(title=escape(table.title), title_justify="left", box=box.SIMPLE)
        for place, column in enumerate(table.columns):
            drawn.add_column(escape(column), justify="right" if place else "left")
        for row in table.rows:
            drawn.add_row(*map(escape, row))
        shown.print(drawn)
        if table.note:
            shown.print(table.note, markup=False)
    for wrong in findings.wrong:
        shown.print(wrong, style="bold red", markup=False)
    if json_file is not None:
        write(json_file, findings)
    sys.exit(1 if findings.wrong else 0)


def write(path: Path, findings: Findings) -> None:
    """Write findings as JSON."""
    write_whole(path, msgspec.json.encode(findings).decode())


def read(path: Path) -> Findings:
    """Read what a benchmark wrote. Raises OSError, or msgspec.MsgspecError where it is no findings."""
    return msgspec.json.decode(path.read_bytes(), type=Findings)

"""A model's life as curves in the terminal: what is there at each checkpoint, expected beside measured."""

from __future__ import annotations

from collections.abc import Iterator

from rich.bar import Bar
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tensorledger.report.fit import fits, levels
from tensorledger.results.result import Result
from tensorledger.verdicts.levels import LEVELS, level

QUANTITIES = ("tensors", "bytes")
WIDTH = 32
"""Columns of the longest bar, so that a curve fits into a terminal of 80."""
NAME = 18
"""Columns of a checkpoint's name; a longer one goes on in the next line."""


def life(result: Result, width: int) -> Iterator[RenderableType]:
    """Yield the curve of each quantity that was read, and how levels grow over the cycles, in so many columns."""
    for quantity in QUANTITIES:
        if any(getattr(checkpoint, quantity) is not None for checkpoint in result.checkpoints):
            yield _curve(result, quantity, width)
    if rows := list(_growth(result)):
        table = Table(title=f"over {result.cycles} cycles, above the warm-up", title_justify="left")
        for heading in ("level", "after the last", "a cycle, fitted"):
            table.add_column(heading, justify="left" if heading == "level" else "right", overflow="fold")
        for row in rows:
            table.add_row(*row)
        yield table


def _curve(result: Result, quantity: str, width: int) -> Table:
    found = [
        (checkpoint, getattr(checkpoint, quantity), checkpoint.expected.get(quantity))
        for checkpoint in result.checkpoints
    ]
    read = [value for _, *values in found for value in values if value is not None]
    most = max([1, *read])
    unread = [len("not read")] if any(measured is None for _, measured, _ in found) else []
    longest = max([*unread, *(len(f"{value:,} ✗") for value in read)])
    bar = max(4, min(WIDTH, width - NAME - 8 - longest - 6))
    table = Table(title=quantity, title_justify="left", box=None, pad_edge=False, show_header=False)
    table.add_column(width=NAME, overflow="fold")
    table.add_column(width=8, no_wrap=True, style="dim")
    table.add_column(width=bar)
    table.add_column(justify="right", min_width=longest, no_wrap=True)
    for checkpoint, measured, expected in found:
        differs = expected is not None and measured != expected
        name = escape(checkpoint.name)
        if expected is not None:
            table.add_row(name, "expected", _bar(expected, most, bar, "bright_black"), f"{expected:,}")
            name = ""
        number = "not read" if measured is None else f"{measured:,}{' ✗' if differs else ''}"
        drawn = Text("") if measured is None else _bar(measured, most, bar, "red" if differs else "cyan")
        table.add_row(name, "measured", drawn, Text(number, style="bold red" if differs else ""))
    return table


def _bar(value: int, most: int, width: int, colour: str) -> Bar:
    # Less than nothing is no bar: the number beside it says so.
    return Bar(most, 0, max(0, value), width=width, color=colour)


def _growth(result: Result) -> Iterator[tuple[str, str, str]]:
    """Yield the levels that are told of every cycle, with the slope of the line through them."""
    fitted = fits(result.series)
    for name, values in levels(result.series).items():
        unit = "" if name in ("tensors", "buffers") else "bytes"
        if name in ("heap", "native") and result.language in LEVELS:
            unit = level(name, result.language).unit
        slope = fitted.get(name)
        rate = ""
        if slope is not None:
            error = "" if slope.error is None else f" ± {_rounded(slope.error)}"
            rate = f"{_rounded(slope.rate, '+')}{error}"
        yield name, f"{values[-1]:+,.0f} {unit}".rstrip(), rate


def _rounded(value: float, sign: str = "") -> str:
    return f"{value:{sign},.0f}" if abs(value) >= 100 else f"{value:{sign},.3g}"

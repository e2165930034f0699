"""One cell for people: its checkpoints as a table, expected beside measured, and what is left."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tensorledger.expectations.description import QUANTITIES
from tensorledger.protocol.messages import Agreement
from tensorledger.results.result import Checkpoint, Growth, Result
from tensorledger.terminal.leaks import at, leaks
from tensorledger.verdicts.judge import agrees

SHOWN = 12
"""Problems and frames that are shown before the rest is counted."""


def details(result: Result) -> Iterator[RenderableType]:
    """Yield what a person needs to see of a cell, beyond its verdict and the reason."""
    if result.error is not None:
        if result.error.checkpoint:
            yield Text(f"after checkpoint {result.error.checkpoint!r}")
        yield from (Text(f"  at {at(frame)}", style="dim") for frame in result.error.stack[:SHOWN])
    if result.thrown is not None:
        after = f"after {result.thrown.checkpoint!r}" if result.thrown.checkpoint else "before the first checkpoint"
        yield Text(f"it threw {result.thrown.type} {after}: {result.thrown.message}")
    if result.error is None and result.problems:
        yield from (Text(f"• {problem}") for problem in result.problems[1:SHOWN])
        yield from _rest(len(result.problems))
    if result.checkpoints:
        yield checkpoints(result)
    if result.leaks and result.verdict != "pass":
        yield Text("left at the end of the last cycle:")
        yield from leaks(result.leaks)
    yield from (Text(parity(agreement)) for agreement in result.parity)
    if result.log.strip() and result.verdict in ("fail", "error"):
        yield Text("it printed last:")
        yield from (Text(f"  {line}", style="dim") for line in result.log.strip().splitlines()[-SHOWN:])


def checkpoints(result: Result) -> Table:
    """Return a result's checkpoints, each quantity as measured, with what was expected where that differs."""
    shown = [
        quantity
        for quantity in QUANTITIES
        if quantity != "buffer_bytes" or any(quantity in checkpoint.expected for checkpoint in result.checkpoints)
    ]
    table = Table(title=f"{escape(result.scenario)} on {escape(result.target)}, last cycle", title_justify="left")
    # Folded rather than cut: a number without its last digits is a wrong one.
    table.add_column("checkpoint", overflow="fold")
    for quantity in shown:
        table.add_column(f"{quantity}\nexpected", justify="right", style="dim", overflow="fold")
        table.add_column("\nmeasured", justify="right", overflow="fold")
    for checkpoint in result.checkpoints:
        table.add_row(escape(checkpoint.name), *_numbers(checkpoint, shown))
    if result.growth is not None:
        table.add_section()
        table.add_row("growth per cycle", *_grown(result.growth, shown))
    return table


def _numbers(checkpoint: Checkpoint, quantities: list[str]) -> Iterator[str]:
    for quantity in quantities:
        measured, expected = getattr(checkpoint, quantity), checkpoint.expected.get(quantity)
        yield "" if expected is None else f"{expected:,}"
        text = "not read" if measured is None else f"{measured:,}"
        yield text if expected is None or measured == expected else f"[bold red]{text} ✗[/]"


def _grown(growth: Growth, quantities: list[str]) -> Iterator[str]:
    for quantity in quantities:
        value = getattr(growth, quantity, None)
        yield ""
        yield "" if value is None else f"{value:+,.10g}"


def parity(agreement: Agreement) -> str:
    """Return how far predictions are from Keras's, in one line."""
    made = f"predictions of the {agreement.model} from {agreement.source}"
    if agreement.max_abs is None:
        return f"{made}: not all finite numbers"
    relative = "unbounded" if agreement.max_rel is None else f"{agreement.max_rel:.2g}"
    within = "within" if agrees(agreement) else "beyond"
    off = f"off by {agreement.max_abs:.2g} absolute, {relative} relative"
    return f"{made}: {off}, {within} the {agreement.bound:.2g} that rounding explains"


def _rest(count: int) -> Iterator[Text]:
    if count > SHOWN:
        yield Text(f"  … and {count - SHOWN} more", style="dim")

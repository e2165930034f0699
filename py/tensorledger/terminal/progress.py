"""The bar that shows while something long goes on."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tensorledger.terminal.console import console


def progress(shown: Console) -> Progress:
    """Return the bar for a command that prints to ``shown``; it is off where nobody watches."""
    # On the results' own console where that is a terminal, so that the two do not draw over each other.
    above = shown if shown.is_terminal else console(stderr=True)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=above,
        transient=True,
        disable=not above.is_terminal,
    )

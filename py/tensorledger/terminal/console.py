"""Where people read: the terminal, or a pipe, which has no width of its own."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable

from rich.console import Console, RenderableType

PIPED = 110
"""Columns where the output is not a terminal: the widest table of a cell fits."""


def console(*, stderr: bool = False) -> Console:
    """Return a console for results; numbers are not coloured by themselves."""
    plain = Console(stderr=stderr, highlight=False)
    if plain.is_terminal:
        return plain
    return Console(stderr=stderr, highlight=False, width=max(PIPED, shutil.get_terminal_size().columns))


def plain(parts: Iterable[RenderableType]) -> str:
    """Return what would be printed, as text without colours."""
    written = io.StringIO()
    shown = Console(file=written, highlight=False, width=PIPED)
    for part in parts:
        shown.print(part, soft_wrap=isinstance(part, str))
    return written.getvalue()

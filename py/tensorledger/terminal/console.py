"""Where people read: the terminal, or a pipe, which has no width of its own."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from tensorledger.terminal.visible import visible

PIPED = 110
"""Columns where the output is not a terminal: the widest table of a cell fits."""


class Visible(Console):
    """A console that shows the control characters of what it is given, and obeys none of them."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        return super().render(_shown(renderable), options)


def _shown(renderable: RenderableType) -> RenderableType:
    if isinstance(renderable, Text) and (plain := renderable.plain) != (seen := visible(plain)):
        renderable = renderable.copy()
        renderable.plain = seen
    return renderable


def console(*, stderr: bool = False) -> Console:
    """Return a console for results; numbers are not coloured by themselves."""
    plain = Visible(stderr=stderr, highlight=False)
    if plain.is_terminal:
        return plain
    return Visible(stderr=stderr, highlight=False, width=max(PIPED, shutil.get_terminal_size().columns))


def plain(parts: Iterable[RenderableType]) -> str:
    """Return what would be printed, as text without colours."""
    written = io.StringIO()
    shown = Visible(file=written, highlight=False, width=PIPED)
    for part in parts:
        shown.print(part, soft_wrap=isinstance(part, str))
    return written.getvalue()

"""What is left, for people: by the line that made it, which is shown."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from rich.text import Text

from tensorledger.environment.tree import tree
from tensorledger.protocol.messages import Frame, LiveTensor

PLACES = 8
"""Places that are shown before the rest is counted."""
TENSORS = 6
"""Groups of tensors that are shown of one place."""
WIDTH = 160
"""Characters of a line of source that are shown: a bundle may be all in one line."""
SOURCES = {".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".html", ".vue", ".svelte"}
"""The suffixes of files that lines are shown of."""
FRAMES = 8
"""Frames that are shown of a stack in which no line is known to be the user's."""
CALLERS = 3
"""Frames above the innermost that are shown: how that line was come to."""


Line = Callable[[LiveTensor], str]
"""Says what stands in the line of source that some tensors were made at."""


def leaks(
    found: Sequence[LiveTensor], line: Line | None = None, bundled: Callable[[LiveTensor], bool] = lambda _: False
) -> Iterator[Text]:
    """Yield what is left, grouped by where it was made, the most bytes first. By default, lines are read from files.

    ``bundled`` says of which nothing tells whose the lines of the stack are.
    """
    places = by_place(found, bundled)
    for stack, here in places[:PLACES]:
        if bundled(here[0]):
            yield from _bundled(stack)
        else:
            yield from _place(stack, line(here[0]) if line else source(stack[0]) if stack else "")
        for tensors in here[:TENSORS]:
            yield Text(f"    {leak(tensors)}")
            yield from (Text(f"      held by {held}", style="dim") for held in tensors.held)
        yield from _more(here[TENSORS:], "      ")
    yield from _more([tensors for _, here in places[PLACES:] for tensors in here], "  ")


def by_place(
    found: Sequence[LiveTensor], bundled: Callable[[LiveTensor], bool] = lambda _: False
) -> list[tuple[list[Frame], list[LiveTensor]]]:
    """Return the tensors by the frames that say how their line was come to; the library's and ours aside.

    The most bytes first. ``bundled`` is as ``leaks`` has it.
    """

    def users(tensors: LiveTensor) -> list[Frame]:
        return [frame for frame in tensors.stack if frame.of == "user" or bundled(tensors)] or tensors.stack[:1]

    def place(tensors: LiveTensor) -> list[tuple[str, int, int]]:
        return [(frame.file, frame.line or 0, frame.column or 0) for frame in users(tensors)]

    groups = [list(group) for _, group in groupby(sorted(found, key=place), place)]
    groups.sort(key=lambda group: -sum(tensors.count * (tensors.bytes or 0) for tensors in group))
    return [(users(group[0]), group) for group in groups]


def _place(stack: list[Frame], line: str) -> Iterator[Text]:
    if not stack:
        yield Text("  made in a scope that has not ended, or where no stack was taken:")
        return
    if stack[0].of == "library":
        yield Text(
            f"  made with no line of yours on the stack, as after an await within the library, at {at(stack[0])}"
        )
        return
    yield Text(f"  made at {at(stack[0])}")
    if line:
        yield Text(f"  > {line}", style="bold")
    yield from (Text(f"    called from {at(frame)}", style="dim") for frame in stack[1 : 1 + CALLERS])


def _bundled(stack: list[Frame]) -> Iterator[Text]:
    yield Text("  made in a bundle without a source map, which has the library in it too; the innermost first:")
    yield from (Text(f"    {at(frame)}", style="dim") for frame in stack[:FRAMES])


def _more(rest: Sequence[LiveTensor], indent: str) -> Iterator[Text]:
    if rest:
        yield Text(f"{indent}… and {sum(tensors.count for tensors in rest)} more", style="dim")


def leak(found: LiveTensor) -> str:
    """Return a group of tensors that are left, in one line."""
    shape = "?" if found.shape is None else f"[{', '.join(map(str, found.shape))}]"
    size = "" if found.bytes is None else f", {found.bytes:,} bytes{' each' if found.count > 1 else ''}"
    name = f" {found.name}" if found.name else ""
    kept = ", kept" if found.kept else ""
    lost = ", to which nothing refers any more" if found.reachable is False else ""
    return f"{found.count} × {found.dtype} {shape}{name}{size}{kept}{lost}"


def at(frame: Frame) -> str:
    """Return a frame's place, as an editor understands it; a file below the present folder without the folder."""
    file = frame.file.removeprefix(f"{Path.cwd()}/")
    column = "" if frame.column is None else f":{frame.column}"
    return f"{frame.function + ' ' if frame.function else ''}{file}:{frame.line}{column}"


def source(frame: Frame) -> str:
    """Return the line of source that a frame is at; the empty string where it cannot be read.

    Of a file that is no source nothing is shown: frames are read from files of results too, which anybody may write.
    """
    try:
        # A frame of the project's own files is relative to its tree, which an absolute path stands above.
        file = (tree() / frame.file).resolve()
        if file.suffix not in SOURCES or not file.is_file():
            return ""
        line = linecache.getline(str(file), frame.line or 0).strip()
    except (ValueError, OSError, RuntimeError):  # of what no file can be called, or a link that leads to itself
        return ""
    return line if len(line) <= WIDTH else f"{line[:WIDTH]} …"

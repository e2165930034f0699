"""What watching a page has found, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tensorledger.protocol.messages import LiveTensor
from tensorledger.terminal.leaks import FRAMES, at, leaks
from tensorledger.terminal.marks import marked
from tensorledger.watch.found import Engine, Failure, Leak, Level, Watched

ERRORS = 5
"""Errors of the page's that are shown before the rest is counted."""
ROUNDS = 40
"""Rounds in which a cache of a usual size is full, and is seen not to grow."""
HEADINGS = {
    "tensors": "tensors",
    "bytes": "bytes",
    "gpu": "on the GPU",
    "gpu_allocated": "with its pool",
    "heap": "heap",
}


def report(found: Watched) -> Iterator[RenderableType]:
    """Yield it all: the verdict, each engine round by round, and the lines that made what is left."""
    yield f"{marked(found.verdict)} {escape(found.url)} [dim]{found.seconds:.1f} s[/]  {escape(found.reason)}"
    if found.error is not None:
        yield from _failure(found.error, found.log)
    for engine in found.engines:
        yield _headline(engine)
        yield _rounds(engine)
        yield from (Text(f"  {note}", style="yellow") for note in engine.notes)
        if engine.leaks:
            yield Text(f"left of {found.rounds} rounds:")
            yield from leaks(engine.leaks, _source, _is_bundled)
            yield from _unmapped(engine.leaks)
            yield from _filling(engine, found.rounds)
    yield from (Text(note, style="yellow") for note in found.notes)
    for error in found.page_errors[:ERRORS]:
        where = f" ({error.url}:{error.line})" if error.url else ""
        yield Text(f"the page threw: {error.message}{where}", style="dim")
    if len(found.page_errors) > ERRORS:
        yield Text(f"… and {len(found.page_errors) - ERRORS} errors more", style="dim")


def _failure(error: Failure, log: str) -> Iterator[Text]:
    yield from (Text(f"  {line}", style="dim") for line in error.message.splitlines()[1:] if line.strip())
    for frame in error.stack[:1]:
        yield Text(f"  at {at(frame)}")
        if error.source:
            yield Text(f"  > {error.source}", style="bold")
    yield from (Text(f"    called from {at(frame)}", style="dim") for frame in error.stack[1:4])
    if log:
        yield Text("it printed last:")
        yield from (Text(f"  {line}", style="dim") for line in log.splitlines())


def _unmapped(found: Sequence[Leak]) -> Iterator[Text]:
    """Yield the places that are known where the script has no source map: in what a bundler has written."""
    lost = [
        leak.stack
        for leak in found
        if leak.stack and not leak.bundled and all(frame.of == "library" for frame in leak.stack)
    ]
    if lost:
        yield Text("  the script has no source map that says whose lines these are; the innermost first:", style="dim")
        yield from (Text(f"    {at(frame)}", style="dim") for frame in lost[0][:FRAMES])


def _filling(engine: Engine, rounds: int) -> Iterator[Text]:
    """Yield what else than a leak it may be: a cache with a bound, as of the last so many results."""
    if rounds < ROUNDS and "realms" not in engine.grows and any(leak.reachable for leak in engine.leaks):
        hint = f"still referred to: a cache that is still filling looks the same; --rounds {ROUNDS} tells"
        yield Text(f"  {hint}", style="yellow")


def _headline(engine: Engine) -> Text:
    realm = engine.realm
    release = f"TensorFlow.js {engine.release}" if engine.release else "TensorFlow.js of a release that is not told"
    backend = f", {engine.backend}" if engine.backend else ""
    several = f", up to {realm.count} at once" if realm.count > 1 else ""
    return Text(f"{release}{backend}, in the {realm.kind} {realm.url}{several}", style="italic")


def _rounds(engine: Engine) -> Table:
    table = Table()
    table.add_column("after", no_wrap=True)
    shown = [name for name in HEADINGS if any(getattr(level, name) is not None for level in engine.rounds)]
    for name in shown:
        table.add_column(HEADINGS[name], justify="right", no_wrap=True)
    for number, (before, level) in enumerate(pairwise([None, *engine.rounds])):
        name = "warming up" if number == 0 else f"round {number}"
        table.add_row(name, *(_level(before, level, quantity) for quantity in shown))
    return table


def _level(before: Level | None, level: Level | None, quantity: str) -> str:
    value = getattr(level, quantity)
    if value is None:
        return ""
    earlier = None if before is None else getattr(before, quantity)
    if earlier is None or quantity == "heap":
        return f"{value:,}"
    return f"{value:,}  {value - earlier:+,}" if value != earlier else f"{value:,}  [dim]=[/]"


def _is_bundled(leak: LiveTensor) -> bool:
    return isinstance(leak, Leak) and leak.bundled


def _source(leak: LiveTensor) -> str:
    assert isinstance(leak, Leak)
    return leak.source

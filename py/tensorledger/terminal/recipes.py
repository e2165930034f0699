"""The recipes table in the terminal: for each model and way of using it, what each recipe leaves on which targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tensorledger.recipes.row import Row
from tensorledger.recipes.table import advice, groups, harms, reasons, works

LEGEND = (
    "0: nothing is left; else the tensors that are, and their size; –: does not apply; !: it broke, or what it threw; "
    "✗: harms a model beside it"
)


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Yield a table for each model, in each language, by how it was used; targets that are alike share a line."""
    for group in groups(rows):
        title = f"{escape(group.model)}, {escape(group.usage)}"
        table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("target" if group.language == "py" else "release", no_wrap=True)
        for recipe in group.recipes:
            table.add_column(recipe.replace("-", "-\n"), justify="right", no_wrap=True)
        table.add_column("best", no_wrap=True)
        for line in group.lines:
            table.add_row(line.label, *(crossing(line.rows.get(recipe)) for recipe in group.recipes), advice(line))
        yield table


def why(rows: Sequence[Row]) -> Iterator[Text]:
    """Yield why crossings do not apply, broke or did harm, each once, with where."""
    yield from map(Text, reasons(rows))


def levels(rows: Sequence[Row]) -> Table | None:
    """Return the table of the process's size, where rows say it: growth per cycle, and what gives it back."""
    told = [row for row in rows if row.resident is not None and row.growth is not None]
    if not told:
        return None
    table = Table(title="resident size, in MB, and growth per cycle, in KB", title_justify="left")
    for heading in ("target", "allocator", "usage", "recipe"):
        table.add_column(heading)
    for heading in ("start", "end", "after a trim", "native", "resident"):
        table.add_column(heading, justify="right")
    table.add_column("what gives it back")
    for row in told:
        assert row.resident is not None and row.growth is not None
        sizes = [f"{size / 1e6:,.0f}" for size in (row.resident.start, row.resident.end, row.resident.trimmed)]
        rises = ["" if rise is None else f"{rise / 1e3:+,.1f}" for rise in (row.growth.native, row.growth.resident)]
        table.add_row(row.target, row.allocator or "", row.usage, row.recipe, *sizes, *rises, row.lever or "")
    return table


def crossing(row: Row | None) -> Text:
    """Return what came of a crossing, as ``LEGEND`` explains it."""
    if row is None:
        return Text("")
    if not row.applies:
        return Text("–", style="dim")
    amount = ""
    if row.left is not None:
        amount = "0" if row.left.nothing else f"{row.left.tensors}\n{_size(row.left.bytes or 0)}"
    bad = bool(row.error) or harms(row)
    said = f"{'! ' if row.error else ''}{amount}{' ✗' if harms(row) else ''}"
    return Text(said.strip(), style="green" if works(row) else "red" if bad else "yellow")


def _size(count: int) -> str:
    """Return a number of bytes as people read it."""
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.{0 if count >= 10 * factor else 1}f} {unit}"
    return f"{count} B"

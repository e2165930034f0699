"""The recipes table: for each model and way of using it, what each recipe leaves on which targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from tensorledger.recipes.row import Row

LEGEND = (
    "0: nothing is left; else the tensors that are, and their size; –: does not apply; !: it broke, or what it threw; "
    "✗: harms a model beside it"
)
ADVISED = (
    "drop-reference",
    "dispose",
    "walk-weights",
    "walk-values",
    "del",
    "del-collect",
    "clear-session",
    "function-scope",
    "function-scope-finally",
    "del-clear-collect",
    "clear-before-load",
    "complete",
)
"""The recipes in the order in which they are advised: what says least to write comes first."""


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Yield a table for each model, in each language, by how it was used; targets that are alike share a line."""
    for (model, language, usage), group in _grouped(rows):
        recipes = list(dict.fromkeys(row.recipe for row in group))
        table = Table(title=f"{escape(model)}, {escape(usage)}", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("target" if language == "py" else "TensorFlow.js", no_wrap=True)
        for recipe in recipes:
            table.add_column(recipe.replace("-", "-\n"), justify="right", no_wrap=True)
        table.add_column("best", no_wrap=True)
        for label, line in alike(group):
            cells = {row.recipe: row for row in line}
            table.add_row(label, *(_cell(cells.get(recipe)) for recipe in recipes), advice(line))
        yield table


def alike(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Yield the targets that follow each other and are alike in every recipe: what they are called, and their rows."""
    lines = [list(line) for _, line in groupby(rows, key=lambda row: (row.target, row.allocator))]
    for _, run in groupby(lines, key=lambda line: [(row.recipe, row.allocator, _said(row)) for row in line]):
        found = list(run)
        yield _label(found[0][0], found[-1][0], len(found)), found[0]


def advice(line: Sequence[Row]) -> str:
    """Return the first recipe that works on a target: it leaves nothing, throws nothing and harms nobody."""
    good = [row.recipe for row in line if works(row)]
    none = "none of these" if any(row.applies for row in line) else ""
    return next((recipe for recipe in ADVISED if recipe in good), next(iter(good), none))


def works(row: Row) -> bool:
    """Say whether a recipe does all that it should on a target, in one crossing."""
    grows = row.growth is not None and bool(row.growth.tensors)
    return row.left is not None and row.left.nothing and not grows and row.error is None and row.bystander == "kept"


def reasons(rows: Sequence[Row]) -> Iterator[Text]:
    """Yield why crossings do not apply, broke or did harm, each once, with where."""
    said: dict[str, dict[str, None]] = {}
    for row in rows:
        why = row.reason or (f"{row.error.type}: {row.error.message.splitlines()[0]}" if row.error else "")
        if row.bystander not in (None, "kept"):
            why = f"the model beside it: {row.bystander}"
        if why:
            said.setdefault(f"{row.recipe}: {why}", {})[f"{row.model}, {row.usage}"] = None
    for why, where in said.items():
        yield Text.assemble((why, ""), (f"  ({'; '.join(where)})", "dim"))


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


def _grouped(rows: Sequence[Row]) -> Iterator[tuple[tuple[str, str, str], list[Row]]]:
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.model, row.language, row.usage), []).append(row)
    yield from groups.items()


def _label(first: Row, last: Row, count: int) -> str:
    allocator = f", {first.allocator}" if first.allocator not in (None, "default") else ""
    if first.language == "py":
        return f"{first.target}{allocator}"
    start, end = (row.target.removeprefix("tfjs@").removesuffix("/cpu") for row in (first, last))
    return start if count == 1 else f"{start} – {end} ({count})"


def _said(row: Row | None) -> str:
    """Return what a crossing came to, in a few letters."""
    if row is None:
        return ""
    if not row.applies:
        return "–"
    amount = ""
    if row.left is not None:
        amount = "0" if row.left.nothing else f"{row.left.tensors}\n{_size(row.left.bytes or 0)}"
    harmed = " ✗" if row.bystander not in (None, "kept") else ""
    return f"! {amount}".strip() if row.error else f"{amount}{harmed}"


def _size(count: int) -> str:
    """Return a number of bytes as people read it."""
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.{0 if count >= 10 * factor else 1}f} {unit}"
    return f"{count} B"


def _cell(row: Row | None) -> Text:
    said = _said(row)
    if row is None or not row.applies:
        return Text(said, style="dim")
    return Text(said, style="green" if works(row) else "red" if "✗" in said or "!" in said else "yellow")

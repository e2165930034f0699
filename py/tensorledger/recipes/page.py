"""The recipes table as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tensorledger.recipes.row import Row
from tensorledger.recipes.table import advice, groups, harms, reasons
from tensorledger.results.marked import markdown

MARK = "recipes"
LEGEND = (
    "0: nothing is left; else tensors · bytes that are left of each cycle; –: does not apply; !: it throws; "
    "✗: a model beside it is harmed."
)


def part(rows: Sequence[Row], language: str, models: Sequence[str] = ()) -> str:
    """Return what stands between the marks ``<!-- recipes … -->``: a table for each model and usage of a language."""
    found = [row for row in rows if row.language == language and (not models or row.model in models)]
    return "\n\n".join(["", LEGEND, *_tables(found), *_why(found), ""])


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    for group in groups(rows):
        yield f"**{group.model}, {group.usage}**"
        columns = ["target" if group.language == "py" else "TensorFlow.js", *group.recipes, "so, release it by"]
        yield markdown(
            columns,
            (
                [line.label, *(_cell(line.rows.get(recipe)) for recipe in group.recipes), advice(line)]
                for line in group.lines
            ),
        )


def _why(rows: Sequence[Row]) -> Iterator[str]:
    said = reasons(rows)
    if said:
        yield "\n".join(f"- {reason}" for reason in said)


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if not row.applies:
        return "–"
    amount = ""
    if row.left is not None:
        amount = "0" if row.left.nothing else f"{row.left.tensors:,} · {row.left.bytes:,}"
    return f"{'! ' if row.error else ''}{amount}{' ✗' if harms(row) else ''}".strip()

"""The recipes table before it is drawn: which targets are alike, what a crossing came to, what is advised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tensorledger.recipes.row import KEPT, Row
from tensorledger.workers.allocators import DEFAULT

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


@dataclass(frozen=True)
class Line:
    """Targets that follow each other and are alike in every recipe, with the rows of the first."""

    label: str
    rows: dict[str, Row]
    """By recipe."""


@dataclass(frozen=True)
class Group:
    """A model, used in one way, in one language."""

    model: str
    language: str
    usage: str
    recipes: list[str]
    lines: list[Line]


def groups(rows: Sequence[Row]) -> Iterator[Group]:
    """Yield the rows by model, language and usage, in the order in which they come first."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        found.setdefault((row.model, row.language, row.usage), []).append(row)
    for (model, language, usage), group in found.items():
        recipes = list(dict.fromkeys(row.recipe for row in group))
        yield Group(model, language, usage, recipes, list(_lines(group)))


def _lines(rows: Sequence[Row]) -> Iterator[Line]:
    each = [list(line) for _, line in groupby(rows, key=lambda row: (row.target, row.allocator))]
    for _, run in groupby(each, key=lambda line: [(row.recipe, row.allocator, _alike(row)) for row in line]):
        found = list(run)
        yield Line(_label([line[0] for line in found]), {row.recipe: row for row in found[0]})


def _alike(row: Row) -> tuple[object, ...]:
    return row.applies, row.left, row.error is None, row.bystander == KEPT


def _label(lines: Sequence[Row]) -> str:
    """Return what lines that are alike are called, from the first row of each."""
    first, last, count = lines[0], lines[-1], len(lines)
    if first.language == "py":
        allocator = f", {first.allocator}" if first.allocator not in (None, DEFAULT) else ""
        return f"{', '.join(line.target for line in lines)}{allocator}"
    start, end = (row.target.removeprefix("tfjs@").removesuffix("/cpu") for row in (first, last))
    return start if count == 1 else f"{start} – {end} ({count})"


def works(row: Row) -> bool:
    """Say whether a recipe does all that it should in a crossing: it leaves nothing, breaks nothing, harms nobody."""
    grows = row.growth is not None and bool(row.growth.tensors)
    return row.left is not None and row.left.nothing and not grows and row.error is None and row.bystander == KEPT


def harms(row: Row) -> bool:
    """Say whether a model beside it has lost something."""
    return row.bystander not in (None, KEPT)


def advice(line: Line) -> str:
    """Return the first recipe that works there, the least to write first; "none of these", or nothing to advise on."""
    good = [recipe for recipe, row in line.rows.items() if works(row)]
    none = "none of these" if any(row.applies for row in line.rows.values()) else ""
    return next((recipe for recipe in ADVISED if recipe in good), next(iter(good), none))


def reasons(rows: Sequence[Row]) -> list[str]:
    """Return why crossings do not apply, broke or did harm, each with the recipes and usages that it is true of."""
    said: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for row in rows:
        why = row.reason
        if row.error and not why:
            why = f"{row.error.type}: {row.error.message}".splitlines()[0]
        if harms(row):
            why = f"the model beside it: {row.bystander}"
        if why:
            recipes, where = said.setdefault(why, ({}, {}))
            recipes[row.recipe] = None
            where[f"{row.model}, {row.usage}"] = None
    every = len(dict.fromkeys(row.recipe for row in rows))
    return [
        f"{'every recipe' if len(recipes) == every > 1 else ', '.join(recipes)}: {why} ({'; '.join(where)})"
        for why, (recipes, where) in said.items()
    ]

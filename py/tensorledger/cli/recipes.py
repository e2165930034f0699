"""``tensorledger recipes``: what each way of releasing a model leaves, per version."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.markup import escape

from tensorledger.cells.ahead import cores
from tensorledger.cli.options import NewFile, RecipeType, flat, json_option, target_option, write_json
from tensorledger.environment.folders import write_whole
from tensorledger.recipes import javascript, python
from tensorledger.recipes.page import MARK, part
from tensorledger.recipes.row import SCHEMA, Row
from tensorledger.recipes.sweep import Choice, sweep
from tensorledger.recipes.table import works
from tensorledger.results.marked import NoMarks, replaced
from tensorledger.targets.target import Target
from tensorledger.terminal.console import console
from tensorledger.terminal.progress import progress
from tensorledger.terminal.recipes import LEGEND, levels, tables, why
from tensorledger.workers.allocators import ALLOCATORS, DEFAULT

ALL = "all"


class ModelType(click.ParamType[str]):
    """A model of the zoo, or a user's own file."""

    name = "model"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        names = dict.fromkeys([*javascript.MODELS, *python.MODELS])
        if value in names or value == ALL:
            return str(value)
        if not any(there.takes(value) for there in (javascript, python)):
            self.fail(
                f"no model {value!r}; the zoo has {', '.join(names)}; a file of your own ends in .js, .mjs, .cjs, .py, "
                ".keras or .h5, and a folder has a model.json",
                param,
                ctx,
            )
        return str(value)


@click.command()
@click.argument("models", nargs=-1, type=ModelType(), metavar="[MODEL]...")
@target_option
@click.option("--recipe", "recipes", multiple=True, type=RecipeType(), help="Only this way. Again for more.")
@click.option(
    "--usage",
    "usages",
    multiple=True,
    type=click.Choice([*javascript.USAGES, *python.USAGES]),
    help="Only where the model was used so. Again for more.",
)
@click.option(
    "--allocator",
    "allocators",
    multiple=True,
    type=click.Choice([*ALLOCATORS, ALL]),
    help="TensorFlow's allocator, in Python. Again for more. Default: default.",
)
@click.option(
    "--cycles",
    default=python.CYCLES,
    show_default=True,
    type=click.IntRange(min=2),
    help="Cycles of each crossing in Python; JavaScript's, counted exactly, take 2.",
)
@click.option(
    "--page",
    type=NewFile(),
    help="Write the tables between the marks <!-- recipes js --> and <!-- recipes py --> there, as Markdown.",
)
@click.option("--jobs", default=cores, type=click.IntRange(min=1), help="Rows measured at once. Default: one a core.")
@json_option
def recipes(
    models: Sequence[str],
    chosen: Sequence[list[Target]],
    recipes: Sequence[str],
    usages: Sequence[str],
    allocators: Sequence[str],
    cycles: int,
    page: Path | None,
    jobs: int,
    json_file: Path | None,
) -> None:
    """Try every way to release a model, on every target, by how the model was used before.

    MODEL is one of the zoo ("all": each), by default the classifier; or a file of your own: .mjs, .js or .cjs whose
    default export makes a model of `tf`, a folder with a model.json, .py with a function `model(keras)`, .keras or .h5.

    Exit status: 1 where `complete`, which is to release everything on every release, left something, threw or did
    harm, or where a run broke; 2 where nothing could be run, or nothing of a model of yours.
    """
    targets = flat(chosen)
    choice = Choice(
        models=_models(models),
        recipes=recipes,
        usages=usages,
        allocators=tuple(ALLOCATORS) if ALL in allocators else allocators or (DEFAULT,),
        cycles=cycles,
    )
    running = [target for target in targets if choice.size(target)]
    if not running:
        raise click.UsageError(
            f"nothing to run: {', '.join(choice.models)} with these recipes and usages on none of "
            f"{', '.join(map(str, targets))}. In JavaScript a model is {', '.join(javascript.USAGES)}; in Python it is "
            f"used by {', '.join(python.USAGES)}"
        )
    shown, rows, interrupted = console(), list[Row](), False
    if page is not None:
        _write_page(page, [], running)
    try:
        rows = _measured(choice, running, jobs, shown, rows)
    except KeyboardInterrupt:
        interrupted = True
        shown.print(f"[yellow]interrupted after {len(rows)} rows[/]")
        raise click.exceptions.Exit(128 + signal.SIGINT) from None
    finally:
        if json_file is not None:
            said = {"interrupted": True} if interrupted else {}
            write_json(json_file, {"schema": SCHEMA, **said, "rows": msgspec.to_builtins(rows)})
    if page is not None:
        _write_page(page, rows, running)
    for table in tables(rows):
        shown.print(table)
    shown.print(f"[dim]{LEGEND}[/]")
    for line in why(rows):
        shown.print(line, soft_wrap=True)
    sizes = levels(rows)
    if sizes is not None:
        shown.print(sizes)
    raise click.exceptions.Exit(_status(rows, choice.models))


def _write_page(page: Path, rows: Sequence[Row], targets: Sequence[Target]) -> None:
    """Write the tables into a page; without rows, only look whether it has a place for them."""
    try:
        text = page.read_text(encoding="utf-8")
        for language in dict.fromkeys(target.language for target in targets):
            text = replaced(text, f"{MARK} {language}", part(rows, language))
        if rows:
            write_whole(page, text)
    except OSError as error:
        raise click.UsageError(f"{page}: {error.strerror}") from error
    except NoMarks as error:
        raise click.UsageError(f"{page}: {error}") from error


def _models(written: Sequence[str]) -> list[str]:
    every = [*javascript.MODELS, *python.MODELS]
    return list(dict.fromkeys(model for name in written or every[:1] for model in (every if name == ALL else [name])))


def _measured(choice: Choice, targets: list[Target], jobs: int, shown: Console, rows: list[Row]) -> list[Row]:
    """Return the rows in the order of the targets; ``rows`` has them as they come, for who interrupts."""
    bar = progress(shown)
    with bar:
        task = bar.add_task("", total=sum(choice.size(target) for target in targets))

        def told(row: Row) -> None:
            rows.append(row)
            bar.update(task, advance=1, description=escape(f"{row.target} {row.model}, {row.usage}: {row.recipe}"))

        return sweep(choice, targets, jobs, told)


def _status(rows: Sequence[Row], models: Sequence[str]) -> int:
    """Return the exit status; ``models`` are those that were asked for."""
    own = [model for model in models if model not in (*javascript.MODELS, *python.MODELS)]
    if any(not any(row.left for row in rows if row.model == model) for model in own):
        return 2
    if all(row.error is not None and row.left is None for row in rows):
        return 2
    broke = any(row.error is not None and row.left is None for row in rows)
    failed = any(not works(row) for row in rows if row.recipe == "complete" and row.left is not None)
    return 1 if broke or failed else 0

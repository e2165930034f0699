"""Rows of the recipes table on TensorFlow.js: every recipe on a model, by how it was used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tensorledger.cells.cell import LIMIT
from tensorledger.environment.cache import CacheUnusable
from tensorledger.environment.node import NodeMissing
from tensorledger.environment.packages import PackagesMissing
from tensorledger.environment.releases import ReleaseMissing
from tensorledger.environment.tree import tree
from tensorledger.models.saved import saved_model
from tensorledger.protocol.messages import Outcome, RunScenario, Thrown
from tensorledger.recipes.row import HARMED, KEPT, Left, Rise, Row
from tensorledger.results.result import Failure
from tensorledger.targets.target import Target
from tensorledger.verdicts.relative import readings
from tensorledger.workers.errors import WorkerFailed
from tensorledger.workers.pool import Workers
from tensorledger.workers.worker import Watch

MODELS = (
    "classifier",
    "extractor",
    "narrow",
    "shared",
    "nested",
    "recurrent",
    "convolutional",
    "dropout",
    "normalized",
)
"""The zoo's models in JavaScript."""

USAGES = ("made", "predicted", "trained")

CYCLES = 2
"""After the warm-up: what is left is counted exactly, so that two show whether it is the same each time."""

NOT_MADE, NOT_USED = "ModelNotMade", "ModelNotUsed"
"""What the scenarios in js/recipes throw where there can be no model, and where it cannot predict or be trained."""

SYNCHRONOUS = {"made", "predicted"}
"""The usages that take no waiting, unless the model is loaded."""


SUFFIXES = (".js", ".mjs", ".cjs")


def takes(model: str) -> bool:
    """Say whether a model is one of the zoo's here, or a file or folder that can be one."""
    path = Path(model)
    return model in MODELS or (path.suffix in SUFFIXES and path.is_file()) or (path / "model.json").is_file()


def rows(model: str, target: Target, recipes: Sequence[str], usages: Sequence[str], workers: Workers) -> Iterator[Row]:
    """Yield a row for each crossing of ``usages`` and ``recipes`` of a model on a target.

    ``model`` is the zoo's by its name, a .js, .mjs or .cjs file whose default export makes one of ``tf``, or a folder
    with a ``model.json``. ``workers`` may be such as give nothing but exact counts.
    """
    for usage in usages:
        for recipe in recipes:
            yield _row(model, target, recipe, usage, workers)


def _row(model: str, target: Target, recipe: str, usage: str, workers: Workers) -> Row:
    try:
        outcome, _ = workers.run(target, _request(model, recipe, usage), _watch(), LIMIT)
    except (WorkerFailed, ReleaseMissing, PackagesMissing, NodeMissing, CacheUnusable) as error:
        failure = Failure(type=type(error).__name__, message=str(error), checkpoint=None, stack=[])
        return _unmeasured(model, target, recipe, usage, error=failure)
    return row_of(outcome, model, target, recipe, usage)


def _request(model: str, recipe: str, usage: str) -> RunScenario:
    at_once = usage in SYNCHRONOUS and not Path(model).is_dir()
    return RunScenario(
        scenario=str(tree() / "js" / "recipes" / ("used.mjs" if at_once else "trained.mjs")),
        model="",
        recipe=recipe,
        cycles=CYCLES,
        throws=True,
        params={
            "model": model if model in MODELS else str(Path(model).absolute()),
            "usage": usage,
            # Where nothing is called, a collection is all that could release it; exact counts need none.
            "collect": recipe == "drop-reference",
        },
    )


def _watch() -> Watch:
    return Watch(reached=lambda cycle, name: None, saved_model=saved_model)


def row_of(outcome: Outcome, model: str, target: Target, recipe: str, usage: str) -> Row:
    """Return the row of what a worker measured."""
    if outcome.not_applicable is not None:
        return _unmeasured(model, target, recipe, usage, reason=outcome.not_applicable)
    thrown = next((found for found in _thrown(outcome) if found.type != HARMED), None)
    if thrown is not None and thrown.type == NOT_MADE:
        return _unmeasured(model, target, recipe, usage, reason=f"the model cannot be made: {thrown.message}")
    if thrown is not None and thrown.type == NOT_USED:
        return _unmeasured(model, target, recipe, usage, reason=f"the model cannot be used so: {thrown.message}")
    if thrown is not None and recipe_is_missing(thrown):
        return _unmeasured(model, target, recipe, usage, reason=f"this release has no such method: {thrown.message}")
    failure = Failure(type=thrown.type, message=thrown.message, checkpoint=None, stack=thrown.stack) if thrown else None
    if not outcome.cycles:
        return _unmeasured(model, target, recipe, usage, error=failure)
    last, ran = outcome.cycles[-1], len(outcome.cycles) - 1
    ends = [readings(cycle)["end"] for cycle in outcome.cycles[1:] or outcome.cycles]
    harmed = [found.message for found in _thrown(outcome) if found.type == HARMED]
    first, final = outcome.cycles[0].checkpoints[-1].reading, last.checkpoints[-1].reading

    def each(quantity: str) -> float | None:
        before, after = getattr(first, quantity), getattr(final, quantity)
        return None if not ran or before is None or after is None else (after - before) / ran

    return _row_with(
        (model, target, recipe, usage),
        applies=True,
        left=Left.most(ends),
        error=failure,
        bystander=None if thrown else next(iter(harmed), KEPT),
        cycles=ran,
        growth=Rise(tensors=each("tensors"), bytes=each("bytes"), native=None, resident=None),
    )


def _thrown(outcome: Outcome) -> list[Thrown]:
    found = [outcome.error, *(cycle.thrown for cycle in outcome.cycles)]
    return [thrown for thrown in found if thrown is not None]


def recipe_is_missing(thrown: Thrown) -> bool:
    """Say whether what was thrown is that a release has no such method as the recipe calls."""
    return "is not a function" in thrown.message and any("js/lifecycle/recipes.mjs" in at.file for at in thrown.stack)


def _unmeasured(
    model: str, target: Target, recipe: str, usage: str, reason: str = "", error: Failure | None = None
) -> Row:
    return _row_with((model, target, recipe, usage), applies=error is not None, left=None, error=error, reason=reason)


def _row_with(crossing: tuple[str, Target, str, str], **said: Any) -> Row:
    model, target, recipe, usage = crossing
    return Row(model=model, language="js", target=str(target), recipe=recipe, usage=usage, **said)

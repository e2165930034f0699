"""The lives of a model that someone brought, on each target: loaded, used, released, and what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.checking.checked import Advice
from tensorledger.environment.tree import tree
from tensorledger.expectations.expectation import Expectation
from tensorledger.results.result import Result
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.target import Target
from tensorledger.verdicts.verdict import AS_EXPECTED
from tensorledger.workers.pool import Workers

FILES = {"js": Path("js/check/life.mjs"), "py": Path(__file__).with_name("life.py")}
RECIPES = {
    "layers": ("dispose", "walk-values", "complete"),
    "graph": ("dispose", "complete"),
    "keras": ("del-collect", "del-clear-collect", "complete"),
    "saved-model": ("del-collect", "del-clear-collect", "complete"),
}
"""The recipes that are tried in this order, by what the model is there; the first says least to write."""
CYCLES = 3
CANNOT_TRAIN = "not registered for backend"
"""What TensorFlow.js throws where a backend has no kernel for a gradient: the model can be used there all the same."""


def live(
    target: Target, format: str, usages: Sequence[str], params: dict[str, Any], workers: Workers, settings: Settings
) -> list[tuple[Result, Advice]]:
    """Run a model's lives on a target, each with the first recipe that leaves nothing.

    Where none does, the result is that of the first one, with what is left and the lines that made it.
    """
    return [_life(target, format, usage, params, workers, settings) for usage in usages]


def _life(
    target: Target, format: str, usage: str, params: dict[str, Any], workers: Workers, settings: Settings
) -> tuple[Result, Advice]:
    file = FILES[target.language]
    scenario = Scenario(f"check-{format}-{usage}", {target.language: tree() / file})
    tried: list[tuple[str, Result]] = []
    for recipe in RECIPES[format]:
        asked = replace(settings, recipe=recipe, params={**params, "usage": usage}, expectation=Expectation())
        result = run_cell(Cell(scenario, target), workers, asked).result
        if usage == "trained" and result.error is not None and CANNOT_TRAIN in result.error.message:
            said = f"the backend {target.backend} cannot train it: {result.error.message}"
            skipped = msgspec.structs.replace(result, verdict="skip", reason=said, error=None, leaks=[])
            return skipped, Advice(target=str(target), format=format, usage=usage, recipe=None)
        if result.verdict in AS_EXPECTED:
            return result, Advice(target=str(target), format=format, usage=usage, recipe=recipe)
        tried.append((recipe, result))
        if result.verdict == "skip":
            break
    # A recipe that this release has not says nothing of the model.
    measured = [one for _, one in tried if one.checkpoints and one.error is None] or [one for _, one in tried]
    return measured[0], Advice(target=str(target), format=format, usage=usage, recipe=None)

"""The ways to release a model in Python, each by its name."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tensorledger.runtime.context import Context


def _nothing(context: Context) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is done to release; ``release`` acts on ``context.held`` and leaves it empty."""

    release: Callable[[Context], None] = _nothing
    before: Callable[[Context], None] = _nothing
    """Done before a cycle's scenario starts."""
    around: Callable[[Callable[[], Any]], Any] | None = None
    """Runs a scenario that is a plain function."""


def _del(context: Context) -> None:
    context.held.clear()


def _del_collect(context: Context) -> None:
    context.held.clear()
    gc.collect()


def _del_clear_collect(context: Context) -> None:
    context.held.clear()
    context.keras.backend.clear_session()
    gc.collect()


RECIPES = {
    "del-clear-collect": Recipe(release=_del_clear_collect),
    "del-collect": Recipe(release=_del_collect),
    "del": Recipe(release=_del),
    "function-scope": Recipe(around=lambda body: body()),
}

DEFAULT = "del-clear-collect"


def why_not(name: str, scenario: Callable[..., Any]) -> str | None:
    """Say why a recipe does not apply to a scenario, or is not there; None where it does."""
    recipe = RECIPES.get(name)
    if recipe is None:
        return f"there is none of this name in Python, only {', '.join(RECIPES)}"
    generator = inspect.isgeneratorfunction(scenario) or inspect.isasyncgenfunction(scenario)
    if recipe.around is not None and generator:
        return "it wraps a whole function, and this scenario is a generator"
    return None

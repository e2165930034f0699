"""The ways to release a model in Python, each by its name."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tensorledger.runtime import kept
from tensorledger.runtime.context import Context


def _nothing(context: Context) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is done to release; ``release`` acts on ``context.held`` and leaves it empty."""

    release: Callable[[Context], None] = _nothing
    before: Callable[[Context], None] = _nothing
    """Done before a cycle's scenario starts."""
    around: Callable[[Context, Callable[[], Any]], Any] | None = None
    """Runs a scenario that is a plain function."""


def _del(context: Context) -> None:
    context.held.clear()


def _del_collect(context: Context) -> None:
    context.held.clear()
    gc.collect()


def _clear_session(context: Context) -> None:
    context.keras.backend.clear_session()


def _clear_only(context: Context) -> None:
    """Call clear_session while the model is still there; its name goes afterwards, as it must at last."""
    _clear_session(context)
    context.held.clear()


def _del_clear_collect(context: Context) -> None:
    context.held.clear()
    _clear_session(context)
    gc.collect()


def _function_scope(context: Context, body: Callable[[], Any]) -> Any:
    return body()


def _function_scope_finally(context: Context, body: Callable[[], Any]) -> Any:
    try:
        return body()
    finally:
        _del_clear_collect(context)


class _Complete:
    """What ``del-clear-collect`` does, and what TensorFlow keeps of the models that then are gone."""

    def __init__(self) -> None:
        self._since: set[str] = set()

    def before(self, context: Context) -> None:
        self._since = kept.registered()

    def release(self, context: Context) -> None:
        # While the models live: the keys of traces hold them by weak references, which are equal to nothing once dead.
        kept.drop_traces(kept.handles(context.held))
        context.held.clear()
        _clear_session(context)
        kept.drop_gradients(self._since)


_complete = _Complete()

RECIPES = {
    "del-clear-collect": Recipe(release=_del_clear_collect),
    "del": Recipe(release=_del),
    "del-collect": Recipe(release=_del_collect),
    "clear-session": Recipe(release=_clear_only),
    "clear-before-load": Recipe(before=_clear_session, release=_del),
    "function-scope": Recipe(around=_function_scope),
    "function-scope-finally": Recipe(around=_function_scope_finally),
    "complete": Recipe(before=_complete.before, release=_complete.release),
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

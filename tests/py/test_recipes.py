"""The names of recipes are said once, and each worker has those of its language. (JavaScript's: tests/js.)"""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any

import pytest

from tensorledger.protocol.messages import RECIPES
from tensorledger.runtime import kept, recipes


def test_the_python_worker_has_the_recipes_that_the_protocol_names() -> None:
    assert tuple(recipes.RECIPES) == RECIPES["py"]
    assert recipes.DEFAULT in RECIPES["py"]


DONE = {
    "del": ["use", "release", "dropped"],
    "del-collect": ["use", "release", "dropped", "collect"],
    "clear-session": ["use", "release", "clear", "dropped"],
    "del-clear-collect": ["use", "release", "dropped", "clear", "collect"],
    "clear-before-load": ["clear", "use", "release", "dropped"],
    "function-scope": ["use", "release"],
    "function-scope-finally": ["use", "release", "dropped", "clear", "collect"],
    "complete": ["note", "use", "release", "traces of 1", "dropped", "clear", "gradients since then"],
}
"""What each recipe does, in order, around a scenario that makes one model and releases."""


class Held(list[Any]):
    """The list of models, which tells when it is emptied."""

    def __init__(self, told: list[str]) -> None:
        super().__init__()
        self._told = told

    def clear(self) -> None:
        super().clear()
        self._told.append("dropped")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []

    def registered() -> set[str]:
        told.append("note")
        return {"then"}

    monkeypatch.setattr(gc, "collect", lambda: told.append("collect"))
    monkeypatch.setattr(kept, "registered", registered)
    monkeypatch.setattr(kept, "handles", len)
    monkeypatch.setattr(kept, "drop_traces", lambda resources: told.append(f"traces of {resources}"))
    monkeypatch.setattr(kept, "drop_gradients", lambda since: told.append(f"gradients since {' '.join(since)}"))
    return told


@pytest.mark.parametrize("name", RECIPES["py"])
def test_each_recipe_does_what_its_name_says(name: str, told: list[str]) -> None:
    recipe = recipes.RECIPES[name]
    keras = SimpleNamespace(backend=SimpleNamespace(clear_session=lambda: told.append("clear")))
    context: Any = SimpleNamespace(held=Held(told), keras=keras)

    def scenario() -> str:
        told.append("use")
        context.held.append("model")
        told.append("release")
        recipe.release(context)
        return "its value"

    recipe.before(context)
    assert (recipe.around(context, scenario) if recipe.around else scenario()) == "its value"
    assert told == DONE[name]
    assert not context.held or name == "function-scope", "the harness drops what leaving the scope has not"


def test_the_function_scope_with_finally_releases_after_a_throw_too(told: list[str]) -> None:
    keras = SimpleNamespace(backend=SimpleNamespace(clear_session=lambda: told.append("clear")))
    context: Any = SimpleNamespace(held=Held(told), keras=keras)

    def scenario() -> None:
        context.held.append("model")
        raise ValueError("in the middle")

    around = recipes.RECIPES["function-scope-finally"].around
    assert around is not None
    with pytest.raises(ValueError, match="in the middle"):
        around(context, scenario)
    assert told == ["dropped", "clear", "collect"] and not context.held

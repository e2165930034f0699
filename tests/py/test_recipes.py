"""The names of recipes are said once, and each worker has those of its language. (JavaScript's: tests/js.)"""

from __future__ import annotations

from tensorledger.protocol.messages import RECIPES
from tensorledger.runtime import recipes


def test_the_python_worker_has_the_recipes_that_the_protocol_names() -> None:
    assert tuple(recipes.RECIPES) == RECIPES["py"]
    assert recipes.DEFAULT in RECIPES["py"]

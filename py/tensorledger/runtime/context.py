"""What a scenario is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorledger.runtime.zoo import Zoo


@dataclass(frozen=True)
class Target:
    """Which runtime a scenario is on."""

    name: str
    version: str | None
    backend: str | None


@dataclass(frozen=True)
class Samples:
    """Training data, ``x`` of shape [8, features] and ``y`` of shape [8, outputs], float32."""

    x: Any
    y: Any


@dataclass(frozen=True)
class Data(Samples):
    """The data of the scenario's model, and that of each model of the zoo by its name."""

    classifier: Samples
    extractor: Samples


@dataclass
class Context:
    """The one argument of a scenario."""

    tf: Any
    keras: Any
    models: Zoo
    data: Data
    target: Target
    params: dict[str, Any]
    held: list[Any]
    """The models that the zoo made: the only reference to them that the harness keeps."""
    release: Callable[[], None] = field(init=False)
    """Releases what is in ``held`` by the recipe of this run."""

"""Walks over a parsed topology: each layer of a model, those inside models and wrappers too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Json = dict[str, Any]

MODELS = ("Sequential", "Functional", "Model")
WRAPPED = ("layer", "forward_layer", "backward_layer", "cell")
"""Where wrappers and recurrent layers have the one that is inside."""


def is_model(layer: Json) -> bool:
    """Say whether a layer is a model of layers."""
    return layer["class_name"] in MODELS


def layers_of(model: Json) -> list[Json]:
    """Return a model's own layers. A Sequential's config may be the bare list of them."""
    config = model["config"]
    layers: list[Json] = config if isinstance(config, list) else config["layers"]
    return layers


def all_layers(layer: Json) -> Iterator[Json]:
    """Yield a layer and all that is inside it, outermost first."""
    yield layer
    if is_model(layer):
        inner = layers_of(layer)
    else:
        inner = [layer["config"][key] for key in WRAPPED if isinstance(layer["config"].get(key), dict)]
        inner += layer["config"].get("cells", [])
    for one in inner:
        yield from all_layers(one)


def changed(layer: Json, change: Callable[[Json], Json]) -> Json:
    """Return a layer with ``change`` applied to all that is inside it, innermost first, and then to itself."""
    config = layer["config"]
    if is_model(layer):
        layers = [changed(one, change) for one in layers_of(layer)]
        return change({**layer, "config": layers if isinstance(config, list) else {**config, "layers": layers}})
    inner: Json = {key: changed(config[key], change) for key in WRAPPED if isinstance(config.get(key), dict)}
    if config.get("cells"):
        inner["cells"] = [changed(cell, change) for cell in config["cells"]]
    return change({**layer, "config": {**config, **inner}})

"""The weights of a model: where Keras keeps each in a file, and what TensorFlow.js calls it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tensorledger.conversion.topology import Json, is_model, layers_of

_KERNEL = ("kernel", "bias")
_RECURRENT = ("kernel", "recurrent_kernel", "bias")
WEIGHTS = {
    "Dense": _KERNEL,
    "Conv1D": _KERNEL,
    "Conv2D": _KERNEL,
    "Conv3D": _KERNEL,
    "Conv2DTranspose": _KERNEL,
    "Conv3DTranspose": _KERNEL,
    "DepthwiseConv2D": ("depthwise_kernel", "bias"),
    "SeparableConv2D": ("depthwise_kernel", "pointwise_kernel", "bias"),
    "Embedding": ("embeddings",),
    "BatchNormalization": ("gamma", "beta", "moving_mean", "moving_variance"),
    "LayerNormalization": ("gamma", "beta"),
    "PReLU": ("alpha",),
    "SimpleRNN": _RECURRENT,
    "LSTM": _RECURRENT,
    "GRU": _RECURRENT,
    "ConvLSTM2D": _RECURRENT,
}
"""Each layer's weights, in the order in which Keras keeps them, by their names in TensorFlow.js."""
RECURRENT = tuple(kind for kind, weights in WEIGHTS.items() if weights is _RECURRENT)
_OPTIONAL = {"bias": "use_bias", "gamma": "scale", "beta": "center"}
"""The layer's option without which it does not have that weight."""


@dataclass(frozen=True)
class Named:
    """One weight."""

    place: str
    """In a .keras file, as ``layers/dense_1/vars/1``."""
    name: str
    """In TensorFlow.js, as ``output/bias``."""
    owners: tuple[str, ...]
    """The names that its name in an .h5 file has, in this order: the layer's, and a Bidirectional's side's."""
    layer: Json = field(compare=False, repr=False)
    """The layer, or the cell, whose own it is."""


def named(model: Json) -> Iterator[Named]:
    """Yield the weights of a model, those of models and wrappers inside it too, layer by layer.

    The second Dense layer's bias, say, is in ``layers/dense_1/vars/1``, whatever the layer's own name is.
    """
    yield from _in_model(model, "")


def _in_model(model: Json, place: str) -> Iterator[Named]:
    seen: Counter[str] = Counter()
    for layer in layers_of(model):
        folder = _folder(layer["class_name"])
        own = f"{folder}_{seen[folder]}" if seen[folder] else folder
        seen[folder] += 1
        yield from _in_layer(layer, f"{place}layers/{own}")


def _in_layer(layer: Json, place: str) -> Iterator[Named]:
    kind, config = layer["class_name"], layer["config"]
    if is_model(layer):
        yield from _in_model(layer, f"{place}/")
    elif kind == "Bidirectional":
        inner = config["layer"]
        base = inner["config"]["name"].removeprefix("forward_")
        for side in ("forward", "backward"):
            one = {**inner, "config": {**inner["config"], "name": f"{side}_{base}"}}
            for weight in _in_layer(one, f"{place}/{side}_layer"):
                owners = (config["name"], *weight.owners)
                yield Named(weight.place, f"{config['name']}/{weight.name}", owners, weight.layer)
    elif kind == "TimeDistributed":
        for weight in _in_layer(config["layer"], f"{place}/layer"):
            yield Named(weight.place, f"{config['name']}/{weight.name}", (config["name"],), weight.layer)
    elif kind == "RNN":
        yield from _in_cell(config["cell"], f"{place}/cell", config["name"], (config["name"],))
    else:
        held = f"{place}/cell/vars" if kind in RECURRENT else f"{place}/vars"
        for index, name in enumerate(_weights(kind, config)):
            yield Named(f"{held}/{index}", f"{config['name']}/{name}", (config["name"],), layer)


def _in_cell(cell: Json, place: str, name: str, owners: tuple[str, ...]) -> Iterator[Named]:
    """Yield the weights of what an RNN was given to repeat; of several cells, each is called by its number."""
    if cell["class_name"] != "StackedRNNCells":
        for index, weight in enumerate(_weights(cell["class_name"].removesuffix("Cell"), cell["config"])):
            yield Named(f"{place}/vars/{index}", f"{name}/{weight}", owners, cell)
        return
    seen: Counter[str] = Counter()
    for number, one in enumerate(cell["config"]["cells"]):
        folder = _folder(one["class_name"])
        own = f"{folder}_{seen[folder]}" if seen[folder] else folder
        seen[folder] += 1
        yield from _in_cell(one, f"{place}/cells/{own}", f"{name}/RNNCell_{number}", (*owners, one["config"]["name"]))


def _weights(kind: str, config: Json) -> list[str]:
    without = ("beta",) if config.get("rms_scaling") else ()
    wanted = [name for name in WEIGHTS.get(kind, ()) if name not in without]
    return [name for name in wanted if config.get(_OPTIONAL.get(name, ""), True)]


def _folder(kind: str) -> str:
    """Return what Keras calls a class in its files. A functional model is called so there, however it is spelled."""
    name = "Functional" if kind == "Model" else kind
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))).lower()

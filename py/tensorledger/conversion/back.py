"""A TensorFlow.js layers model as a ``.keras`` file that Keras 3 loads and is right with."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tensorledger.conversion.folder import TfjsModel, told_of_topology
from tensorledger.conversion.names import RECURRENT, named
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.tfjs import LAYERS
from tensorledger.conversion.topology import Json, all_layers, changed, is_model, layers_of
from tensorledger.conversion.writing import Weight
from tensorledger.environment.folders import whole_file

KERAS = "3.0.0"
"""The version that the file says it is of: the first whose form it has."""


def write_keras(model: TfjsModel, destination: Path) -> None:
    """Write ``destination``, a ``.keras`` file: complete or not at all.

    How the model was compiled is not in it. Raises CannotConvert where Keras 3 would refuse it or predict something
    else, FileExistsError, OSError.
    """
    import h5py

    with told_of_topology(model.file):
        topology = _repaired(model)
        wanted = list(named(topology))
    weights = {weight.name: weight for weight in model.weights}
    with whole_file(destination) as unfinished:
        beside = unfinished.with_name("weights.h5")
        with h5py.File(beside, "w") as file:
            for one in wanted:
                # TensorFlow.js itself leaves the name of what a TimeDistributed has inside out.
                layer, _, own = one.name.partition("/")
                weight = weights.get(one.name) or weights.get(f"{layer}/{own.rpartition('/')[2]}")
                if weight is None:
                    raise CannotConvert(f"{model.file} is not whole: there is no weight {one.name}")
                file.create_dataset(one.place, data=weight.read())
        with zipfile.ZipFile(unfinished, "w") as archive:
            archive.writestr("metadata.json", json.dumps({"keras_version": KERAS}))
            archive.writestr("config.json", json.dumps(topology))
            archive.write(beside, "model.weights.h5")


def _repaired(model: TfjsModel) -> Json:
    topology = model.topology
    if not is_model(topology):
        raise CannotConvert(f"{model.file}: {topology.get('class_name')} is no model of layers")
    refused = list(_refusals(topology))
    if refused:
        raise CannotConvert(f"{model.file} cannot be a model of Keras 3:\n" + "\n".join(refused))
    weights = {weight.name: weight for weight in model.weights}
    return changed(changed(topology, _begun), lambda layer: _layer(layer, weights))


def _refusals(topology: Json) -> Iterator[str]:
    for layer in all_layers(topology):
        if is_model(layer):
            continue
        if any(key.endswith("activation") and value == "hard_sigmoid" for key, value in layer["config"].items()):
            yield (
                f"{layer['config'].get('name', '?')} ({layer['class_name']}): hard_sigmoid is 0.2 x + 0.5 in "
                "TensorFlow.js, and x / 6 + 0.5 in Keras 3; make it with sigmoid and train again"
            )
        if layer["config"].get("interpolation", "nearest") != "nearest":
            yield (
                f"{layer['config'].get('name', '?')} ({layer['class_name']}): TensorFlow.js places the corners "
                "otherwise than Keras 3 when it interpolates; make it with interpolation='nearest' and train again"
            )
        if layer["class_name"] in _OTHERWISE:
            yield (
                f"{layer['config'].get('name', '?')} ({layer['class_name']}): it is not the same in TensorFlow.js as "
                "in Keras 3; do it before the model"
            )
        if layer["class_name"] in _WITHOUT or layer["class_name"] not in LAYERS:
            yield f"{layer['config'].get('name', '?')} ({layer['class_name']}): Keras 3 has no such layer"


_WITHOUT = ("ThresholdedReLU", "RandomWidth")
"""Layers of TensorFlow.js that Keras 3 has not."""
_OTHERWISE = ("CategoryEncoding", "CenterCrop", "Resizing")
"""Layers of these names do something else in Keras 3, or fail in TensorFlow.js itself."""


def _layer(layer: Json, weights: dict[str, Weight]) -> Json:
    """Return a layer in Keras 3's words; what is inside it is done already."""
    config = layer["config"]
    kind = layer["class_name"]
    if kind == "Sequential":
        listed = layers_of(layer)
        name = (config if isinstance(config, dict) else layer).get("name", "sequential")
        return _of("keras", "Sequential", {"name": name, "layers": listed}, layer)
    if is_model(layer):
        return _of("keras.src.models.functional", "Functional", {"trainable": True, **_recounted(config)}, layer)
    config = {key: _object(value) for key, value in config.items() if key != "batch_input_shape"}
    if kind == "InputLayer":
        config["batch_shape"] = layer["config"]["batch_input_shape"]
    if kind in ("GRU", "GRUCell"):
        config["reset_after"] = False
    if kind == "LeakyReLU":
        config["negative_slope"] = config.pop("alpha", 0.3)
    if kind == "BatchNormalization" and isinstance(config["axis"], list):
        (config["axis"],) = config["axis"]
    if kind == "SeparableConv2D":
        # TensorFlow.js forgets it when it saves a model; its kernel has not.
        kernel = weights.get(f"{config['name']}/depthwise_kernel")
        config["depth_multiplier"] = kernel.shape[3] if kernel else 1
    if kind == "RNN":
        # TensorFlow.js writes the cell's options there too.
        config = {key: value for key, value in config.items() if key in _OF_RNN}
    for option in _UNKNOWN.get(kind, ()):
        config.pop(option, None)
    return _of("keras.layers", kind, config, layer)


def _recounted(config: Json) -> Json:
    """Return a functional model's config with the calls of models inside counted as Keras 3 does: from 0.

    Where they are the model's outputs it counts those of functional models from 1, as TensorFlow.js does.
    """
    models = {layer["config"]["name"]: layer["class_name"] for layer in config["layers"] if is_model(layer)}

    def earlier(reference: list[Any]) -> list[Any]:
        name, node, *rest = reference
        return [name, node - 1, *rest] if name in models else reference

    layers = [
        {**layer, "inbound_nodes": [[earlier(one) for one in call] for call in layer.get("inbound_nodes") or []]}
        for layer in config["layers"]
    ]
    outputs = [earlier(one) if models.get(one[0]) == "Sequential" else one for one in config["output_layers"]]
    return {**config, "layers": layers, "input_layers": _bare(config["input_layers"]), "output_layers": _bare(outputs)}


def _bare(ends: list[Any]) -> list[Any]:
    """Return one end of a model by itself; of a list with one, a model would give a list."""
    return ends[0] if len(ends) == 1 else ends


_OF_RNN = {
    "name", "trainable", "dtype", "cell", "return_sequences", "return_state", "go_backwards", "stateful", "unroll",
}  # fmt: skip
_UNKNOWN = {
    **dict.fromkeys((*RECURRENT, *(f"{kind}Cell" for kind in RECURRENT)), ("implementation", "time_major")),
    **dict.fromkeys(("DepthwiseConv2D", "SeparableConv2D", "Conv2DTranspose", "Conv3DTranspose"), ("groups",)),
    "SpatialDropout1D": ("noise_shape", "trainable"),
}
"""Options that say nothing here and that Keras 3 does not take; of grouped convolutions TensorFlow.js has none."""


def _of(module: str, kind: str, config: Any, layer: Json) -> Json:
    return {**layer, "module": module, "class_name": kind, "registered_name": None, "config": config}


def _begun(layer: Json) -> Json:
    """Return a Sequential with the input layer that it has not in TensorFlow.js: its first layer says its shape."""
    listed = layers_of(layer) if layer["class_name"] == "Sequential" else []
    if not listed or is_model(listed[0]) or "batch_input_shape" not in listed[0]["config"]:
        return layer
    first = listed[0]["config"]
    if listed[0]["class_name"] == "InputLayer":
        return layer
    config = {"name": f"{first['name']}_input", "batch_input_shape": first["batch_input_shape"]}
    layers = [{"class_name": "InputLayer", "config": {**config, "dtype": first.get("dtype", "float32")}}, *listed]
    own = layer["config"]
    return {**layer, "config": {**own, "layers": layers} if isinstance(own, dict) else layers}


def _object(value: Any) -> Any:
    """Return an initializer, a regularizer or a constraint with the place where Keras 3 finds its class."""
    if not isinstance(value, dict) or "class_name" not in value or value.get("module"):
        return value
    for module, kinds in _OBJECTS.items():
        if value["class_name"] in kinds:
            return {**value, "module": module, "registered_name": None}
    return value


_OBJECTS = {
    "keras.initializers": {
        "Zeros", "Ones", "Constant", "RandomUniform", "RandomNormal", "TruncatedNormal", "VarianceScaling",
        "Orthogonal", "Identity", "GlorotUniform", "GlorotNormal", "HeUniform", "HeNormal", "LecunUniform",
        "LecunNormal",
    },
    "keras.regularizers": {"L1L2"},
    "keras.constraints": {"MaxNorm", "MinMaxNorm", "NonNeg", "UnitNorm"},
}  # fmt: skip

"""Files that are well, to be spoilt: a model of each kind, and a file of each schema. It takes no TensorFlow."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import msgspec
import numpy as np
from reported import ATLASED, CHECKED, RESULTS, ROWS, result

from tensorledger.checking.checked import SCHEMA as CHECK
from tensorledger.conversion.back import write_keras
from tensorledger.conversion.folder import read_tfjs
from tensorledger.conversion.names import named
from tensorledger.conversion.topology import Json, layers_of
from tensorledger.conversion.writing import Weight, write_model, write_weights
from tensorledger.recipes.row import SCHEMA as RECIPES
from tensorledger.results.result import document

SECRET = "no-model-may-show-what-this-file-says-as"
"""What stands in a file beside the models, outside of their folders."""
COMPILED: Json = {
    "optimizer": {"module": "keras.optimizers", "class_name": "Adam", "config": {"learning_rate": 0.001}},
    "loss": {"module": "keras.losses", "class_name": "MeanSquaredError", "config": {}},
    "metrics": ["accuracy"],
}


def _layer(kind: str, name: str, **config: Any) -> Json:
    return {"class_name": kind, "config": {"name": name, "trainable": True, "dtype": "float32", **config}}


def _dense(name: str, units: int, **config: Any) -> Json:
    return _layer("Dense", name, units=units, use_bias=True, activation="relu", **config)


def _sequential(*layers: Json, name: str = "model") -> Json:
    return {"class_name": "Sequential", "config": {"name": name, "layers": list(layers)}}


def _cell(kind: str, name: str) -> Json:
    return _layer(kind, name, units=2, use_bias=True, activation="tanh", recurrent_activation="sigmoid")


def _functional() -> Json:
    source = {**_layer("InputLayer", "x", batch_input_shape=[None, 3]), "name": "x", "inbound_nodes": []}
    inner = {**_sequential(_dense("in", 2, batch_input_shape=[None, 3]), name="inner"), "name": "inner"}
    calls = [[["x", 0, 0, {}]]]
    joined = {**_layer("Add", "add"), "name": "add", "inbound_nodes": [[["inner", 1, 0, {}], ["top", 0, 0, {}]]]}
    return {
        "class_name": "Model",
        "config": {
            "name": "outer",
            "layers": [
                source,
                {**inner, "inbound_nodes": calls},
                {**_dense("top", 2), "name": "top", "inbound_nodes": calls},
                joined,
            ],
            "input_layers": [["x", 0, 0]],
            "output_layers": [["add", 0, 0]],
        },
    }


def _models() -> dict[str, tuple[Json, dict[str, list[int]]]]:
    """Return topologies by name, each with the shapes of its weights."""
    convolutional = _sequential(
        _layer(
            "Conv2D", "conv", filters=2, kernel_size=[3, 3], strides=[1, 1], padding="same", use_bias=True,
            data_format="channels_last", dilation_rate=[1, 1], activation="linear", batch_input_shape=[None, 8, 8, 1],
        ),
        _layer("BatchNormalization", "norm", axis=[3], center=True, scale=True, epsilon=0.001, momentum=0.99),
        _layer("Flatten", "flat"),
        _dense("top", 1, kernel_constraint={"class_name": "MaxNorm", "config": {"max_value": 1e9, "axis": 0}}),
    )  # fmt: skip
    stacked = _layer("StackedRNNCells", "cells", cells=[_cell("GRUCell", "one"), _cell("LSTMCell", "two")])
    recurrent = _sequential(
        _layer(
            "Bidirectional", "both", batch_input_shape=[None, 4, 3], merge_mode="concat",
            layer={**_cell("LSTM", "lstm"), "class_name": "LSTM"},
        ),
        _layer("RepeatVector", "again", n=3),
        _layer("TimeDistributed", "each", layer=_dense("dense", 2)),
        _layer("RNN", "rnn", cell=stacked, return_sequences=False),
    )  # fmt: skip
    one = _sequential(_dense("dense", 2, batch_input_shape=[None, 3]), _dense("top", 1))
    return {
        "dense": (one, {"dense/kernel": [3, 2], "dense/bias": [2], "top/kernel": [2, 1], "top/bias": [1]}),
        "conv": (convolutional, {"conv/kernel": [3, 3, 1, 2], "top/kernel": [128, 1], "top/bias": [1]}),
        "rnn": (recurrent, {}),
        "functional": (_functional(), {"in/kernel": [3, 2], "top/kernel": [3, 2]}),
    }


def _weights(topology: Json, shapes: dict[str, list[int]]) -> list[Weight]:
    made = []
    for number, one in enumerate(named(topology)):
        shape = tuple(shapes.get(one.name, [2] if one.name.endswith(("bias", "gamma", "beta", "mean")) else [2, 2]))
        array = np.random.default_rng(number).normal(size=shape).astype(np.float32)
        made.append(Weight(one.name, shape, "float32", lambda array=array: array))  # type: ignore[misc]
    return made


def make(folder: Path, more: Sequence[Path] = ()) -> dict[str, list[Path]]:
    """Write a file, or a folder, of each kind; return them by kind. ``more``: models of one's own besides."""
    folder.mkdir(parents=True)
    found: dict[str, list[Path]] = {kind: [] for kind in ("tfjs", "graph", "keras", "h5", "results", "saved-model")}
    for name, (topology, shapes) in _models().items():
        weights = _weights(topology, shapes)
        for quantize in ("", "uint8") if name in ("dense", "rnn") else ("",):
            made = folder / f"{name}{quantize}"
            made.mkdir()
            manifest = write_weights(made, weights, shard=48, quantize=quantize)
            described = {"modelTopology": {"model_config": topology, "keras_version": "2.15.0"}}
            write_model(made, {"format": "layers-model", **described, "weightsManifest": manifest})
            found["tfjs"].append(made)
        found["keras"].append(_keras(folder / f"{name}.keras", folder / name, compiled=name == "dense"))
        found["h5"].append(_h5(folder / f"{name}.h5", topology, weights, compiled=name == "dense"))
    found["graph"].append(_graph(folder / "graph"))
    saved = folder / "saved"
    saved.mkdir()
    (saved / "saved_model.pb").write_bytes(b"\x08\x01\x12\x05\x0a\x03\x32\x01\x2a")
    (saved / "keras_metadata.pb").write_bytes(b"\x0a\x04root")
    found["saved-model"].append(saved)
    np.save(folder / "inputs.npy", np.ones((2, 3), np.float32))
    np.savez_compressed(folder / "inputs.npz", one=np.ones((2, 3), np.float32))
    found["inputs"] = [folder / "inputs.npy", folder / "inputs.npz"]
    found["results"] += _results(folder)
    for path in more:
        kind = {".keras": "keras", ".h5": "h5"}.get(path.suffix)
        if kind is not None:
            copied = folder / f"more-{path.parent.parent.name}-{path.parent.name}{path.suffix}"
            found[kind].append(Path(shutil.copy(path, copied)))
    return found


def _keras(path: Path, tfjs: Path, *, compiled: bool) -> Path:
    write_keras(read_tfjs(tfjs), path)
    if compiled:
        with zipfile.ZipFile(path) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        described = {**json.loads(entries["config.json"]), "compile_config": COMPILED}
        entries["config.json"] = json.dumps(described).encode()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in entries.items():
                archive.writestr(name, content)
    return path


def _h5(path: Path, topology: Json, weights: list[Weight], *, compiled: bool) -> Path:
    with h5py.File(path, "w") as file:
        file.attrs.update({"keras_version": "2.15.0", "backend": "tensorflow", "model_config": json.dumps(topology)})
        if compiled:
            described = {**COMPILED, "optimizer_config": COMPILED["optimizer"]}
            file.attrs["training_config"] = json.dumps(described)
        root = file.create_group("model_weights")
        names = [layer["config"]["name"] for layer in layers_of(topology)]
        root.attrs["layer_names"] = [name.encode() for name in names]
        owners = {one.name: one.owners for one in named(topology)}
        by_name = {weight.name: weight for weight in weights}
        for layer in layers_of(topology):
            name = layer["config"]["name"]
            group = root.create_group(name)
            own = [one.name for one in named({**topology, "config": {"layers": [layer]}})]
            places = [f"{'/'.join(owners[one])}/{one.rpartition('/')[2]}:0" for one in own]
            group.attrs["weight_names"] = [place.encode() for place in places]
            for place, one in zip(places, own, strict=True):
                group.create_dataset(place, data=by_name[one].read())
    return path


def _graph(folder: Path) -> Path:
    folder.mkdir()
    weights = [Weight("w", (2, 2), "float32", lambda: np.eye(2, dtype=np.float32))]
    nodes = [
        {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}},
        {"name": "w", "op": "Const", "attr": {"dtype": {"type": "DT_FLOAT"}}},
        {"name": "y", "op": "MatMul", "input": ["x", "w"], "attr": {}},
    ]
    manifest = write_weights(folder, weights)
    signature = {"inputs": {"x": {"name": "x:0"}}, "outputs": {"y": {"name": "y:0"}}}
    described = {"modelTopology": {"node": nodes, "versions": {}}, "signature": signature}
    write_model(folder, {"format": "graph-model", **described, "weightsManifest": manifest})
    return folder


def _results(folder: Path) -> list[Path]:
    """Write files of results, of each schema."""
    odd = result("odd[x]", verdict="fail", reason="a reason\nof two lines", log="printed\nmore")
    contents: dict[str, Any] = {
        "run.json": document([*RESULTS, odd], {}),
        "recipes.json": {"schema": RECIPES, "rows": msgspec.to_builtins(ROWS)},
        "atlas.json": msgspec.to_builtins(ATLASED),
        "check.json": {"schema": CHECK, **msgspec.to_builtins(CHECKED)},
    }
    written = []
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
        written.append(folder / name)
    return written

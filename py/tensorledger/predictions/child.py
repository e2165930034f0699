"""``python -m tensorledger.predictions.child REQUEST ANSWER``: what takes TensorFlow, in a process of its own.

Both are JSON files; predictions/ask.py writes the one and reads the other, and says what is in them.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")

from tensorledger.conversion.folder import read_tfjs
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.refused import graph_refusals
from tensorledger.conversion.sources import Given
from tensorledger.conversion.writing import SHARD
from tensorledger.predictions.input import Array
from tensorledger.predictions.operations import refuse_reaching
from tensorledger.predictions.runnable import Runnable, of_keras, of_saved_model


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Do what was asked, in this order: load, save, convert to a graph, predict. Raises CannotConvert."""
    source = Given(Path(request["path"]), request["kind"], request["function"])
    said: dict[str, Any] = {}
    model: Any = None
    if not request["run_code"]:
        refuse_reaching(source)
    if source.kind == "saved-model" and not request["keras"]:
        runnable = of_saved_model(source.path)
    elif source.kind == "tfjs-graph":
        from tensorledger.predictions.graphdef import of_graph

        runnable = of_graph(read_tfjs(source.path))
    else:
        from tensorledger.predictions.load import load

        model = load(source, request["keras"], request["imports"], run_code=request["run_code"])
        runnable = of_keras(model)
        said["trained"] = bool(getattr(model, "optimizer", None)) and bool(model.trainable_weights)
    if request["save"]:
        model.save(request["save"])
    if request["graph"]:
        try:
            said["graph"] = convert_to_graph(source, model, runnable, **request["graph"], quantize=request["quantize"])
        except CannotConvert as error:
            said["refused"] = {"graph": str(error)}
    if request["reference"]:
        said["reference"] = _reference(runnable, request, said)
    said["inputs"] = [{"name": one.name, "shape": one.shape, "dtype": one.dtype} for one in runnable.inputs]
    said["outputs"] = runnable.outputs
    counted = [weight for weight in runnable.weights if "seed_generator" not in str(getattr(weight, "path", ""))]
    said["weights"] = len(counted)
    return said


def _reference(runnable: Runnable, request: dict[str, Any], said: dict[str, Any]) -> Any:
    from tensorledger.predictions.reference import Predict, with_quantized_weights, write_reference

    smaller: dict[str, Predict] = {}
    if request["quantize"]:
        smaller["layers"] = with_quantized_weights(runnable, request["quantize"])
        if said.get("graph"):
            smaller["graph"] = _of_converted(runnable, said["graph"], Path(request["graph"]["destination"]))
    own = Path(request["reference"]["inputs"]) if request["reference"]["inputs"] else None
    return write_reference(runnable, Path(request["reference"]["folder"]), own, smaller)


def _of_converted(runnable: Runnable, named: dict[str, Any], folder: Path) -> Any:
    """Return what predicts as a converted graph does, with the inputs and outputs of the model that it is of."""
    from tensorledger.predictions.graphdef import of_graph

    graph = of_graph(read_tfjs(folder))
    inputs = [named["inputs"].index(one.name) for one in graph.inputs]
    outputs = [graph.outputs.index(name) for name in named["keys"]]

    def predict(arrays: list[Array]) -> list[Array]:
        predictions = graph.predict([arrays[number] for number in inputs])
        return [predictions[number] for number in outputs]

    return predict


def convert_to_graph(
    source: Given, model: Any, runnable: Runnable, destination: str, shard: int = SHARD, quantize: str = ""
) -> dict[str, Any]:
    """Write the graph model; return the names of its nodes for the model's inputs and outputs, in their order.

    ``model`` is the Keras model, where there is one. Raises CannotConvert.
    """
    from tensorledger.conversion.graph import convert_graph, tensor_names, write_graph

    with tempfile.TemporaryDirectory() as folder:
        if source.kind == "tfjs-graph":
            write_graph(read_tfjs(source.path), Path(destination), shard=shard, quantize=quantize)
        else:
            saved = source.path
            if model is not None:
                _refuse(model)
                saved = Path(folder) / "saved"
                _export(model, saved)
            convert_graph(saved, Path(destination), shard=shard, quantize=quantize)
    written = read_tfjs(Path(destination))
    inputs, outputs = tensor_names(written, "inputs"), tensor_names(written, "outputs")
    if source.kind == "tfjs-graph" and not outputs:
        return {"inputs": [one.name for one in runnable.inputs], "outputs": list(runnable.outputs),
                "keys": list(runnable.outputs)}  # fmt: skip
    keys = _ordered(list(outputs), runnable)
    return {
        "inputs": [_named(one.name, inputs) for one in runnable.inputs],
        "outputs": [outputs[key] for key in keys],
        "keys": keys,
        "loops": any(node["op"] in ("While", "StatelessWhile") for node in written.topology["node"]),
    }


def _refuse(model: Any) -> None:
    """Raise CannotConvert where TensorFlow.js would be wrong with the graph of one of a model's layers."""
    keras_3 = not type(model).__module__.startswith("tf_keras")
    described = ({"class_name": type(layer).__name__, "config": _config(layer)} for layer in _all_layers(model))
    refused = list(graph_refusals(described, keras_3))
    if refused:
        raise CannotConvert("it cannot be a graph model:\n" + "\n".join(refused))


def _config(layer: Any) -> dict[str, Any]:
    try:
        return {**layer.get_config(), "name": layer.name}
    except Exception:  # a layer of one's own need not describe itself
        return {"name": layer.name}


def _named(name: str, inputs: dict[str, str]) -> str:
    """Return the node of an input. TensorFlow writes names in its own letters."""
    for key, node in inputs.items():
        if name in (key, node) or name.replace("/", "_").replace(".", "_") in (key, node):
            return node
    if len(inputs) == 1:
        return next(iter(inputs.values()))
    raise CannotConvert(f"the graph model has no input {name!r}; it has {', '.join(inputs)}: name the inputs apart")


def _ordered(keys: list[str], runnable: Runnable) -> list[str]:
    """Return the names of a graph's outputs in the order of the model's own."""
    if set(keys) == set(runnable.outputs):
        return list(runnable.outputs)
    numbered = [f"output_{number}" for number in range(len(keys))]
    if len(keys) == len(runnable.outputs) and (set(keys) == set(numbered) or len(keys) == 1):
        return numbered if len(keys) > 1 else keys
    # Outputs of the same shape are called after their nodes, which are numbered in the order of the names.
    nodes = {"Identity" if number == 0 else f"Identity_{number}": key for number, key in enumerate(sorted(numbered))}
    if len(keys) == len(runnable.outputs) and {nodes.get(key, key) for key in keys} == set(numbered):
        named = {nodes.get(key, key): key for key in keys}
        return [named[key] for key in numbered]
    raise CannotConvert(f"the graph model has the outputs {', '.join(keys)}, and not {', '.join(runnable.outputs)}")


STEPS = 256
"""Of a sequence, up to which recurrent layers are written step by step."""


def _export(model: Any, folder: Path) -> None:
    """Save what a model serves.

    Recurrent layers are unrolled where the length of their sequences is known: TensorFlow.js 4.22 runs their loops only
    asynchronously, and in half of the models of our own suite it disposes a tensor that the loop still needs.
    """
    recurrent = [layer for layer in _all_layers(model) if getattr(layer, "unroll", None) is False]
    lengths = {length for layer in recurrent for length in _lengths(layer, model)}
    known = all(length is not None and length <= STEPS for length in lengths)
    try:
        with _unrolled(recurrent if known else []), _predicting(model):
            if type(model).__module__.startswith("tf_keras"):
                model.export(str(folder))
            else:
                model.export(str(folder), format="tf_saved_model", verbose=False)
    except Exception as error:
        raise CannotConvert(f"it cannot be exported as a graph: {type(error).__name__}: {error}") from error


def _lengths(layer: Any, model: Any) -> list[int | None]:
    """Return how long the sequences are that a recurrent layer is given; in a wrapper, as the model's inputs say."""
    try:
        given = layer.input
    except (AttributeError, ValueError):
        return [one.shape[1] for one in model.inputs if len(one.shape) > 1]
    return [(given[0] if isinstance(given, list | tuple) else given).shape[1]]


@contextlib.contextmanager
def _unrolled(layers: list[Any]) -> Iterator[None]:
    own = [vars(layer).get("_could_use_gpu_kernel") for layer in layers]
    for layer in layers:
        layer.unroll = True
        if hasattr(layer, "_could_use_gpu_kernel"):
            layer._could_use_gpu_kernel = False  # tf_keras's other way to compute it, which is a loop too
    try:
        yield
    finally:
        for layer, kernel in zip(layers, own, strict=True):
            layer.unroll = False
            if kernel is not None:
                layer._could_use_gpu_kernel = kernel


@contextlib.contextmanager
def _predicting(model: Any) -> Iterator[None]:
    """Call a model as for predictions, and let layers of Keras 3 for augmentation draw nothing, which is not used then.

    Export leaves it open how it is called, and those layers, by themselves, are in training. What they draw, they write
    the next seed of to a variable, and a graph that does so cannot be converted.
    """
    drawing = [layer for layer in _all_layers(model) if "get_random_transformation" in dir(layer)]
    drawing = [layer for layer in drawing if type(layer).__module__.startswith("keras.")]
    called = model.__call__
    try:
        if "training" in inspect.signature(model.call).parameters:
            model.__call__ = lambda *given, **named: called(*given, **{**named, "training": False})
        for layer in drawing:
            layer.get_random_transformation = _without_drawing(layer.get_random_transformation)
        yield
    finally:
        vars(model).pop("__call__", None)
        for layer in drawing:
            vars(layer).pop("get_random_transformation", None)


def _without_drawing(own: Any) -> Any:
    def drawn(data: Any, training: bool = True, seed: Any = None) -> Any:
        return own(data, training=training, seed=seed) if training else None

    return drawn


def _all_layers(layer: Any) -> Iterator[Any]:
    """Yield the layers inside a model or a wrapper."""
    inside = [*getattr(layer, "layers", ())]
    inside += [getattr(layer, name) for name in ("layer", "forward_layer", "backward_layer") if hasattr(layer, name)]
    for one in inside:
        yield one
        yield from _all_layers(one)


def main(request: Path, said: Path) -> None:
    """Answer one request."""
    try:
        # What TensorFlow, Keras and a user's own code print is no answer.
        with contextlib.redirect_stdout(sys.stderr):
            found = answer(json.loads(request.read_text(encoding="utf-8")))
    except CannotConvert as error:
        found = {"cannot": str(error)}
    said.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

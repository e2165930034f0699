"""A model that can be asked for predictions, whatever it came as: of Keras, a SavedModel, a graph of TensorFlow.js."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tensorledger.conversion.refusal import CannotConvert
from tensorledger.predictions.input import Array, Input


@dataclass(frozen=True)
class Runnable:
    """Predictions of a model, and the weights that they follow from."""

    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    weights: tuple[Any, ...]
    """Variables with ``numpy()`` and ``assign()``."""
    call: Callable[[Sequence[Any]], list[Any]]
    """From one tensor for each input to one for each output."""

    def predict(self, inputs: Sequence[Array]) -> list[Array]:
        """Return the predictions for one array for each input."""
        tensors = [tf.constant(array, one.dtype) for array, one in zip(inputs, self.inputs, strict=True)]
        return [np.asarray(output) for output in self.call(tensors)]


def of_keras(model: Any) -> Runnable:
    """Return a model of either Keras as one that can be asked. Raises CannotConvert where its inputs are not known."""
    if not getattr(model, "inputs", None):
        raise CannotConvert(
            f"the model {model.name!r} does not say what it takes: build it, or make it Sequential or functional"
        )
    indices, padding = _indices(model), _padding(model)
    inputs = tuple(
        Input(one.name.partition(":")[0], tuple(one.shape), tf.as_dtype(one.dtype).name, indices.get(id(one)), padding)
        for one in model.inputs
    )
    flat = importlib.import_module(type(model).__module__.partition(".")[0])
    flatten = flat.tree.flatten if hasattr(flat, "tree") else tf.nest.flatten
    traced = tf.function(lambda tensors: model(arguments(model, tensors), training=False))

    def call(tensors: Sequence[Any]) -> list[Any]:
        return list(flatten(traced(list(tensors))))

    names = tuple(getattr(model, "output_names", None) or ())
    count = len(model.outputs)
    outputs = names if len(set(names)) == count else tuple(f"output_{number}" for number in range(count))
    return Runnable(inputs, outputs, tuple(model.weights), call)


def arguments(model: Any, tensors: Sequence[Any]) -> Any:
    """Return what a Keras model is called with: one tensor by itself, several by name where it takes them so."""
    if len(tensors) == 1 and len(model.inputs) == 1:
        return tensors[0]
    places = {id(one): number for number, one in enumerate(model.inputs)}

    def packed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: packed(inner) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [packed(inner) for inner in value]
        return tensors[places[id(value)]]

    named = getattr(model, "input", None)
    return packed(named) if isinstance(named, dict) else list(tensors)


def _indices(model: Any) -> dict[int, int]:
    """Return, by the identity of an input, how many entries the embeddings have that it leads into."""
    sizes = [layer.input_dim for layer in _layers(model) if type(layer).__name__ == "Embedding"]
    if not sizes:
        return {}
    found: dict[int, int] = {}
    for layer in getattr(model, "layers", ()):
        if type(layer).__name__ == "Embedding":
            own = tf.nest.flatten(layer.input)[0]
            found.update({id(one): layer.input_dim for one in model.inputs if one is own})
    # Where an embedding is deeper inside, or behind a layer that changes nothing, any input may be the one.
    return found or {id(one): min(sizes) for one in model.inputs}


def _padding(model: Any) -> float | None:
    """Return the number that a model's mask leaves out of its inputs; none where it has no mask."""
    for layer in _layers(model):
        if type(layer).__name__ == "Masking":
            return float(layer.mask_value)
        if type(layer).__name__ == "Embedding" and layer.mask_zero:
            return 0.0
    return None


def _layers(model: Any) -> list[Any]:
    return [inner for layer in getattr(model, "layers", ()) for inner in (layer, *_layers(layer))]


def of_saved_model(folder: Path) -> Runnable:
    """Return what a SavedModel serves. Raises CannotConvert where it serves nothing by default."""
    try:
        loaded = tf.saved_model.load(str(folder))
    except (OSError, ValueError, AttributeError, tf.errors.OpError) as error:
        raise CannotConvert(f"{folder} is no SavedModel that TensorFlow {tf.__version__} loads: {error}") from error
    signatures = dict(loaded.signatures)
    if "serving_default" not in signatures:
        raise CannotConvert(f"{folder} serves nothing by default; it has: {', '.join(signatures) or 'no signature'}")
    serve = signatures["serving_default"]
    _, specified = serve.structured_input_signature
    inputs = tuple(
        Input(name, tuple(one.shape) if one.shape.rank is not None else (None,), one.dtype.name)
        for name, one in specified.items()
    )
    outputs = tuple(sorted(serve.structured_outputs))

    def call(tensors: Sequence[Any]) -> list[Any]:
        said = serve(**{one.name: tensor for one, tensor in zip(inputs, tensors, strict=True)})
        return [said[name] for name in outputs]

    weights = tuple(getattr(loaded, "variables", None) or serve.variables)
    runnable = Runnable(inputs, outputs, weights, call)
    # The loaded object goes with what was loaded.
    object.__setattr__(runnable, "_loaded", loaded)
    return runnable

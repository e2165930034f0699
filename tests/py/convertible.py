"""Models to convert, for whichever Keras is handed in: at least one for each layer that TensorFlow.js has, too.

``python convertible.py DESTINATION`` (imports TensorFlow) saves each, with random weights, as
``<keras>/<name>/model.keras`` and ``model.h5``, beside ``reference.json``: inputs, and what that Keras predicts.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

KERASES = {"keras": "keras", "tf-keras": "tf_keras"}
Make = Callable[[Any], Any]
WHOLE = ("embedding",)
"""Models whose inputs are whole numbers."""

ACTIVATIONS = ("elu", "selu", "relu6", "softplus", "softsign", "tanh", "sigmoid", "linear", "gelu")


def _row(*layers: Callable[[Any], Any], shape: tuple[int, ...] = (6,)) -> Make:
    return lambda k: k.Sequential([k.Input(shape), *(layer(k.layers) for layer in layers)])


def _image(*layers: Callable[[Any], Any], shape: tuple[int, ...] = (8, 8, 3)) -> Make:
    return _row(*layers, lambda of: of.Flatten(), lambda of: of.Dense(2), shape=shape)


def _steps(*layers: Callable[[Any], Any]) -> Make:
    return _row(*layers, shape=(5, 4))


def _activated(name: str) -> Callable[[Any], Any]:
    return lambda of: of.Dense(5, name)


def _merged(make: Callable[[Any], Any]) -> Make:
    def model(k: Any) -> Any:
        one, other = k.Input((6,), name="one"), k.Input((6,), name="other")
        return k.Model([one, other], make(k.layers)([k.layers.Dense(6)(one), other]))

    return model


def _shared(k: Any) -> Any:
    one, other = k.Input((6,), name="one"), k.Input((6,), name="other")
    twice = k.layers.Dense(6, "relu", name="twice")
    both = k.layers.Add()([twice(one), twice(other)])
    first = k.layers.Dense(2, name="first")(k.layers.Concatenate()([both, one]))
    return k.Model([one, other], [first, k.layers.Dense(1, name="second")(both)])


def _inner(k: Any, name: str) -> Any:
    hidden = k.layers.Dense(6, "relu", name=f"{name}_hidden")
    return k.Sequential([k.Input((6,)), hidden, k.layers.BatchNormalization(name=f"{name}_norm")], name=name)


def _nested(k: Any) -> Any:
    one, other, inner = k.Input((6,), name="one"), k.Input((6,), name="other"), _inner(k, "inner")
    return k.Model([one, other], k.layers.Dense(2)(k.layers.Concatenate()([inner(one), inner(other)])))


def _nested_output(k: Any) -> Any:
    x = k.Input((6,))
    return k.Model(x, _inner(k, "last")(x))


def _nested_functional(k: Any) -> Any:
    x, inside = k.Input((6,)), k.Input((6,))
    hidden = k.layers.Dense(6, "relu", name="inside_hidden")(inside)
    inner = k.Model(inside, k.layers.Dense(6, name="inside_output")(hidden), name="inside")
    return k.Model(x, [inner(inner(x)), k.layers.Dense(2)(inner(x))])


def _nested_deep(k: Any) -> Any:
    x = k.Input((6,))
    middle = k.Model(x, k.layers.Dense(4, name="middle_hidden")(_inner(k, "innermost")(x)), name="middle")
    return k.Sequential([k.Input((6,)), middle, k.layers.Dense(2, name="top")], name="outer")


def _frozen(k: Any) -> Any:
    inner = _inner(k, "frozen")
    inner.layers[0].trainable = False
    return k.Sequential([k.Input((6,)), inner, k.layers.Dense(2)])


def _leaky(k: Any) -> Any:
    slope = {"negative_slope" if k.__version__.startswith("3") else "alpha": 0.1}
    return k.Sequential([k.Input((6,)), k.layers.Dense(5), k.layers.LeakyReLU(**slope)])


def _early_names(k: Any) -> Any:
    orthogonal = k.initializers.Orthogonal
    if k.__version__.startswith("3"):
        # As the first releases of Keras 3 write it.
        orthogonal = type("OrthogonalInitializer", (orthogonal,), {})
    return k.Sequential([k.Input((5, 4)), k.layers.LSTM(3, recurrent_initializer=orthogonal())])


def _thresholded(k: Any) -> Any:
    hidden = [k.layers.Dense(5), k.layers.ThresholdedReLU(0.2)] if hasattr(k.layers, "ThresholdedReLU") else []
    return k.Sequential([k.Input((6,)), *hidden, k.layers.Dense(2)])


MODELS: dict[str, Make] = {
    "dense": _row(lambda of: of.Dense(5, "relu"), lambda of: of.Dense(3, "softmax")),
    "no-bias": _row(lambda of: of.Dense(5, use_bias=False)),
    "regularized": lambda k: k.Sequential(
        [
            k.Input((6,)),
            k.layers.Dense(5, kernel_regularizer=k.regularizers.L2(0.1), bias_regularizer=k.regularizers.L1(0.1)),
            k.layers.Dense(
                5, kernel_regularizer=k.regularizers.L1L2(0.1, 0.2), kernel_constraint=k.constraints.MaxNorm(9)
            ),
        ]
    ),
    "lecun": _row(
        lambda of: of.Dense(5, "selu", kernel_initializer="lecun_normal"),
        lambda of: of.Dense(5, kernel_initializer="lecun_uniform"),
    ),
    "silu": _row(lambda of: of.Dense(5, "swish"), lambda of: of.Activation("swish")),
    "activations": _row(*map(_activated, ACTIVATIONS)),
    "leaky-relu": _leaky,
    "thresholded-relu": _thresholded,
    "elu-prelu": _row(lambda of: of.Dense(5), lambda of: of.ELU(), lambda of: of.PReLU()),
    "relu-softmax": _row(lambda of: of.Dense(5), lambda of: of.ReLU(max_value=6.0), lambda of: of.Softmax()),
    "dropout": _row(
        lambda of: of.Dropout(0.2),
        lambda of: of.AlphaDropout(0.1),
        lambda of: of.GaussianDropout(0.1),
        lambda of: of.GaussianNoise(0.1),
        lambda of: of.Dense(3),
    ),
    "batch-normalization": _row(lambda of: of.Dense(5), lambda of: of.BatchNormalization(), lambda of: of.Dense(2)),
    "batch-normalization-bare": _row(
        lambda of: of.BatchNormalization(center=False, scale=False), lambda of: of.Dense(2)
    ),
    "layer-normalization": _row(lambda of: of.Dense(5), lambda of: of.LayerNormalization(), lambda of: of.Dense(2)),
    "embedding": _row(
        lambda of: of.Embedding(10, 4), lambda of: of.GlobalAveragePooling1D(), lambda of: of.Dense(2), shape=(5,)
    ),
    "conv1d": _steps(
        lambda of: of.Conv1D(3, 2, padding="same"),
        lambda of: of.MaxPooling1D(),
        lambda of: of.Conv1D(3, 2),
        lambda of: of.GlobalMaxPooling1D(),
    ),
    "average-pooling-1d": _steps(lambda of: of.SpatialDropout1D(0.1), lambda of: of.AveragePooling1D(2)),
    "conv2d": _image(
        lambda of: of.Conv2D(4, 3, strides=2),
        lambda of: of.BatchNormalization(),
        lambda of: of.ReLU(),
        lambda of: of.MaxPooling2D(),
    ),
    "conv2d-dilated": _image(lambda of: of.Conv2D(4, 2, dilation_rate=2), lambda of: of.AveragePooling2D(2)),
    "separable": _image(lambda of: of.SeparableConv2D(4, 2, padding="same", depth_multiplier=2)),
    "depthwise": _image(lambda of: of.DepthwiseConv2D(2, depth_multiplier=2)),
    "transposed": _image(lambda of: of.Conv2DTranspose(3, 2, strides=2)),
    "conv3d": _image(lambda of: of.Conv3D(3, 2), lambda of: of.MaxPooling3D(), shape=(5, 5, 5, 2)),
    "average-pooling-3d": _image(lambda of: of.AveragePooling3D(2), shape=(4, 4, 4, 2)),
    "transposed-3d": _image(lambda of: of.Conv3DTranspose(2, 2), shape=(3, 3, 3, 2)),
    "resizing": _image(lambda of: of.UpSampling2D(), lambda of: of.ZeroPadding2D(1), lambda of: of.Cropping2D(2)),
    "global-pooling-2d": _row(lambda of: of.GlobalAveragePooling2D(), lambda of: of.Dense(2), shape=(6, 6, 3)),
    "global-max-pooling-2d": _row(lambda of: of.GlobalMaxPooling2D(), lambda of: of.Dense(2), shape=(6, 6, 3)),
    "shapes": _row(
        lambda of: of.Reshape((3, 2)),
        lambda of: of.Permute((2, 1)),
        lambda of: of.Flatten(),
        lambda of: of.RepeatVector(3),
    ),
    "masking": _steps(lambda of: of.Masking(0.0), lambda of: of.LSTM(3)),
    "simple-rnn": _steps(lambda of: of.SimpleRNN(4, return_sequences=True), lambda of: of.SimpleRNN(3)),
    "lstm": _steps(lambda of: of.LSTM(4, return_sequences=True), lambda of: of.LSTM(3, go_backwards=True)),
    "early-names": _early_names,
    "gru": _steps(lambda of: of.GRU(4, reset_after=False)),
    "bidirectional": _steps(
        lambda of: of.Bidirectional(of.LSTM(3, return_sequences=True)),
        lambda of: of.Bidirectional(of.SimpleRNN(2), merge_mode="sum"),
    ),
    "bidirectional-gru": _steps(lambda of: of.Bidirectional(of.GRU(3, reset_after=False), name="both")),
    "time-distributed": _steps(lambda of: of.TimeDistributed(of.Dense(3)), lambda of: of.LSTM(2)),
    "conv-lstm": _row(
        lambda of: of.ConvLSTM2D(2, 2), lambda of: of.Flatten(), lambda of: of.Dense(2), shape=(3, 5, 5, 2)
    ),
    "rnn-of-cell": _steps(lambda of: of.RNN(of.LSTMCell(3))),
    "rnn-of-cells": _steps(lambda of: of.RNN([of.LSTMCell(3), of.SimpleRNNCell(2), of.LSTMCell(2)])),
    "rnn-of-gru": _steps(lambda of: of.RNN(of.GRUCell(3, reset_after=False))),
    "add": _merged(lambda of: of.Add()),
    "average": _merged(lambda of: of.Average()),
    "concatenate": _merged(lambda of: of.Concatenate(axis=1)),
    "dot": _merged(lambda of: of.Dot(axes=1)),
    "maximum": _merged(lambda of: of.Maximum()),
    "minimum": _merged(lambda of: of.Minimum()),
    "multiply": _merged(lambda of: of.Multiply()),
    "rescaling": _image(lambda of: of.Rescaling(0.1, offset=1.0)),
    "shared": _shared,
    "nested": _nested,
    "nested-output": _nested_output,
    "nested-functional": _nested_functional,
    "nested-deep": _nested_deep,
    "frozen": _frozen,
}


def save(destination: Path) -> None:
    """Make and save all of them."""
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
    for source, module in KERASES.items():
        keras: Any = importlib.import_module(module)
        for name, make in MODELS.items():
            random = np.random.default_rng(len(name))
            try:
                model = make(keras)
            except (AttributeError, ValueError, TypeError) as error:
                print(f"{source}/{name}: {type(error).__name__}: {error}")
                continue
            model.set_weights([drawn(random, weight) for weight in model.get_weights()])
            inputs = [_inputs(random, name, one.shape) for one in model.inputs]
            outputs = model.predict(inputs if len(inputs) > 1 else inputs[0], verbose=0)
            outputs = outputs if isinstance(outputs, list | tuple) else [outputs]
            folder = destination / source / name
            folder.mkdir(parents=True)
            model.save(folder / "model.keras")
            model.save(folder / "model.h5")
            reference = {
                "inputs": [one.tolist() for one in inputs],
                "outputs": [np.asarray(one, np.float64).ravel().tolist() for one in outputs],
            }
            (folder / "reference.json").write_text(json.dumps(reference), encoding="utf-8")


def drawn(random: np.random.Generator, weight: Any) -> Any:
    """Return other values for a weight, of its shape."""
    if weight.dtype.kind != "f":
        return weight
    values = random.normal(size=weight.shape) * 0.4
    return (np.abs(values) + 0.1 if weight.ndim == 1 else values).astype(weight.dtype)  # a variance is not negative


def _inputs(random: np.random.Generator, name: str, shape: Any) -> Any:
    sizes = (3, *shape[1:])
    drawn = random.integers(0, 10, sizes) if name in WHOLE else random.normal(size=sizes)
    return drawn.astype(np.float32)


if __name__ == "__main__":
    save(Path(sys.argv[1]))

"""The two models that the claims are about, and small ones that have what those have not, for whichever Keras is
handed in: Keras 3's ``keras`` or ``tf_keras``.

Building makes the model and nothing else: no prediction, no tensor beside the model's own, and nothing drawn from
a global random state, because every initializer and every Dropout has a seed of its own. Layers have fixed names,
so that a model is the same however many were made before it in the process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

KERASES = {"keras": "keras", "tf-keras": "tf_keras"}
"""Each source of a model, named like the target, with the module that is Keras there."""
EXTRACTOR_UNITS = (1024, 512, 256, 128, 64, 32)


def classifier(keras: Any) -> Any:
    """Return the model of the TensorFlow.js story, not compiled: [n, 784] to [n, 10], 4 weights, 203,530 parameters."""
    return keras.Sequential(
        [
            keras.Input((784,), name="input"),
            _dense(keras, 256, "relu", "hidden", seed=1, kernel_regularizer=keras.regularizers.L2(0.01)),
            _dense(keras, 10, "softmax", "output", seed=2),
        ],
        name="classifier",
    )


def extractor(keras: Any) -> Any:
    """Return the model of the Python story, not trainable: [n, 64] to [n, 1], 30 weights, 770,529 parameters.

    In Keras 3 each Dropout also has a seed state, so that there are 36 variables.
    """
    layers = [keras.Input((64,), name="input")]
    for number, units in enumerate(EXTRACTOR_UNITS, start=1):
        layers += [
            _dense(keras, units, "relu", f"hidden_{number}", seed=number),
            keras.layers.Dropout(0.2, seed=number, name=f"dropout_{number}"),
            keras.layers.LayerNormalization(name=f"normalization_{number}"),
        ]
    last = len(EXTRACTOR_UNITS) + 1
    layers += [
        _dense(keras, 16, "relu", f"hidden_{last}", seed=last),
        keras.layers.LayerNormalization(name=f"normalization_{last}"),
        _dense(keras, 1, "sigmoid", "output", seed=last + 1),
    ]
    model = keras.Sequential(layers, name="extractor")
    for layer in model.layers:
        layer.trainable = False
    return model


def shared(keras: Any) -> Any:
    """Return a model with one Dense layer that is called twice: [n, 784] to [n, 10], 6 weights, 8,070 parameters."""
    inputs = keras.Input((784,), name="input")
    twice = _dense(keras, 10, "relu", "twice", seed=2)
    outputs = twice(twice(_dense(keras, 10, "linear", "first", seed=1)(inputs)))
    return keras.Model(inputs, _dense(keras, 10, "softmax", "output", seed=3)(outputs), name="shared")


def nested(keras: Any) -> Any:
    """Return a model whose first layer is a model: [n, 784] to [n, 10], 4 weights, 7,960 parameters."""
    inner = keras.Sequential([keras.Input((784,), name="inner_input"), _dense(keras, 10, "relu", "hidden", seed=1)])
    return keras.Sequential(
        [keras.Input((784,), name="input"), inner, _dense(keras, 10, "softmax", "output", seed=2)], name="nested"
    )


def recurrent(keras: Any) -> Any:
    """Return a stateful LSTM: [8, 28, 28] to [8, 10], 5 weights, 578 parameters, and two states that are variables."""
    lstm = keras.layers.LSTM(
        4,
        stateful=True,
        kernel_initializer=keras.initializers.GlorotUniform(seed=1),
        recurrent_initializer=keras.initializers.GlorotUniform(seed=2),
        name="lstm",
    )
    inputs = keras.Input(batch_shape=(8, 28, 28), name="input")
    return keras.Model(inputs, _dense(keras, 10, "softmax", "output", seed=3)(lstm(inputs)), name="recurrent")


def convolutional(keras: Any) -> Any:
    """Return a small convolutional network: [n, 28, 28, 1] to [n, 10], 4 weights, 6,810 parameters."""
    initializer = keras.initializers.GlorotUniform(seed=1)
    convolution = keras.layers.Conv2D(
        4, 3, strides=2, activation="relu", kernel_initializer=initializer, name="convolution"
    )
    return keras.Sequential(
        [
            keras.Input((28, 28, 1), name="input"),
            convolution,
            keras.layers.Flatten(name="flatten"),
            _dense(keras, 10, "softmax", "output", seed=2),
        ],
        name="convolutional",
    )


MODELS: dict[str, Callable[[Any], Any]] = {"classifier": classifier, "extractor": extractor}
"""Those that are saved and converted too, so that they can be loaded."""
ZOO: dict[str, Callable[[Any], Any]] = {
    **MODELS,
    "shared": shared,
    "nested": nested,
    "recurrent": recurrent,
    "convolutional": convolutional,
}
"""All of them."""


def _dense(keras: Any, units: int, activation: str, name: str, seed: int, **more: Any) -> Any:
    initializer = keras.initializers.GlorotUniform(seed=seed)
    return keras.layers.Dense(units, activation=activation, kernel_initializer=initializer, name=name, **more)

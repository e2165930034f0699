"""The two models that the claims are about, for whichever Keras is handed in: Keras 3's ``keras`` or ``tf_keras``.

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


MODELS: dict[str, Callable[[Any], Any]] = {"classifier": classifier, "extractor": extractor}


def _dense(keras: Any, units: int, activation: str, name: str, seed: int, **more: Any) -> Any:
    initializer = keras.initializers.GlorotUniform(seed=seed)
    return keras.layers.Dense(units, activation=activation, kernel_initializer=initializer, name=name, **more)

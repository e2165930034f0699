"""Compiled models, saved, and what three steps of training make of them: ``python trainable.py DESTINATION``.

Imports TensorFlow. ``<keras>/<optimizer>-<loss>/`` holds ``model.keras``, ``model.h5`` and ``reference.json``: rows,
labels, weights after the steps, and what the last one returned.
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
from convertible import KERASES

STEPS = 3
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "sgd": lambda of: of.SGD(0.1),
    "rmsprop": lambda of: of.RMSprop(0.01, rho=0.8),
    "momentum": lambda of: of.RMSprop(0.01, momentum=0.5),
    "adam": lambda of: of.Adam(0.01),
    "adagrad": lambda of: of.Adagrad(0.1),
    "adamax": lambda of: of.Adamax(0.01),
}
LEFT_OUT: dict[str, Callable[[Any], Any]] = {
    "adadelta": lambda of: of.Adadelta(0.5),
    "centered": lambda of: of.RMSprop(0.01, centered=True),
    "sgd-momentum": lambda of: of.SGD(0.1, momentum=0.9),
    "clipped": lambda of: of.Adam(0.01, clipnorm=1.0),
    "nadam": lambda of: of.Nadam(0.01),
}
LOSSES = {
    "mse": ("mse", ["mae"], 2),
    "binary": ("binary_crossentropy", ["accuracy"], 2),
    "one": ("binary_crossentropy", ["accuracy"], 1),
    "categorical": ("categorical_crossentropy", ["accuracy"], 3),
}
"""Each with a metric, and how many numbers a prediction has."""


def save(destination: Path) -> None:
    """Make, save and train all of them."""
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
    for source, module in KERASES.items():
        keras: Any = importlib.import_module(module)
        for name, optimizer in {**OPTIMIZERS, **LEFT_OUT}.items():
            for of, (loss, metrics, units) in LOSSES.items():
                folder = destination / source / f"{name}-{of}"
                folder.mkdir(parents=True)
                _save(keras, optimizer(keras.optimizers), loss, metrics, units, folder)


def _save(keras: Any, optimizer: Any, loss: str, metrics: list[str], units: int, folder: Path) -> None:
    random = np.random.default_rng(units)
    last = keras.layers.Dense(units, "softmax" if loss.startswith("cat") else "sigmoid")
    model = keras.Sequential([keras.Input((4,)), last])
    model.set_weights([(random.normal(size=weight.shape) * 0.5).astype("float32") for weight in model.get_weights()])
    model.compile(optimizer, loss, metrics=metrics)
    model.save(folder / "model.keras")
    model.save(folder / "model.h5")
    x = random.normal(size=(8, 4)).astype("float32")
    y = np.eye(units, dtype="float32")[random.integers(0, units, 8)] if units > 1 else random.integers(0, 2, (8, 1))
    for _ in range(STEPS):
        said = model.train_on_batch(x, y.astype("float32"))
    reference = {
        "x": x.tolist(),
        "y": y.tolist(),
        "weights": [weight.ravel().tolist() for weight in model.get_weights()],
        "said": [float(one) for one in said],
    }
    (folder / "reference.json").write_text(json.dumps(reference), encoding="utf-8")


if __name__ == "__main__":
    save(Path(sys.argv[1]))

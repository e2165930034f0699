"""What TensorFlow itself keeps something of for good: training in graph mode."""

from __future__ import annotations

import keras
import numpy as np
import pytest


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "rmsprop"])
def test_fit(optimizer: str) -> None:
    model = keras.Sequential([keras.Input((784,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(10)])
    model.compile(optimizer, "mse")
    history = model.fit(np.ones([64, 784], "float32"), np.zeros([64, 10], "float32"), epochs=3, verbose=0)
    assert len(history.history["loss"]) == 3

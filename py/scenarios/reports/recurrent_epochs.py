"""tensorflow/tensorflow#46633: a model with an LSTM that is there already is trained batch by batch."""

import numpy as np

MODEL = {}


def prepare(context):
    """Make the model, and train it once."""
    layers = context.keras.layers
    model = context.keras.Sequential([layers.Input([6, 1]), layers.LSTM(2), layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    MODEL["it"], MODEL["x"], MODEL["y"] = model, np.ones([4, 6, 1], "float32"), np.ones([4, 1], "float32")
    model.train_on_batch(MODEL["x"], MODEL["y"])


def scenario(context):
    for _ in range(3):
        MODEL["it"].train_on_batch(MODEL["x"], MODEL["y"])
    yield "trained"

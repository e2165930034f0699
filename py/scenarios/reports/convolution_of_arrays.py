"""tensorflow/tensorflow#46661: a traced convolutional model, asked with NumPy arrays, again and again."""

import numpy as np

TRACED = {}


def prepare(context):
    """Make the model, trace it, and ask it once."""
    layers = context.keras.layers
    model = context.keras.Sequential(
        [layers.Input([32, 32, 3]), layers.Conv2D(8, 3, activation="relu"), layers.Conv2D(8, 3)]
    )
    TRACED["model"] = model
    TRACED["ask"] = context.tf.function(lambda image: model(image, training=False))
    TRACED["ask"](context.tf.constant(np.zeros([1, 32, 32, 3], "float32")))


def scenario(context):
    for number in range(5):
        image = np.full([1, 32, 32, 3], number, "float32")
        TRACED["ask"](context.tf.constant(image))
    yield "asked"

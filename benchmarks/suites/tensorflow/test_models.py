"""A suite as people have it beside their TensorFlow code: layers, gradients, traced functions, pipelines, models."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf


@pytest.fixture(scope="module")
def classifier() -> keras.Model:
    return keras.Sequential([keras.Input((784,)), keras.layers.Dense(128, "relu"), keras.layers.Dense(10, "softmax")])


@pytest.fixture
def images() -> tf.Tensor:
    return tf.random.normal([8, 784])


def convolutional() -> keras.Model:
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(8, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )


@pytest.mark.parametrize("batch", [1, 8, 32])
def test_a_prediction_has_the_shape_of_its_batch(classifier: keras.Model, batch: int) -> None:
    for _ in range(20):
        assert classifier(tf.ones([batch, 784])).shape == (batch, 10)


@pytest.mark.parametrize("units", [1, 16, 64])
def test_a_layer_has_its_weights(units: int) -> None:
    layer = keras.layers.Dense(units)
    layer(tf.ones([2, 8]))
    assert layer.count_params() == 9 * units


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_dropout_is_off_in_predictions(rate: float) -> None:
    layer = keras.layers.Dropout(rate)
    x = tf.ones([4, 4])
    np.testing.assert_array_equal(layer(x, training=False), x)


def test_gradients_lessen_the_loss(images: tf.Tensor) -> None:
    model = keras.Sequential([keras.Input((784,)), keras.layers.Dense(10)])
    optimizer = keras.optimizers.SGD(0.001)
    losses = []
    for _ in range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(images)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        losses.append(float(loss))
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("length", [10, 100])
def test_a_traced_loop(length: int) -> None:
    @tf.function
    def total(x: tf.Tensor) -> tf.Tensor:
        result = tf.constant(0.0)
        for number in x:
            result += number
        return result

    assert float(total(tf.ones([length]))) == length


def test_a_pipeline() -> None:
    data = tf.data.Dataset.range(200).map(lambda x: x * 2).batch(32).prefetch(2)
    assert sum(int(tf.reduce_sum(batch)) for batch in data) == 200 * 199


def test_a_convolutional_model_predicts() -> None:
    model = convolutional()
    for _ in range(5):
        assert model(tf.ones([4, 28, 28, 1])).shape == (4, 10)


def test_a_model_is_saved_and_loaded(tmp_path) -> None:  # type: ignore[no-untyped-def]
    model = convolutional()
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    x = tf.random.normal([2, 28, 28, 1])
    np.testing.assert_allclose(model(x), loaded(x), rtol=1e-5)


def test_predict_in_batches(classifier: keras.Model) -> None:
    assert classifier.predict(np.ones([64, 784], "float32"), batch_size=16, verbose=0).shape == (64, 10)


@pytest.mark.parametrize("size", [10, 100, 1000])
def test_eager_arithmetic(size: int) -> None:
    x = tf.range(size, dtype=tf.float32)
    for _ in range(200):
        x = tf.sqrt(x * x + 1.0)
    assert x.shape == (size,)


def test_a_metric() -> None:
    metric = keras.metrics.Mean()
    for number in range(50):
        metric.update_state(float(number))
    assert float(metric.result()) == 24.5

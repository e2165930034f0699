"""The scenario behind each row in Python: a model is made, used in one way, and released by the run's recipe.

``params``: ``model``, a name of the zoo or a file; ``usage``, one of USAGES; ``cycles``, after the warm-up. Two more
cycles follow: one in which the C library gives back what it can (``malloc_trim``), and one in which the bystander, a
model that was there before the baseline, is trained and called through its own traced function once more. Whether it
has all that it had is looked at when a cycle begins, since some recipes release only after the scenario has returned.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from tensorledger.data import samples
from tensorledger.models.zoo import ZOO
from tensorledger.runtime.context import Context

LOSSES = {"classifier": "categorical_crossentropy", "extractor": "binary_crossentropy"}
"""By model of the zoo; any other is trained with the mean squared error, unless its file says with what."""
UNSTATED = 4
"""What stands for a dimension of the inputs, beside the batch, that a model leaves open."""


class BystanderHarmed(Exception):
    """A model that nobody released has lost something."""


class Unusable(Exception):
    """A model cannot be used in this way; the message says why."""


class Traced:
    """The two functions that every model of a process is handed to, one traced with AutoGraph and one without."""

    def __init__(self, tf: Any) -> None:
        def infer(model: Any, inputs: Any) -> Any:
            return tf.stop_gradient(model(inputs, training=False))

        self.shared = tf.function(infer)
        self.unconverted = tf.function(tf.autograph.experimental.do_not_convert(infer))


def _eager(context: Context, model: Any, x: Any, _: Any) -> None:
    model(x, training=False)


def _shared_traced(context: Context, model: Any, x: Any, _: Any) -> None:
    RUN.traced.shared(model, x)


def _traced_per_model(context: Context, model: Any, x: Any, _: Any) -> None:
    def infer(inputs: Any) -> Any:
        return context.tf.stop_gradient(model(inputs, training=False))

    context.tf.function(infer)(x)


def _traced_do_not_convert(context: Context, model: Any, x: Any, _: Any) -> None:
    RUN.traced.unconverted(model, x)


def _predict(context: Context, model: Any, x: Any, _: Any) -> None:
    model.predict(x, batch_size=samples.ROWS, verbose=0)


def _predict_on_batch(context: Context, model: Any, x: Any, _: Any) -> None:
    model.predict_on_batch(x)


def _fit(context: Context, model: Any, x: Any, y: Any) -> None:
    """Train one batch. Layers that are frozen, as the extractor's are, would have nothing to train: all are thawed."""
    _thaw(model)
    if not model.trainable_weights:
        raise Unusable("it has no weights to train")
    if getattr(model, "optimizer", None) is None:
        loss = LOSSES.get(context.params["model"], "mean_squared_error")
        model.compile(optimizer="adam", loss=loss)
        # Else fit makes the slots while it traces the training step, and then traces all of it again without.
        model.optimizer.build(model.trainable_weights)
    model.fit(x, y, batch_size=samples.ROWS, epochs=1, verbose=0)


def _thaw(layer: Any) -> None:
    # One by one: that of a model as a whole does not reach those that were frozen one by one (Keras 3).
    for inner in getattr(layer, "layers", ()):
        _thaw(inner)
    layer.trainable = True


USAGES: dict[str, Callable[[Context, Any, Any, Any], None]] = {
    "eager": _eager,
    "shared-traced": _shared_traced,
    "traced-per-model": _traced_per_model,
    "traced-do-not-convert": _traced_do_not_convert,
    "predict": _predict,
    "predict-on-batch": _predict_on_batch,
    "fit": _fit,
}


class Bystander:
    """A small trained model with a traced function of its own, and what it was before the baseline."""

    def __init__(self, context: Context, traced: Traced) -> None:
        tf, keras = context.tf, context.keras
        self._tf = tf
        self._x = tf.constant(samples.inputs(4))
        self._y = tf.constant(samples.labels(1))
        self._traced = traced
        # silu has a gradient of its own, which tracing registers.
        hidden = keras.layers.Dense(3, activation="silu", kernel_initializer=keras.initializers.GlorotUniform(seed=1))
        self._model = keras.Sequential([keras.Input((4,)), hidden, keras.layers.Dense(1)], name="bystander")
        self._model.compile(optimizer="sgd", loss="mean_squared_error")
        self._model.fit(self._x, self._y, verbose=0)
        model = self._model
        self._own = tf.function(lambda inputs: model(inputs, training=False))
        self._weights = self._now()
        self._answers = self._called()

    def check(self) -> None:
        """Look whether it has every variable and predicts the same bits. Raises BystanderHarmed."""
        try:
            weights, answer = self._now(), self._model(self._x, training=False).numpy()
        except Exception as error:
            raise BystanderHarmed(f"it can predict no more: {type(error).__name__}: {error}") from error
        lost = sum(not np.array_equal(*pair) for pair in zip(weights, self._weights, strict=True))
        if lost:
            raise BystanderHarmed(f"{lost} of its {len(self._weights)} variables are not what they were")
        if not np.array_equal(answer, self._answers[0]):
            raise BystanderHarmed(f"it predicts otherwise, by up to {np.abs(answer - self._answers[0]).max():g}")

    def use(self) -> None:
        """Look whether it can still be called through its traced functions, differentiated and trained. Raises it."""
        try:
            answers = self._called()
            with self._tf.GradientTape() as tape:
                loss = self._tf.reduce_mean(self._own(self._x))
            gradients = tape.gradient(loss, self._model.trainable_weights)
            self._model.fit(self._x, self._y, verbose=0)
        except Exception as error:
            raise BystanderHarmed(f"it can be called or trained no more: {type(error).__name__}: {error}") from error
        if not all(np.array_equal(*pair) for pair in zip(answers, self._answers, strict=True)):
            raise BystanderHarmed("it answers otherwise through its traced functions")
        if not all(found is not None and np.isfinite(found.numpy()).all() for found in gradients):
            raise BystanderHarmed("its traced function has no gradient any more")
        if all(np.array_equal(*pair) for pair in zip(self._now(), self._weights, strict=True)):
            raise BystanderHarmed("training changes it no more")

    def _now(self) -> list[Any]:
        return [weight.numpy() for weight in self._model.weights]

    def _called(self) -> list[Any]:
        called = self._model(self._x, training=False), self._own(self._x), self._traced.shared(self._model, self._x)
        return [answer.numpy() for answer in called]


class Run:
    """What exists before the baseline, and how far the cycles have come."""

    def __init__(self, context: Context) -> None:
        self.traced = Traced(context.tf)
        self.cycle = -1
        model = make(context)
        self.x, self.y = _data(context.tf, model.inputs), _data(context.tf, model.outputs)
        self.bystander = Bystander(context, self.traced)


RUN: Run


def prepare(context: Context) -> None:
    """Make what is there before the baseline. Raises what making the model raises."""
    global RUN
    RUN = Run(context)


def scenario(context: Context) -> None:
    """Live through one cycle."""
    RUN.cycle += 1
    beyond = RUN.cycle - context.params["cycles"]
    if RUN.cycle:
        RUN.bystander.check()
    if beyond <= 0:
        USAGES[context.params["usage"]](context, make(context), RUN.x, RUN.y)
        context.release()
    elif beyond == 1:
        trim()
    else:
        RUN.bystander.use()


def make(context: Context) -> Any:
    """Make the model that ``params`` names: one of the zoo, or a file's."""
    name = context.params["model"]
    return context.models.make(name) if name in ZOO else context.models.load(name)


def trim() -> None:
    """Have the C library give the system what is free, where it is one that can."""
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _data(tf: Any, specified: Any) -> Any:
    """Return a batch of numbers for a model's inputs or outputs: one tensor, or a list where the model has several."""
    batches = []
    for one in specified:
        _, *shape = (UNSTATED if size is None else size for size in one.shape)
        numbers = samples.inputs(math.prod(shape)).reshape(samples.ROWS, *shape)
        batches.append(tf.cast(numbers, one.dtype))
    return batches[0] if len(batches) == 1 else batches

"""How far predictions may be apart by rounding alone, for a model of any kind: by moving its weights.

models/rounding.py derives such a bound for the project's own models, operation by operation; of a model that anyone
brings the operations are not known. By backward error analysis, evaluating in floating point is evaluating exactly
with weights and inputs that are slightly others. So:

1. Each rounding is off by at most U, evenly spread, which is U / sqrt(3) in the root mean square, and independent of
   the others (Higham and Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41(5),
   2019). A sum of n products, in index order, is then off as if each weight in it were off by sqrt(n / 2) of that: its
   k-th partial sum has the size of sqrt(k) products. What follows a sum, a function or a division, is granted FUNCTION
   units of U; as if each weight were off by that.
2. Every weight and every input is moved up or down at random by that, times a factor so large that what it changes
   stands out of the predictions' own rounding, and so small that they answer in proportion (STEP at most); DRAWS times.
3. The root mean square of what that changes of a prediction, without the factor, is how far one evaluation is off. Two
   are compared, so sqrt(2) times that; and by more than LAMBDA times this in one case of 2e10 (Hoeffding's inequality).

Whatever turns small changes into large ones (comparing, rounding, dividing by what is almost 0) answers strongly, and
its bound is wide there, as it should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorledger.models.rounding import FUNCTION, LAMBDA, U
from tensorledger.predictions.input import Array, Input
from tensorledger.predictions.runnable import Runnable

STEP = 2.0**-11
DRAWS = 8
SEED = 1


def bounds(model: Runnable, inputs: Sequence[Array], predictions: Sequence[Array]) -> list[npt.NDArray[np.float32]]:
    """Return, for each number of each output, the largest difference of two float32 evaluations that rounding explains.

    In all rows of an output it is the largest of them. The model's weights are moved and put back. ``predictions`` are
    those for ``inputs``.
    """
    random = np.random.default_rng(SEED)
    weights = [weight for weight in model.weights if _is_float(weight)]
    own = [np.asarray(weight.numpy()) for weight in weights]
    units = [FUNCTION + sqrt(_terms(weight) / 6) for weight in weights]
    factor = STEP / (U * max(units, default=FUNCTION))
    squares = [np.zeros(output.shape) for output in predictions]
    try:
        for _ in range(DRAWS):
            for weight, values, unit in zip(weights, own, units, strict=True):
                weight.assign(_moved(random, values, factor * U * unit))
            moved = model.predict(
                [_moved_input(random, array, one, factor) for array, one in zip(inputs, model.inputs, strict=True)]
            )
            for square, one, there in zip(squares, moved, predictions, strict=True):
                square += (one.astype(np.float64) - there) ** 2
    finally:
        for weight, values in zip(weights, own, strict=True):
            weight.assign(values)
    return [
        _bound(np.sqrt(square / DRAWS) / factor, output) for square, output in zip(squares, predictions, strict=True)
    ]


def _bound(off: npt.NDArray[np.float64], output: Array) -> npt.NDArray[np.float32]:
    """Return the bound for each number of an output, from how far one evaluation is off in the root mean square."""
    # What is left where large numbers cancel is off by what those are, which no weight that is moved shows.
    size = np.abs(output.astype(np.float64)).max(initial=0.0)
    if off.ndim and off.size:
        # A few draws say little of one number: those of all rows are alike, but for what a row makes larger.
        off = np.broadcast_to(off.max(axis=0, keepdims=True), off.shape)
    return np.asarray(LAMBDA * sqrt(2) * off + FUNCTION * U * size, np.float32)


def _is_float(weight: Any) -> bool:
    return "float" in str(weight.dtype)


def _moved(random: np.random.Generator, values: Array, step: float) -> Array:
    if values.dtype.kind != "f":
        return values
    return np.asarray(values * (1 + step * random.choice((-1.0, 1.0), values.shape)), values.dtype)


def _moved_input(random: np.random.Generator, values: Array, one: Input, factor: float) -> Array:
    """Move an input, but not what looks something up, nor what a mask leaves out: those are what they are."""
    if one.below is not None:
        return values
    moved = _moved(random, values, factor * U * FUNCTION)
    return moved if one.padding is None else np.where(values == one.padding, values, moved)


def _terms(weight: Any) -> int:
    """Return how many products a sum with a weight has: its size beside the outputs. An embedding is only looked up."""
    name = str(getattr(weight, "path", "") or weight.name)
    return 1 if "embedding" in name.rpartition("/")[2] else prod(tuple(weight.shape)[:-1])

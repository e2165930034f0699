"""How far apart two float32 evaluations of a model may be by rounding alone, derived from the model itself.

Which difference between a prediction in Python and one in TensorFlow.js needs no explanation? A bound that holds for
every conceivable rounding is no use: gamma(n) times the magnitudes gives 3e-3 for the classifier, where one
weight row off by 1 % moves a prediction by 1e-4. So this is a running error analysis in its statistical form:

1. Each rounding is off by at most U of its result, independently and without preference for up or down (Higham and
   Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41(5), 2019).
2. It reaches a prediction through the derivative of all that follows. The derivatives are the exact ones at these
   weights and inputs, in float64: LayerNormalization, which divides by a standard deviation and so amplifies, is in
   them; so are softmax and sigmoid, whose slopes are at most 1.
3. A prediction's error is then a sum of independent terms of known size, and exceeds LAMBDA times the root of their
   squares' sum with probability at most 2 exp(-LAMBDA**2 / 2) (Hoeffding's inequality).
4. Two evaluations are compared, so twice that.

Weights and inputs are the same float32 numbers on both sides and carry no error. Sums are taken in index order,
which is no better than how any runtime here does it: lanes and blocks, fused multiply-add and double accumulators
make partial sums smaller or roundings fewer. Left out: products of two roundings, and relu's corner, which matters
only to a unit whose value is within its own error of 0. Float16 is not covered: there the bound should be exceeded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

U = 2.0**-24
"""Unit roundoff of float32, rounding to nearest."""
FUNCTION = 8.0
"""Units U granted to one exp, square root or division: 4 units in the last place (ULP). Rounded correctly it takes
1 U; a GPU may take 2 ULP for a reciprocal root, 2.5 for a division and 3 + 2 |x| for exp(x) (OpenGL ES 3)."""
LAMBDA = 7.0
"""By Hoeffding's inequality a prediction's error is larger in one case of 2e10."""


@dataclass(frozen=True)
class Step:
    """One operation at the given inputs; rounding errors are in units of U."""

    output: Array
    """[rows, n]"""
    pull: Callable[[Array], Array]
    """From derivatives of the predictions by this output, [rows, outputs, n], to those by its input."""
    own: Array
    """[rows, n]: error of each element that is independent of the others."""
    shared: tuple[Array, ...] = ()
    """[rows, n] each: error that one unknown factor brings to all elements of a row."""


Operation = Callable[[Array], Step]


def bound(model: Any, x: npt.NDArray[np.float32]) -> float:
    """Return the largest difference between two float32 evaluations of ``model`` at ``x`` that rounding explains.

    ``model`` is a Sequential of Dense, LayerNormalization and Dropout (which predicting skips) from either Keras; ``x``
    has the shape [rows, features]. Raises ``TypeError`` for any other layer. Three digits, which a matrix product
    summed in another order does not change.
    """
    steps: list[Step] = []
    value = x.astype(np.float64)
    for operation in operations(model):
        steps.append(operation(value))
        value = steps[-1].output
    rows, outputs = value.shape
    slope: Array = np.broadcast_to(np.eye(outputs), (rows, outputs, outputs))
    squares = np.zeros((rows, outputs))
    for step in reversed(steps):
        squares += ((slope * step.own[:, None, :]) ** 2).sum(axis=2)
        for shared in step.shared:
            squares += np.einsum("roj,rj->ro", slope, shared) ** 2
        slope = step.pull(slope)
    return float(f"{2 * LAMBDA * U * np.sqrt(squares.max()):.2e}")


def operations(model: Any) -> list[Operation]:
    """Return what ``model`` does when it predicts, in order, in float64."""
    return [operation for layer in model.layers for operation in _of_layer(layer)]


def _of_layer(layer: Any) -> list[Operation]:
    kind, config = type(layer).__name__, layer.get_config()
    weights: list[Array] = [np.asarray(weight, np.float64) for weight in layer.get_weights()]
    if kind == "Dropout":
        return []
    if kind == "Dense" and config["use_bias"] and config["activation"] in _ACTIVATIONS:
        return [lambda x: _affine(x, *weights), *_ACTIVATIONS[config["activation"]]]
    if kind == "LayerNormalization" and config["scale"] and config["center"]:
        return [lambda x: _normalize(x, config["epsilon"], *weights)]
    raise TypeError(f"no rounding analysis for the layer {config['name']!r} ({kind})")


def _running(terms: Array) -> Array:
    """Return the sum of squares of the terms and of their partial sums along axis 1: what rounding their sum costs."""
    return np.asarray((terms**2).sum(axis=1) + (np.cumsum(terms, axis=1) ** 2).sum(axis=1))


def _affine(x: Array, kernel: Array, bias: Array) -> Step:
    y = x @ kernel + bias
    sums = np.stack([_running(row[None, :, None] * kernel)[0] for row in x])
    return Step(y, lambda slope: slope @ kernel.T, own=np.sqrt(sums + y**2))


def _relu(x: Array) -> Step:
    return Step(np.maximum(x, 0), lambda slope: slope * (x > 0)[:, None, :], own=np.zeros_like(x))


def _sigmoid(x: Array) -> Step:
    y = 1 / (1 + np.exp(-x))
    own = y * (2 * FUNCTION + 1 + 4 * np.abs(x))  # exp, with a GPU's 2 |x| ULP; one addition; one division
    return Step(y, lambda slope: slope * (y * (1 - y))[:, None, :], own)


def _exponents(x: Array) -> Step:
    """Stand for softmax's exp, whose relative error is an error of its argument: a difference, then the function."""
    return Step(x, lambda slope: slope, own=5 * np.abs(x - x.max(axis=1, keepdims=True)) + FUNCTION)


def _softmax(x: Array) -> Step:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    total = powers.sum(axis=1, keepdims=True)
    y = powers / total

    def pull(slope: Array) -> Array:
        weighted = slope * y[:, None, :]
        return np.asarray(weighted - weighted.sum(axis=2, keepdims=True) * y[:, None, :])

    return Step(y, pull, own=FUNCTION * y, shared=(y * np.sqrt(_running(powers))[:, None] / total,))


def _normalize(x: Array, epsilon: float, scale: Array, offset: Array) -> Step:
    n = x.shape[1]
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + epsilon)
    unit = centred / deviation
    # One error of the mean, and one of the factor 1 / deviation, are shared by a row. The variance comes from centred
    # values (in every runtime here): two roundings of each and a square, then the sum; root and quotient follow.
    mean_error = np.sqrt(_running(x))[:, None] / n + FUNCTION * np.abs(mean)
    variance_error = 3 * np.sqrt(_running(centred**2))[:, None] / n
    factor_error = variance_error / (2 * deviation**2) + 2 * FUNCTION
    # At most four roundings of each element, be it (x - mean) * f + offset or x * f + (offset - mean * f).
    own = 4 * np.abs(scale) * (np.abs(x) + np.abs(mean)) / deviation + 2 * np.abs(offset)

    def pull(slope: Array) -> Array:
        scaled = slope * scale
        along = (scaled * unit[:, None, :]).mean(axis=2, keepdims=True) * unit[:, None, :]
        return np.asarray((scaled - scaled.mean(axis=2, keepdims=True) - along) / deviation[:, None])

    shared = (scale * mean_error / deviation, scale * unit * factor_error)
    return Step(unit * scale + offset, pull, own, shared)


_ACTIVATIONS: dict[str, tuple[Operation, ...]] = {
    "relu": (_relu,),
    "sigmoid": (_sigmoid,),
    "softmax": (_exponents, _softmax),
}

"""Training data defined by arithmetic, so that Python and JavaScript make the very same float32 numbers.

Element k of x, counted row by row, is ((k * 2654435761) mod 2**32) / 2**32, rounded once to float32. The
factor is Knuth's multiplicative hash (The Art of Computer Programming 3, 6.4): the golden ratio's fraction of
2**32, which spreads the numbers evenly over [0, 1]. Every step before the rounding is exact in whole numbers below
2**53, which is all that a JavaScript number needs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Float32Array = npt.NDArray[np.float32]

ROWS = 8
_FACTOR = 2654435761
_MODULUS = 2**32


def inputs(features: int) -> Float32Array:
    """Return x, float32 of shape [ROWS, features], between 0 and 1."""
    k = np.arange(ROWS * features, dtype=np.uint64)
    fractions = (k * np.uint64(_FACTOR) % np.uint64(_MODULUS)).astype(np.float64) / _MODULUS
    return fractions.astype(np.float32).reshape(ROWS, features)


def labels(outputs: int) -> Float32Array:
    """Return y, float32 of shape [ROWS, outputs]: row % outputs one-hot, or with one output the column row % 2."""
    rows = np.arange(ROWS)
    if outputs == 1:
        return (rows % 2).astype(np.float32).reshape(ROWS, 1)
    one_hot: Float32Array = np.eye(outputs, dtype=np.float32)[rows % outputs]
    return one_hot

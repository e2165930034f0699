"""Constraints on weights: TensorFlow.js applies them as it loads a model, Keras only as it trains one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorledger.conversion.names import named
from tensorledger.conversion.topology import Json
from tensorledger.conversion.writing import Weight

CLOSE = 1e-5
"""Of the largest number of a weight: by how much training in Keras misses a constraint by rounding."""


def violated(topology: Json, weights: list[Weight]) -> Iterator[str]:
    """Yield the constraints that a model's weights do not meet, so that loading would change them."""
    by_name = {weight.name: weight for weight in weights}
    for one in named(topology):
        layer, own = one.layer, one.name.rpartition("/")[2]
        # Of a depthwise_kernel, depthwise_constraint.
        constraint = layer["config"].get(f"{own.removesuffix('_kernel')}_constraint")
        if not isinstance(constraint, dict) or one.name not in by_name:
            continue
        array = by_name[one.name].read()
        if array.dtype.kind not in "fiub":
            continue  # no number that TensorFlow.js has: it is refused as it is written
        values = np.asarray(array, np.float64)
        with np.errstate(all="ignore"):
            held = _constrained(values, constraint)
        if held is None or np.abs(held - values).max(initial=0.0) > CLOSE * np.abs(values).max(initial=1e-30):
            yield (
                f"{layer['config']['name']} ({layer['class_name']}): {one.name} does not meet its constraint "
                f"{constraint['class_name']}, and TensorFlow.js would change it as it loads; train the model, or "
                "make it without"
            )


def _constrained(values: npt.NDArray[Any], constraint: Json) -> npt.NDArray[Any] | None:
    """Return what a constraint makes of a weight; None for one that is not known."""
    kind, config = constraint["class_name"], constraint["config"]
    if kind in ("NonNeg", "NonNegative"):
        return np.asarray(np.maximum(values, 0))
    axis = config.get("axis", 0)
    norms = np.sqrt((values**2).sum(axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=True))
    if kind == "MaxNorm":
        return np.asarray(values * np.clip(norms, 0, config["max_value"]) / (1e-7 + norms))
    if kind == "UnitNorm":
        return np.asarray(values / (1e-7 + norms))
    if kind == "MinMaxNorm":
        rate = config.get("rate", 1.0)
        wanted = rate * np.clip(norms, config["min_value"], config["max_value"]) + (1 - rate) * norms
        return np.asarray(values * wanted / (1e-7 + norms))
    return None

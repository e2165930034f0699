"""The inputs that a model is tried on: random numbers, one row, zeros, large numbers, and the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.told import words
from tensorledger.predictions.input import Array, Input

ROWS = 8
LARGE = 1000.0
"""By what random numbers are multiplied to be large."""
SIZES = (4, 8, 16, 32, 64, 128, 224)
"""What stands for a size that a model leaves open, beside the batch: the first that it can predict with."""
SEED = 20180312


def sets(inputs: Sequence[Input], size: int) -> dict[str, list[Array]]:
    """Return the arrays for a model's inputs by what they are; ``size`` stands for what a shape leaves open.

    A model with a batch of a fixed size is tried on no other.
    """
    random = np.random.default_rng(SEED)
    fixed = next((one.shape[0] for one in inputs if one.shape and one.shape[0] is not None), None)
    rows = fixed or ROWS
    found = {"random": [_random(random, one, rows, size) for one in inputs]}
    if fixed is None:
        found["one row"] = [array[:1] for array in found["random"]]
    if any(one.padding is not None for one in inputs):
        found["padded"] = [_padded(array, one) for array, one in zip(found["random"], inputs, strict=True)]
    found["zeros"] = [np.zeros_like(array) for array in found["random"]]
    found["large"] = [_large(array, one) for array, one in zip(found["random"], inputs, strict=True)]
    return found


def _shape(one: Input, rows: int, size: int) -> tuple[int, ...]:
    return (rows, *(size if each is None else each for each in one.shape[1:])) if one.shape else ()


def _random(random: np.random.Generator, one: Input, rows: int, size: int) -> Array:
    shape = _shape(one, rows, size)
    if one.dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if one.below is not None or one.dtype.startswith(("int", "uint")):
        # Whole numbers of which nothing is known may be indices; of one byte, they are pixels.
        below = one.below or (256 if one.dtype == "uint8" else 2)
        return random.integers(0, below, shape).astype(one.dtype)
    if not one.dtype.startswith("float"):
        raise CannotConvert(f"the input {one.name} takes {one.dtype}, of which no inputs are made up")
    return random.normal(size=shape).astype(one.dtype)


def _padded(array: Array, one: Input) -> Array:
    """Return sequences of which each has one more step than the one before it, and is padded after them."""
    if one.padding is None or array.ndim < 2:
        return array
    padded = array.copy()
    for row in range(len(padded)):
        padded[row, 1 + row % array.shape[1] :] = one.padding
    return padded


def _large(array: Array, one: Input) -> Array:
    if one.below is not None:
        return np.full_like(array, one.below - 1)
    return np.asarray(array * LARGE, array.dtype) if array.dtype.kind == "f" else array


def _loaded(file: Path, names: list[str]) -> list[Array]:
    """Return a file's arrays. Those of an .npz are read only here: each is a file of its own in an archive."""
    loaded: Any = np.load(file, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return [loaded]
    order = names if set(loaded.files) == set(names) else loaded.files
    return [np.asarray(loaded[name]) for name in order]


def read(file: Path, inputs: Sequence[Input]) -> list[Array]:
    """Return a user's own inputs: an .npy file for a model that takes one, an .npz by the inputs' names or in order.

    Raises CannotConvert where they are not what the model takes.
    """
    try:
        arrays = _loaded(file, [one.name for one in inputs])
    except Exception as error:  # NumPy parses a header as Python, and raises whatever that does
        raise CannotConvert(f"{file}: the inputs cannot be read: {words(error)}") from error
    if len(arrays) != len(inputs):
        raise CannotConvert(f"{file} has {len(arrays)} arrays, and the model takes {len(inputs)}")
    for array, one in zip(arrays, inputs, strict=True):
        fits = len(array.shape) == len(one.shape) and all(
            wanted in (None, there) for wanted, there in zip(one.shape, array.shape, strict=True)
        )
        if not fits or array.dtype.kind not in "fiub":
            wanted = ", ".join("any" if size is None else str(size) for size in one.shape)
            raise CannotConvert(
                f"{file}: {array.dtype} {list(array.shape)} is not what the model takes as {one.name}: "
                f"{one.dtype} [{wanted}]"
            )
    return [array.astype(one.dtype) for array, one in zip(arrays, inputs, strict=True)]

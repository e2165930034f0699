"""Writes a layers model's folder as tensorflowjs does, without TensorFlow: weights go through one at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import ceil, prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.topology import Json

SHARD = 4 * 2**20
"""Bytes of a file of weights at most: what browsers cache of one file."""
MOST_SHARDS = 100_000
"""Files of weights at most."""
_AS = {
    "float32": "float32",
    "float16": "float32",
    "float64": "float32",
    "int32": "int32",
    "int64": "int32",
    "uint8": "int32",
    "bool": "bool",
}
"""What each type of a weight becomes; TensorFlow.js has no other numbers."""
QUANTIZED = {"float16": "<f2", "uint16": "<u2", "uint8": "<u1"}
"""How weights can be kept in fewer bytes."""


@dataclass(frozen=True)
class Weight:
    """One weight to write."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """As the source has it."""
    read: Callable[[], npt.NDArray[Any]]


def write_weights(folder: Path, weights: Iterable[Weight], *, shard: int = SHARD, quantize: str = "") -> list[Json]:
    """Write the shards of one group of weights; return its manifest. Raises CannotConvert for a type of no use."""
    listed = list(weights)
    entries: list[Json] = []
    total = sum(prod(weight.shape) * _size(weight, quantize) for weight in listed)
    if total > MOST_SHARDS * shard:
        raise CannotConvert(
            f"its weights, {total:,} bytes, would be {ceil(total / shard):,} files: take a larger --shard"
        )
    paths = [f"group1-shard{number + 1}of{ceil(total / shard)}.bin" for number in range(ceil(total / shard))]

    def blocks() -> Iterator[memoryview]:
        for weight in listed:
            array, entry = _encoded(weight, quantize)
            entries.append(entry)
            yield np.ascontiguousarray(array).reshape(-1).view(np.uint8).data

    _shards(folder, paths, blocks(), shard)
    return [{"paths": paths, "weights": entries}]


def write_model(folder: Path, described: Json) -> None:
    """Write ``model.json``."""
    (folder / "model.json").write_text(json.dumps(described), encoding="utf-8")


def _shards(folder: Path, paths: list[str], blocks: Iterator[memoryview], shard: int) -> None:
    rest: memoryview = memoryview(b"")
    for path in paths:
        with (folder / path).open("wb") as file:
            space = shard
            while space:
                if not rest:
                    following = next(blocks, None)
                    if following is None:
                        break
                    rest = following
                file.write(rest[:space])
                space, rest = space - len(rest[:space]), rest[space:]
    for _ in blocks:  # those without elements, at the end
        pass


def _type(weight: Weight) -> str:
    if weight.dtype not in _AS:
        raise CannotConvert(f"the weight {weight.name} is {weight.dtype}, which TensorFlow.js does not have")
    return _AS[weight.dtype]


def _size(weight: Weight, quantize: str) -> int:
    return np.dtype(QUANTIZED[quantize] if _is_quantized(weight, quantize) else _type(weight)).itemsize


def _is_quantized(weight: Weight, quantize: str) -> bool:
    """Say whether a weight is kept in fewer bytes. A single number, such as a graph's epsilon, gains nothing by it."""
    return bool(quantize) and _type(weight) == "float32" and weight.shape != ()


def _encoded(weight: Weight, quantize: str) -> tuple[npt.NDArray[Any], Json]:
    kind = _type(weight)
    array = weight.read()
    if array.shape != weight.shape:
        raise CannotConvert(f"the weight {weight.name} is {array.shape}, and not {weight.shape}")
    array = array.astype(np.dtype(kind).newbyteorder("<"), copy=False)
    entry: Json = {"name": weight.name, "shape": list(weight.shape), "dtype": kind}
    if not _is_quantized(weight, quantize):
        return array, entry
    whole = bool(np.isfinite(array).all())
    if not whole and quantize != "float16":
        raise CannotConvert(f"the weight {weight.name} has numbers that are not finite, which {quantize} cannot keep")
    array, how = quantized(array, quantize)
    if whole and quantize == "float16" and not np.isfinite(array).all():
        raise CannotConvert(f"the weight {weight.name} has numbers beyond float16's 65,504; use uint16")
    return array, {**entry, "quantization": {"dtype": quantize, **how, "original_dtype": kind}}


def quantized(array: npt.NDArray[np.float32], kind: str) -> tuple[npt.NDArray[Any], Json]:
    """Return float32 numbers in fewer bytes, and what gives them back: ``value * scale + min``, nothing for float16.

    0 stays 0 exactly where it lies within the range.
    """
    if kind == "float16":
        with np.errstate(over="ignore"):
            return array.astype(QUANTIZED[kind]), {}
    if not array.size:
        return array.astype(QUANTIZED[kind]), {"min": 0.0, "scale": 1.0}
    low, high = float(array.min()), float(array.max())
    if low == high:
        return np.zeros(array.shape, QUANTIZED[kind]), {"min": low, "scale": 1.0}
    most = np.iinfo(QUANTIZED[kind]).max
    scale = (high - low) / most
    if low <= 0 <= high:
        low = -round(-low / scale) * scale
        high = most * scale + low
    steps = np.round((array.clip(low, high) - low) / scale)
    return steps.astype(QUANTIZED[kind]), {"min": low, "scale": scale}

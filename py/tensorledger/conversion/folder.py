"""A TensorFlow.js model's folder, read as it is: what ``model.json`` says, and its weights, out of their shards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.told import UNREADABLE, parsed, words
from tensorledger.conversion.topology import Json
from tensorledger.conversion.writing import Weight

_TYPES = {"float32": "<f4", "int32": "<i4", "bool": "|u1"}
"""How each type of a weight lies in a file."""
_SMALL = {"float16": "<f2", "uint16": "<u2", "uint8": "|u1"}
"""How quantized weights do."""
_RANKS = 32
"""Dimensions that an array of numpy can have."""
_LARGEST = sys.float_info.max
_COUNTED = 2**53
"""What JavaScript counts exactly up to."""


@dataclass(frozen=True)
class TfjsModel:
    """A model as its folder has it."""

    file: Path
    """Its ``model.json``, by whatever name."""
    described: Json
    format: str
    """ "layers" or "graph"."""
    weights: tuple[Weight, ...]
    """In the order of the manifest; quantized ones are read as what TensorFlow.js makes of them."""

    @property
    def topology(self) -> Json:
        """Return the layers' ``class_name`` and ``config``, or the graph's nodes."""
        found: Json = self.described["modelTopology"]
        config: Json = found.get("model_config", found)
        return config


def model_file(path: Path) -> Path:
    """Return the ``model.json`` that a folder or the file itself stands for."""
    return path / "model.json" if path.is_dir() else path


def read_tfjs(path: Path) -> TfjsModel:
    """Return the model of a folder with a ``model.json``, or of that file; weights are read as they are asked for.

    Raises CannotConvert for what is no such model, or is not whole: a shard that is missing, too short or too long, or
    outside the folder, a weight of a type that is not known, or two of one name.
    """
    file = model_file(path)
    described = _json(file)
    if not isinstance(described.get("modelTopology"), dict):
        raise CannotConvert(f"{file} describes no TensorFlow.js model: it has no modelTopology")
    weights = _weights(file, described)
    names = [weight.name for weight in weights]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise CannotConvert(f"{file}: two weights are called {twice!r}")
    kind = "graph" if "node" in described["modelTopology"] else "layers"
    found = TfjsModel(file, described, kind, weights)
    topology: Any = found.topology
    if kind == "layers" and not (isinstance(topology, dict) and isinstance(topology.get("config"), dict | list)):
        raise CannotConvert(f"{file}: its modelTopology is neither of layers nor of a graph")
    return found


@contextmanager
def told_of_topology(
    file: Path | str, what: str = "its modelTopology is broken", of_format: bool = False
) -> Iterator[None]:
    """Say of what walking over a model's layers raises that its description is broken, in these words."""
    try:
        yield
    except CannotConvert:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, *UNREADABLE) as error:
        raise CannotConvert(f"{file}: {what}: {type(error).__name__}: {words(error)}", of_format=of_format) from error


def read_weights(file: Path) -> tuple[Weight, ...]:
    """Return the weights of a JSON file that has a ``weightsManifest``, and no more. Raises CannotConvert."""
    return _weights(file, _json(file))


def _json(file: Path) -> Json:
    if not file.is_file():
        raise CannotConvert(f"{file}: there is no such file")
    try:
        described = parsed(file.read_text(encoding="utf-8"))
    except ValueError as error:  # of json, of what is no UTF-8, and of numbers of 4,300 digits
        raise CannotConvert(f"{file} is broken: {error}") from error
    if not isinstance(described, dict):
        raise CannotConvert(f"{file} describes no TensorFlow.js model")
    return described


def _weights(file: Path, described: Json) -> tuple[Weight, ...]:
    groups = described.get("weightsManifest", [])
    if not isinstance(groups, list):
        raise CannotConvert(f"{file}: its weightsManifest is no list")
    try:
        return tuple(weight for group in groups for weight in _group(file, group))
    except (KeyError, TypeError, AttributeError) as error:
        raise CannotConvert(f"{file}: its weightsManifest is broken: {type(error).__name__}: {error}") from error


def _group(file: Path, group: Json) -> list[Weight]:
    shards = [_inside(file, path) for path in group["paths"]]
    sizes = [shard.stat().st_size for shard in shards]
    weights, at = [], 0
    for entry in group["weights"]:
        if not isinstance(entry["name"], str):
            raise CannotConvert(f"{file}: a weight has no name, but {entry['name']!r}")
        shape = _shape(file, entry)
        kind = _stored_as(file, entry)
        size = prod(shape) * np.dtype(kind).itemsize
        if at + size > sum(sizes):
            raise CannotConvert(
                f"{file}: the weight {entry['name']} {list(shape)} ends at byte {at + size:,}, and "
                f"{', '.join(group['paths']) or 'no file'} end at {sum(sizes):,}"
            )
        read = _reader(shards, sizes, at, size, kind, shape, entry)
        weights.append(Weight(entry["name"], shape, entry["dtype"], read))
        at += size
    if at != sum(sizes):
        raise CannotConvert(f"{file}: its weights are {at:,} bytes, and {', '.join(group['paths'])} {sum(sizes):,}")
    return weights


def _shape(file: Path, entry: Json) -> tuple[int, ...]:
    shape = entry["shape"]
    if not isinstance(shape, list) or not all(
        isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in shape
    ):
        raise CannotConvert(f"{file}: the weight {entry['name']} has no shape, but {shape!r}")
    if len(shape) > _RANKS or prod(size or 1 for size in shape) > _COUNTED:
        raise CannotConvert(f"{file}: the weight {entry['name']} has a shape that no array has")
    return tuple(shape)


def _inside(file: Path, written: str) -> Path:
    """Return a shard's path. What points outside the folder is not followed."""
    path = PurePosixPath(written)
    if path.is_absolute() or ".." in path.parts or "\\" in written or ":" in written:
        raise CannotConvert(f"{file}: its weights' path {written!r} leads outside the folder")
    shard = file.parent / path
    try:
        is_there = shard.is_file()
    except OSError as error:
        raise CannotConvert(f"{file}: its weights' path {written!r} is none: {error.strerror}") from error
    if not is_there:
        raise CannotConvert(f"{file} is not whole: there is no {written}")
    if not shard.resolve().is_relative_to(file.parent.resolve()):
        raise CannotConvert(f"{file}: its weights' path {written!r} leads outside the folder")
    return shard


def _stored_as(file: Path, entry: Json) -> str:
    kinds, kind = _TYPES, entry["dtype"]
    if "quantization" in entry:
        how = entry["quantization"]
        kinds, kind = _SMALL, how["dtype"]
        # Of these TensorFlow.js makes something of: float32 of all, and int32 of what has a scale.
        if entry["dtype"] not in ("float32", "int32") or (entry["dtype"] == "int32" and kind == "float16"):
            raise CannotConvert(f"{file}: the weight {entry['name']} is {entry['dtype']}, and cannot be of {kind}")
        if kind != "float16" and not all(_is_number(how.get(key)) for key in ("scale", "min")):
            raise CannotConvert(f"{file}: the weight {entry['name']} is quantized, and has no scale and min")
    if kind not in kinds:
        raise CannotConvert(f"{file}: the weight {entry['name']} is of the type {kind!r}, which is not read here")
    return kinds[kind]


def _is_number(value: Any) -> bool:
    """Say whether it is one that fits a float."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _reader(
    shards: list[Path], sizes: list[int], start: int, size: int, kind: str, shape: tuple[int, ...], entry: Json
) -> Callable[[], npt.NDArray[Any]]:
    def read() -> npt.NDArray[Any]:
        array = np.frombuffer(_bytes(shards, sizes, start, size), kind).reshape(shape)
        if "quantization" in entry:
            return dequantized(array, entry["quantization"], entry["dtype"])
        return array.astype(bool) if entry["dtype"] == "bool" else array

    return read


def dequantized(array: npt.NDArray[Any], how: Json, kind: str = "float32") -> npt.NDArray[Any]:
    """Return what TensorFlow.js makes of quantized numbers: it works in float64, and keeps float32 or rounds."""
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    with np.errstate(over="ignore"):
        values = array.astype(np.float64) * float(how["scale"]) + float(how["min"])
        if kind == "int32":
            return np.asarray(np.floor(values + 0.5), np.int32)
        return np.asarray(values, np.float32)


def _bytes(shards: list[Path], sizes: list[int], start: int, size: int) -> bytes:
    """Return the bytes from ``start`` on of files that follow each other."""
    parts = []
    for shard, length in zip(shards, sizes, strict=True):
        if start < length and size:
            with shard.open("rb") as file:
                file.seek(start)
                parts.append(file.read(min(size, length - start)))
            size -= len(parts[-1])
            start += len(parts[-1])
        start -= length
    return b"".join(parts)

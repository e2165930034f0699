"""Faults to plant in the readers, each of which the fuzzer must find."""

from __future__ import annotations

import ctypes
import importlib
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tensorledger.conversion.refusal import CannotConvert

# As what may be changed: modules, whose names are looked up as they are used.
command: Any = importlib.import_module("tensorledger.cli.convert")
console: Any = importlib.import_module("tensorledger.terminal.console")
convert: Any = importlib.import_module("tensorledger.conversion.convert")
folder: Any = importlib.import_module("tensorledger.conversion.folder")
layers: Any = importlib.import_module("tensorledger.conversion.layers")
reading: Any = importlib.import_module("tensorledger.conversion.reading")


def _in_read(act: Callable[[], object]) -> Callable[[], None]:
    """Do something each time that a folder has been read, in one of four."""
    plain, counted = convert.read_tfjs, [0]

    def read(path: Path) -> Any:
        found = plain(path)
        counted[0] += 1
        if counted[0] % 4 == 0:
            act()
        return found

    def plant() -> None:
        convert.read_tfjs = read

    return plant


def _raise() -> None:
    raise KeyError("config")


def _unclear() -> None:
    raise CannotConvert("no")


def _memory() -> None:
    plain = command.converted

    def converted(*asked: Any) -> Any:
        bytes(2**36)
        return plain(*asked)

    command.converted = converted


def _escape() -> None:
    def refused() -> None:
        raise CannotConvert("spoilt: the layer \x1b[2J is none")

    console.visible = lambda text: text
    _in_read(refused)()


def _wrong() -> None:
    plain = folder._bytes
    folder._bytes = lambda *asked: plain(*asked)[::-1]
    # What is compared with reads so too; what was written is changed once more.
    layers_write = layers.write_weights

    def write(place: Path, weights: Any, **how: Any) -> Any:
        manifest = layers_write(place, weights, **how)
        for shard in sorted(place.glob("*.bin")):
            content = bytearray(shard.read_bytes())
            content[0] ^= 1
            shard.write_bytes(content)
        return manifest

    layers.write_weights = write


def _outside() -> None:
    folder._inside = lambda file, written: file.parent / written


def _not_told() -> None:
    @contextmanager
    def told(file: Path) -> Any:
        yield

    reading._told = told


PLANTS: dict[str, Callable[[], None]] = {
    "an exception": _in_read(_raise),
    "an error without words": _in_read(_unclear),
    "a hang": _in_read(lambda: time.sleep(1e6)),
    "a crash": _in_read(lambda: ctypes.string_at(0)),
    "memory": _memory,
    "an escape sequence": _escape,
    "a wrong number": _wrong,
    "a path outside": _outside,
    "exceptions of a Keras file": _not_told,
}

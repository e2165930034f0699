"""What someone hands in to be converted: which kind of model a path stands for."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tensorledger.conversion.folder import read_tfjs
from tensorledger.conversion.refusal import CannotConvert

Kind = Literal["keras", "h5", "saved-model", "python", "tfjs-layers", "tfjs-graph"]

KINDS = "a .keras file, a whole .h5 file, a SavedModel folder, a TensorFlow.js folder, or a .py file with a function"
_HDF5 = b"\x89HDF\r\n\x1a\n"


@dataclass(frozen=True)
class Given:
    """A model as it was handed in."""

    path: Path
    kind: Kind
    function: str = ""
    """Of a Python file: the name of the function that makes the model."""
    called: str = ""
    """What people call it, where the path is not theirs."""

    def __str__(self) -> str:
        if self.called:
            return self.called
        return f"{self.path}:{self.function}" if self.function else str(self.path)


def given(written: str | Path) -> Given:
    """Return what a path stands for; of a Python file, ``FILE.py:NAME`` names the function, by default ``model``.

    What a file is goes by its content. Raises CannotConvert where it is none of the kinds.
    """
    file, colon, function = str(written).rpartition(":")
    if colon and file.endswith(".py") and function.isidentifier():
        return _python(Path(file), function)
    path = Path(written)
    if path.suffix == ".py":
        return _python(path, "model")
    if path.is_dir():
        if (path / "saved_model.pb").is_file() or (path / "saved_model.pbtxt").is_file():
            return Given(path, "saved-model")
        if (path / "model.json").is_file():
            return _tfjs(path)
        raise CannotConvert(f"{path}: the folder has neither a model.json nor a saved_model.pb")
    if not path.is_file():
        raise CannotConvert(f"{path}: there is no such file")
    if path.suffix == ".json":
        return _tfjs(path)
    with path.open("rb") as opened:
        start = opened.read(len(_HDF5))
    if start == _HDF5:
        return Given(path, "h5")
    if zipfile.is_zipfile(path):
        return Given(path, "keras")
    raise CannotConvert(f"{path} is neither a .keras nor an .h5 file. A model is {KINDS}")


def _python(path: Path, function: str) -> Given:
    if not path.is_file():
        raise CannotConvert(f"{path}: there is no such file")
    return Given(path, "python", function)


def _tfjs(path: Path) -> Given:
    return Given(path, "tfjs-layers" if read_tfjs(path).format == "layers" else "tfjs-graph")

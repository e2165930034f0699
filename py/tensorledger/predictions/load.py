"""Loads what someone handed in with TensorFlow: a Keras model out of its file, or out of the code that makes it."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.sources import Given
from tensorledger.models.zoo import KERASES
from tensorledger.runtime.files import load_file

IMPORT = "--import MODULE, the module or .py file that defines it"


def load(source: Given, keras_of: str, imports: Sequence[str], *, run_code: bool) -> Any:
    """Return the Keras model of a file, of a SavedModel that tf_keras saved, or of a Python file's function.

    ``keras_of`` is "keras" or "tf-keras"; ``imports``: modules, or .py files, of one's own classes, which are run
    first. ``run_code``: whether code that a file holds, as Lambda layers are, may run. Raises CannotConvert.
    """
    keras: Any = importlib.import_module(KERASES[keras_of])
    custom = custom_objects(imports)
    return (
        _made(source, keras) if source.kind == "python" else load_model(source.path, keras, custom, run_code=run_code)
    )


def load_model(path: Path, keras: Any, custom: dict[str, Any], *, run_code: bool) -> Any:
    """Load a Keras model from its file. ``custom``: one's own classes by name. Raises CannotConvert."""
    try:
        return keras.models.load_model(path, custom_objects=custom, safe_mode=not run_code)
    except Exception as error:
        reason = f"{path} does not load in {keras.__name__} {keras.__version__}: {_first(error)}"
        if "nsafe" in str(error) or "lambda" in str(error).lower():
            reason += ". A Lambda layer is Python code, which is run only with --run-code"
        elif "register_keras_serializable" in str(error) or "Unknown layer" in str(error) or "locate" in str(error):
            reason += f". A class of your own needs {IMPORT}"
        raise CannotConvert(reason) from error


def _first(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text if len(text) < 400 else text[:400] + ' …'}"


def custom_objects(imports: Sequence[str]) -> dict[str, Any]:
    """Return the classes and functions that modules, or .py files, define, by name. Raises CannotConvert."""
    found: dict[str, Any] = {}
    sys.path.insert(0, str(Path.cwd()))
    for written in imports:
        try:
            module = load_file(Path(written), "import") if written.endswith(".py") else importlib.import_module(written)
        except Exception as error:
            raise CannotConvert(f"--import {written}: {type(error).__name__}: {error}") from error
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) == module.__name__ and (inspect.isclass(value) or callable(value)):
                found[name] = value
    return found


def _made(source: Given, keras: Any) -> Any:
    try:
        module = load_file(source.path, "model")
    except Exception as error:
        raise CannotConvert(f"{source.path}: {type(error).__name__}: {error}") from error
    make = getattr(module, source.function, None)
    if not callable(make):
        raise CannotConvert(f"{source.path} defines no function named {source.function}; name one as FILE.py:NAME")
    try:
        model = make(keras) if inspect.signature(make).parameters else make()
    except Exception as error:
        raise CannotConvert(f"{source}: {type(error).__name__}: {error}") from error
    if not hasattr(model, "layers") or not hasattr(model, "save"):
        raise CannotConvert(f"{source} returned no Keras model, but {type(model).__name__}")
    return model

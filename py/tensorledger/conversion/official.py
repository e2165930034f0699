"""The one module of tensorflowjs that converting a Keras file takes."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from types import ModuleType
from typing import Any

_MODULE = "tensorflowjs.converters.keras_h5_conversion"


@cache
def keras_conversion() -> Any:
    """Return ``tensorflowjs.converters.keras_h5_conversion``, without running its packages' ``__init__``.

    Those import jax, TensorFlow Hub and Decision Forests, none of which takes part: 5 s, 0.4 GB, and the packages that
    break most often. The module itself takes h5py, numpy and, to write a file, TensorFlow. Raises
    ``ModuleNotFoundError`` if tensorflowjs is not installed.
    """
    if "tensorflowjs" in sys.modules:
        return importlib.import_module(_MODULE)
    found = importlib.util.find_spec("tensorflowjs")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'tensorflowjs'", name="tensorflowjs")
    try:
        for package in ("tensorflowjs", "tensorflowjs.converters"):
            bare = ModuleType(package)
            bare.__path__ = [
                folder + package.removeprefix("tensorflowjs").replace(".", "/")
                for folder in found.submodule_search_locations
            ]
            sys.modules[package] = bare
        return importlib.import_module(_MODULE)
    finally:
        # Whoever imports tensorflowjs later gets the whole of it.
        for name in [name for name in sys.modules if name.partition(".")[0] == "tensorflowjs"]:
            del sys.modules[name]

"""Converting and checking from Python: what the commands do, of a live Keras model too; the results are values."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorledger.checking.check import Asked
from tensorledger.checking.check import check as _check
from tensorledger.checking.checked import Checked
from tensorledger.checking.lives import CYCLES
from tensorledger.conversion.convert import Conversion, Wanted
from tensorledger.conversion.convert import convert as _convert
from tensorledger.conversion.layers import NEWEST
from tensorledger.conversion.sources import Given, given
from tensorledger.conversion.writing import SHARD
from tensorledger.targets.catalogue import resolve

Inputs = npt.ArrayLike | Mapping[str, npt.ArrayLike] | str | Path


def convert(
    model: Any,
    destination: str | Path,
    *,
    format: str = "auto",
    release: str = NEWEST,
    quantize: str = "",
    shard: int = SHARD,
    imports: Sequence[str] = (),
    run_code: bool = False,
) -> Conversion:
    """Write a model as TensorFlow.js loads it: ``destination`` with ``model.json`` and its weights, complete or absent.

    ``model``: a live Keras model, or the path of one (see ``tensorledger convert --help``). ``format``: "layers",
    "graph", or "auto", which is a graph model where a layers model would be wrong. ``release``: of TensorFlow.js, as
    "4.22.0". ``quantize``: "float16", "uint16" or "uint8". ``shard``: bytes of a file of weights at most. ``imports``:
    modules, or .py files, that define one's own layers. ``run_code``: whether code in a file, as of Lambda layers, may
    run. Raises CannotConvert, which says which part, why, and what to do instead; FileExistsError where ``destination``
    has something in it; OSError.
    """
    wanted = Wanted(format, release, quantize, shard, imports, run_code)
    with _given(model) as source:
        return _convert(source, destination, wanted)


def check(
    model: Any,
    *,
    targets: Sequence[str] = (),
    format: str = "auto",
    inputs: Inputs | None = None,
    quantize: str = "",
    cycles: int = CYCLES,
    imports: Sequence[str] = (),
    run_code: bool = False,
) -> Checked:
    """Convert a model, compare its predictions with Python's, live and release it, on each target.

    In a test: ``found = tensorledger.check(model); assert found.ok, str(found)``. ``model``: a live Keras model, or the
    path of one. ``targets``: as "tfjs@4.22.0/wasm"; by default the newest release on cpu and wasm, and the model's own
    Keras. ``format``: "auto", "layers", "graph" or "both". ``inputs``: more to predict: an array of the model's input
    shape, arrays by the inputs' names, or an .npy or .npz file. The rest is as for ``convert``. Raises CannotConvert
    where ``model`` is no model at all, BadTarget; what is wrong with it is in the result.
    """
    wanted = Wanted(format, quantize=quantize, imports=imports, run_code=run_code)
    with _given(model) as source, tempfile.TemporaryDirectory(prefix="tensorledger-") as folder:
        asked = Asked(
            source=source,
            wanted=wanted,
            targets=resolve(list(targets)) if targets else (),
            inputs=_inputs(inputs, Path(folder)),
            cycles=cycles,
        )
        return _check(asked)


@contextmanager
def _given(model: Any) -> Iterator[Given]:
    if isinstance(model, str | Path):
        yield given(model)
        return
    if not hasattr(model, "save") or not hasattr(model, "layers"):
        raise TypeError(f"a Keras model or the path of one, and not {type(model).__name__}")
    with tempfile.TemporaryDirectory(prefix="tensorledger-") as folder:
        file = Path(folder) / "model.keras"
        model.save(file)
        yield Given(file, "keras", called=f"the model {model.name!r}")


def _inputs(inputs: Inputs | None, folder: Path) -> Path | None:
    if inputs is None or isinstance(inputs, str | Path):
        return None if inputs is None else Path(inputs)
    if isinstance(inputs, Mapping):
        named: dict[str, Any] = {name: np.asarray(array) for name, array in inputs.items()}
        np.savez(folder / "inputs.npz", **named)
        return folder / "inputs.npz"
    np.save(folder / "inputs.npy", np.asarray(inputs))
    return folder / "inputs.npy"

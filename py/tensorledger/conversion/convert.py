"""Converts whatever kind of model someone has: as layers where it can be right, as a graph where not, or as asked."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensorledger.conversion.back import write_keras
from tensorledger.conversion.folder import read_tfjs
from tensorledger.conversion.graph import FIRST
from tensorledger.conversion.layers import NEWEST, Converted, convert_layers, convert_tfjs
from tensorledger.conversion.reading import keras_version
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.sources import Given, given
from tensorledger.conversion.told import named, words
from tensorledger.conversion.writing import SHARD
from tensorledger.predictions.ask import Answer, Request, TensorFlowBroke, ask

FORMATS = ("auto", "layers", "graph")


@dataclass(frozen=True)
class Refusal:
    """A format that a model cannot be converted to."""

    format: str
    reason: str
    """Which part, why, and what to do instead."""
    instead: str | None
    """The format that it can be converted to."""


@dataclass(frozen=True)
class Conversion:
    """What was done."""

    format: str
    """ "layers", "graph", or "keras" for a file that Keras loads."""
    rules: list[str] = field(default_factory=list)
    """The rules that changed something; see conversion/rules.py."""
    left_out: list[str] = field(default_factory=list)
    """What of the source is not in the result, in words."""
    refused: list[Refusal] = field(default_factory=list)
    """What was tried before."""
    notes: list[str] = field(default_factory=list)
    """What there is to know when it is used."""
    quantized: dict[str, list[float]] | None = None
    """Of quantized weights, by set of inputs: by how much each output is off. Null where it was not measured."""


@dataclass(frozen=True)
class Wanted:
    """How a model is to be converted."""

    format: str = "auto"
    release: str = NEWEST
    """Of TensorFlow.js, which is to load it."""
    quantize: str = ""
    shard: int = SHARD
    imports: Sequence[str] = ()
    """Modules, or .py files, that define one's own classes."""
    run_code: bool = False
    """Whether code that a file holds may run: Lambda layers, and graphs that reach beyond the model."""
    keras: str = "keras"
    """The Keras that a Python file's function makes its model with, where it takes one."""


def keras_of(source: Given, wanted: Wanted) -> str:
    """Return which Keras loads a model: "keras", "tf-keras", or none. Raises CannotConvert for a broken file."""
    if source.kind in ("keras", "h5"):
        return "keras" if keras_version(source.path).startswith("3") else "tf-keras"
    if source.kind == "saved-model":
        return "tf-keras" if (source.path / "keras_metadata.pb").is_file() else ""
    if source.kind == "python":
        return wanted.keras
    return "keras" if source.kind == "tfjs-layers" else ""


def has_layers(source: Given) -> bool:
    """Say whether a model has layers to convert, and not only a graph."""
    return source.kind != "tfjs-graph" and bool(source.kind != "saved-model" or keras_of(source, Wanted()))


def convert(source: str | Path | Given, destination: str | Path, wanted: Wanted | None = None) -> Conversion:
    """Write ``destination``: a folder with ``model.json`` and its weights, complete or not at all.

    Where ``destination`` ends in ``.keras``, a TensorFlow.js layers model becomes a file that Keras 3 loads. Raises
    CannotConvert, FileExistsError if ``destination`` has something in it, OSError, and TensorFlowBroke.
    """
    wanted = wanted or Wanted()
    found = source if isinstance(source, Given) else given(source)
    destination = Path(destination)
    if wanted.format not in FORMATS:
        raise ValueError(f"no format {wanted.format!r}; there are {', '.join(FORMATS)}")
    with _told(found):
        if destination.suffix == ".keras":
            return _back(found, destination)
        with tempfile.TemporaryDirectory(prefix="tensorledger-") as folder:
            return _convert(as_file(found, wanted, Path(folder)), destination, wanted)


@contextmanager
def _told(source: Given) -> Iterator[None]:
    """Say of each refusal of which model it is."""
    try:
        yield
    except CannotConvert as error:
        raise named(source, error) from error
    except MemoryError as error:
        raise CannotConvert(f"{source}: {words(error)}") from error


def as_file(source: Given, wanted: Wanted, folder: Path) -> Given:
    """Return a model that only code, or Keras 2 out of a SavedModel, can make as a .keras file in ``folder``.

    It is made once: a second one would have other weights. Raises CannotConvert, TensorFlowBroke.
    """
    keras = keras_of(source, wanted)
    if source.kind != "python" and not (source.kind == "saved-model" and keras):
        return source
    saved = folder / "made.keras"
    ask(_request(source, wanted, save=saved))
    return Given(saved, "keras", called=str(source))


def _convert(found: Given, destination: Path, wanted: Wanted) -> Conversion:
    if wanted.format == "graph" or (wanted.format == "auto" and not has_layers(found)):
        return _as_graph(found, destination, wanted, [])
    try:
        done = as_layers(found, destination, wanted)
    except CannotConvert as error:
        if wanted.format == "layers" or is_broken(error):
            raise
        refused = [Refusal("layers", str(error), "graph")]
        try:
            return _as_graph(found, destination, wanted, refused)
        except CannotConvert as other:
            raise CannotConvert(f"{error}\nAnd as a graph model: {other}") from other
    return Conversion("layers", done.rules, done.left_out, quantized=_error(found, wanted) if wanted.quantize else None)


def is_broken(error: CannotConvert) -> bool:
    """Say whether no format would do: the file itself is not one that can be read."""
    return not error.of_format


def as_layers(source: Given, destination: Path, wanted: Wanted) -> Converted:
    """Write a layers model of what ``as_file`` returned. Raises as ``convert`` does."""
    with _told(source):
        return _as_layers(source, destination, wanted)


def _as_layers(source: Given, destination: Path, wanted: Wanted) -> Converted:
    options: dict[str, Any] = {"release": wanted.release, "shard": wanted.shard, "quantize": wanted.quantize}
    if source.kind == "tfjs-layers":
        return convert_tfjs(read_tfjs(source.path), destination, **options)
    if source.kind in ("keras", "h5"):
        return convert_layers(source.path, destination, called=str(source), **options)
    what = "a SavedModel that no Keras 2 saved" if source.kind == "saved-model" else "a graph model"
    raise CannotConvert(
        f"{source}: {what} has no layers; save the Keras model itself as a .keras file, or convert it as a graph model",
        of_format=True,
    )


def as_graph(source: Given, destination: Path, wanted: Wanted, reference: Path | None = None) -> Answer:
    """Write a graph model, and predictions beside it where they are asked for. Raises as ``convert`` does."""
    if _earlier(wanted.release, FIRST):
        raise CannotConvert(
            f"tfjs@{wanted.release} loads no graph model that is written today; the first that does is {FIRST}",
            of_format=True,
        )
    if source.kind == "tfjs-layers":
        with tempfile.TemporaryDirectory(prefix="tensorledger-") as folder:
            saved = Path(folder) / "model.keras"
            write_keras(read_tfjs(source.path), saved)
            return as_graph(Given(saved, "keras"), destination, wanted, reference)
    answer = ask(_request(source, wanted, graph=destination, reference=reference))
    if "graph" in answer.refused:
        raise CannotConvert(f"{source}: {answer.refused['graph']}", of_format=True)
    return answer


def _as_graph(source: Given, destination: Path, wanted: Wanted, refused: list[Refusal]) -> Conversion:
    with tempfile.TemporaryDirectory(prefix="tensorledger-") as folder:
        reference = Path(folder) / "reference" if wanted.quantize else None
        answer = as_graph(source, destination, wanted, reference)
    return Conversion(
        "graph", refused=refused, notes=answer.notes(), quantized=_of(answer, "graph") if wanted.quantize else None
    )


def _back(source: Given, destination: Path) -> Conversion:
    if source.kind != "tfjs-layers":
        raise CannotConvert(f"{source}: only a TensorFlow.js layers model becomes a .keras file")
    write_keras(read_tfjs(source.path), destination)
    return Conversion("keras")


def _error(source: Given, wanted: Wanted) -> dict[str, list[float]] | None:
    with tempfile.TemporaryDirectory(prefix="tensorledger-") as folder:
        asked = source
        try:
            if source.kind == "tfjs-layers":
                asked = Given(Path(folder) / "model.keras", "keras")
                write_keras(read_tfjs(source.path), asked.path)
            return _of(ask(_request(asked, wanted, reference=Path(folder) / "reference")), "layers")
        except (CannotConvert, TensorFlowBroke):
            return None


def _of(answer: Answer, form: str) -> dict[str, list[float]]:
    return {one["inputs"]: [output["error"][form] for output in one["outputs"]] for one in answer.reference}


def _request(source: Given, wanted: Wanted, **more: Any) -> Request:
    return Request(
        source=source,
        keras=keras_of(source, wanted),
        imports=wanted.imports,
        run_code=wanted.run_code,
        shard=wanted.shard,
        quantize=wanted.quantize,
        **more,
    )


def _earlier(release: str, than: str) -> bool:
    from packaging.version import Version

    return Version(release) < Version(than)

"""What a Keras file holds, read with h5py and numpy alone: its topology, how it was compiled, where its weights are."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorledger.conversion.hdf5 import checked, datasets, inside, open_file
from tensorledger.conversion.names import Named, named
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.told import OF_THE_FILE, UNREADABLE, parsed, words
from tensorledger.conversion.topology import Json, is_model, layers_of

_NAME = re.compile(r"[A-Za-z0-9.][-A-Za-z0-9_.\\/>]*")
"""What TensorFlow.js takes for the name of a variable."""
_LARGE, _PACKED = 2**26, 100
"""Bytes of weights that an archive may have packed in any way, and how many times more than these may be packed."""
_LARGEST_JSON = 256 * 2**20
"""Bytes of a description that are read; no model's comes near."""


@dataclass(frozen=True)
class Stored:
    """One weight as the file has it."""

    place: str
    shape: tuple[int, ...]
    dtype: str
    read: Callable[[], npt.NDArray[Any]]


@dataclass(frozen=True)
class Source:
    """What was read. Weights are read as they are asked for, while the file is open."""

    keras: str
    """The version of the Keras that saved it."""
    topology: Json
    """The model as Keras describes it: ``class_name`` and ``config``."""
    compiled: Json | None
    """How the model was compiled, as Keras describes it."""
    stored: tuple[Stored, ...]
    """In the order of the file."""
    named: dict[str, Named]
    """By place: what TensorFlow.js calls it. What has no name there, such as an optimizer's state, is not in it."""


@contextmanager
def opened(file: Path) -> Iterator[Source]:
    """Yield what a ``.keras`` file or a whole ``.h5`` file holds.

    Raises CannotConvert for any other file, and for one that is broken; OSError.
    """
    if not file.is_file():
        raise CannotConvert(f"{file}: there is no such file")
    with ExitStack() as stack:
        with _told(file):
            found = _of_file(file, stack)
        yield found


def keras_version(file: Path) -> str:
    """Return the version of the Keras that saved a ``.keras`` or an ``.h5`` file. Raises CannotConvert; OSError."""
    with _told(file):
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                return str(_json(archive, "metadata.json")["keras_version"])
        with open_file(file, file) as found:
            return _text(found.attrs["keras_version"])


def _of_file(file: Path, stack: ExitStack) -> Source:
    import h5py  # only here: the harness, which never converts, need not have it

    if zipfile.is_zipfile(file):
        archive = stack.enter_context(zipfile.ZipFile(file))
        described, metadata = (_json(archive, name) for name in ("config.json", "metadata.json"))
        # Not read whole, and not to where the archive says: this one member, into a nameless file.
        weights = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        listed = archive.getinfo("model.weights.h5")
        if listed.file_size > _LARGE and listed.file_size > _PACKED * listed.compress_size:
            raise CannotConvert(f"{file} is broken: its weights claim to be {listed.file_size:,} bytes, and cannot be")
        with archive.open(listed) as member:
            shutil.copyfileobj(member, weights)
        weights.flush()
        return _of_archive(file, described, metadata, stack.enter_context(open_file(file, weights)))
    if not h5py.is_hdf5(file):
        raise CannotConvert(f"{file} is neither a .keras nor an .h5 file")
    return _of_h5(file, stack.enter_context(open_file(file, file)))


@contextmanager
def _told(file: Path) -> Iterator[None]:
    """Say of what reading raises which file it was."""
    try:
        yield
    except CannotConvert:
        raise
    except KeyError as missing:
        raise CannotConvert(f"{file} is not whole: it has no {str(missing.args[0])!r}") from missing
    except (zipfile.BadZipFile, json.JSONDecodeError, UnicodeDecodeError, EOFError, *UNREADABLE) as error:
        raise CannotConvert(f"{file} is broken: {words(error)}") from error
    except (TypeError, AttributeError, IndexError, ValueError) as error:
        raise CannotConvert(f"{file} is broken: what it says of its layers is none: {error}") from error
    except OSError as error:
        if error.errno not in OF_THE_FILE:
            raise OSError(error.errno, error.strerror, str(file)) from error
        raise CannotConvert(f"{file} is broken: {error}") from error


def _json(archive: zipfile.ZipFile, name: str) -> Json:
    if archive.getinfo(name).file_size > _LARGEST_JSON:
        raise CannotConvert(f"{archive.filename}: {name} is larger than any model's")
    found = parsed(archive.read(name))
    if not isinstance(found, dict):
        raise CannotConvert(f"{archive.filename}: {name} is no description of a model")
    return found


def _of_archive(file: Path, described: Json, metadata: Json, weights: Any) -> Source:
    topology = _topology(file, described)
    stored = tuple(_stored(file, place, dataset) for place, dataset in datasets(file, weights))
    places = {each.place for each in stored}
    names = {weight.place: weight for weight in _named(file, topology)}
    for place, weight in names.items():
        if place not in places:
            raise CannotConvert(f"{file} is not whole: the weight {weight.name} is not at {place}")
    return Source(str(metadata["keras_version"]), topology, described.get("compile_config"), stored, names)


def _stored(file: Path, place: str, dataset: Any) -> Stored:
    shape = checked(file, place, dataset)

    def read() -> npt.NDArray[Any]:
        with _told(file):
            return np.asarray(dataset[()])

    return Stored(place, shape, str(dataset.dtype), read)


def _of_h5(file: Path, found: Any) -> Source:
    if "model_config" not in found.attrs:
        raise CannotConvert(f"{file} holds weights only; save the whole model")
    topology = _topology(file, parsed(_text(found.attrs["model_config"])))
    _named(file, topology)  # looks whether names are names, and are different
    compiled = parsed(_text(found.attrs["training_config"])) if "training_config" in found.attrs else None
    stored: list[Stored] = []
    weights = inside(file, found, "model_weights")
    for layer in weights:
        group = inside(file, weights, layer)
        stored += (_stored(file, f"{layer}/{name}", inside(file, group, name)) for name in _names(group))
    return Source(
        _text(found.attrs["keras_version"]), topology, compiled, tuple(stored), _places(file, topology, stored)
    )


def _names(group: Any) -> list[str]:
    return [_text(name) for name in group.attrs.get("weight_names", ())]


def _places(file: Path, topology: Json, stored: list[Stored]) -> dict[str, Named]:
    """Return what each weight of an .h5 file is called.

    A layer's own are in Keras's order. Those of a model inside are trainable first, then the others; but their names
    say whose they are.
    """
    found: dict[str, Named] = {}
    for layer in layers_of(topology):
        name = layer["config"]["name"]
        there = [
            each.place for each in stored if each.place.startswith(f"{name}/") and "seed_generator" not in each.place
        ]
        wanted = _named(file, {**topology, "config": {"layers": [layer]}})
        if not is_model(layer):
            if len(there) != len(wanted):
                raise CannotConvert(f"{file} is not whole: {name} has {len(there)} weights, and not {len(wanted)}")
            found.update(zip(there, wanted, strict=True))
            continue
        for weight in wanted:
            place = [each for each in there if each not in found and _is_of(each, weight)]
            if not place:
                raise CannotConvert(f"{file} is not whole: the weight {weight.name} of {name} is not there")
            found[place[0]] = weight
    return found


def _is_of(place: str, weight: Named) -> bool:
    *owners, name = place.removesuffix(":0").split("/")
    wanted = weight.name.rpartition("/")[2]
    if name != wanted and not (wanted == "depthwise_kernel" and name == "kernel"):
        return False
    rest = iter(owners)
    return all(owner in rest for owner in weight.owners)


def _named(file: Path, topology: Json) -> list[Named]:
    weights = list(named(topology))
    names = Counter(weight.name for weight in weights)
    for name, count in names.items():
        if not _NAME.fullmatch(name):
            raise CannotConvert(
                f"{file}: TensorFlow.js takes no weight of the name {name!r}; name layers with letters of A to Z, "
                "digits, _, - and . only, or convert it as a graph model",
                of_format=True,
            )
        if count > 1:
            raise CannotConvert(
                f"{file}: two layers are called {name.rpartition('/')[0]!r}; TensorFlow.js finds weights by their "
                "names, so give each layer a name of its own, or convert it as a graph model",
                of_format=True,
            )
    return weights


def _topology(file: Path, described: Any) -> Json:
    if not isinstance(described, dict) or not isinstance(described.get("config"), dict | list):
        raise CannotConvert(f"{file}: it does not describe a model")
    if not is_model(described):
        raise CannotConvert(
            f"{file}: a model of a class of one's own ({described.get('class_name')}) has no layers to translate; "
            "make it Sequential or functional, or convert it as a graph model, with --import MODULE",
            of_format=True,
        )
    return {"class_name": described["class_name"], "config": described["config"]}


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)

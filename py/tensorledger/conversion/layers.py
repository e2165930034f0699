"""A Keras file as a layers model for TensorFlow.js: tensorflowjs's own conversion, then the rules."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tensorledger.conversion.official import keras_conversion
from tensorledger.conversion.rules import RULES, CannotConvert, Json, Rule, repair
from tensorledger.environment.folders import whole_folder

NEWEST = "4.22.0"
"""The release that ``convert_layers`` writes for, unless told otherwise."""


def rules_for(release: str) -> tuple[Rule, ...]:
    """Return the rules that a release of TensorFlow.js needs."""
    return tuple(rule for rule in RULES if rule.concerns(release))


def convert_layers(source: Path, destination: Path, rules: Iterable[Rule] | None = None) -> list[str]:
    """Write ``destination/model.json`` and its weights; return the names of the rules that changed something.

    ``source`` is a ``.keras`` file that Keras 3 or tf_keras saved, or an ``.h5`` file that tf_keras saved with the
    whole model. The weight files are byte for byte those that tensorflowjs writes. ``destination`` appears complete or
    not at all. Raises ``CannotConvert`` for another file, ``FileExistsError`` if ``destination`` has something in it,
    and what tensorflowjs raises. Imports tensorflowjs's converter and with it TensorFlow: run it in a process that may.
    """
    with whole_folder(destination) as folder:
        topology, weights = _read(source)
        keras_conversion().write_artifacts(topology, weights, str(folder))
        written: Json = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        model, changed = repair(written, rules_for(NEWEST) if rules is None else rules)
        (folder / "model.json").write_text(json.dumps(model), encoding="utf-8")
    return changed


def convert_for(source: Path, destination: Path, release: str) -> None:
    """Write ``destination`` out of a folder that ``convert_layers`` wrote, as an older release can load it.

    Only ``model.json`` differs; the weight files are linked.
    """
    with whole_folder(destination) as folder:
        for file in source.iterdir():
            if file.name != "model.json":
                (folder / file.name).hardlink_to(file)
        written: Json = json.loads((source / "model.json").read_text(encoding="utf-8"))
        model, _ = repair(written, rules_for(release))
        (folder / "model.json").write_text(json.dumps(model), encoding="utf-8")


def _read(source: Path) -> tuple[Json, list[Any]]:
    """Return tensorflowjs's topology and groups of weights of a Keras file.

    Its own function for ``.keras`` extracts the archive over what lies beside it; so the archive is read here.
    """
    import h5py  # only here: the harness, which never converts, need not have it

    if zipfile.is_zipfile(source):
        with zipfile.ZipFile(source) as archive:
            try:
                config, metadata = (json.loads(archive.read(name)) for name in ("config.json", "metadata.json"))
                weights = io.BytesIO(archive.read("model.weights.h5"))
            except KeyError as missing:
                raise CannotConvert(f"{source} is not a .keras file: {missing.args[0]}") from missing
        with h5py.File(weights, "r") as file:
            return _result(keras_conversion().h5_v3_merged_saved_model_to_tfjs_format(file, metadata, config))
    if not h5py.is_hdf5(source):
        raise CannotConvert(f"{source} is neither a .keras nor an .h5 file")
    with h5py.File(source, "r") as file:
        if "model_config" not in file.attrs:
            raise CannotConvert(f"{source} holds weights only; save the whole model")
        if not str(file.attrs["keras_version"]).startswith("2."):
            raise CannotConvert(f"{source} is an .h5 file of Keras {file.attrs['keras_version']}; save it as .keras")
        return _result(keras_conversion().h5_merged_saved_model_to_tfjs_format(file))


def _result(pair: Any) -> tuple[Json, list[Any]]:
    topology, weights = pair
    return topology, weights

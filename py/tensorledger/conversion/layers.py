"""A Keras file as a layers model for TensorFlow.js: read, refused or repaired, and written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensorledger.conversion.constraints import violated
from tensorledger.conversion.folder import TfjsModel, told_of_topology
from tensorledger.conversion.older import NEWEST, rules_for
from tensorledger.conversion.reading import Source, opened
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.refused import refusals
from tensorledger.conversion.rules import Rule, repair
from tensorledger.conversion.since import lacking
from tensorledger.conversion.topology import Json, all_layers, is_model
from tensorledger.conversion.training import Untranslated, training
from tensorledger.conversion.writing import SHARD, Weight, write_model, write_weights
from tensorledger.environment.folders import whole_folder
from tensorledger.version import __version__

__all__ = ["NEWEST", "Converted", "convert_layers", "convert_tfjs", "rules_for"]


@dataclass(frozen=True)
class Converted:
    """What was done to a model on its way."""

    rules: list[str]
    """The names of the rules that changed something."""
    left_out: list[str]
    """What of the source is not in the result, in words: how it was compiled, where TensorFlow.js has not the same."""


def convert_layers(
    source: Path,
    destination: Path,
    rules: Iterable[Rule] | None = None,
    *,
    release: str = NEWEST,
    shard: int = SHARD,
    quantize: str = "",
    called: str = "",
) -> Converted:
    """Write ``destination/model.json`` and its weights. A compiled model arrives compiled.

    ``source`` is a ``.keras`` file, or an ``.h5`` file with the whole model, of Keras 3 or tf_keras. ``rules``: those
    that ``release`` needs, unless told. ``shard``: bytes of a file of weights. ``quantize``: "float16", "uint16" or
    "uint8". ``called``: what the source is called where it is refused. ``destination`` appears complete or not at all.
    Raises ``CannotConvert``, ``FileExistsError`` if ``destination`` has something in it, OSError.
    """
    with opened(source) as found, _told(called or str(source)):
        _refuse(called or str(source), found.topology, found.keras.startswith("3"), release)
        unmet = list(violated(found.topology, _weights(found)))
        if unmet:
            raise CannotConvert(f"{called or source} cannot be a layers model:\n" + "\n".join(unmet), of_format=True)
        with whole_folder(destination) as folder:
            manifest = write_weights(folder, _weights(found), shard=shard, quantize=quantize)
            model, changed = repair(_described(found, manifest), rules_for(release) if rules is None else rules)
            left_out = list(_precision(found.topology))
            if found.compiled:
                try:
                    model["trainingConfig"] = training(found.compiled, found.topology)
                except Untranslated as error:
                    left_out.append(f"how it was compiled: TensorFlow.js has not the same as {error}")
            write_model(folder, model)
    return Converted(changed, left_out)


def _told(source: str) -> AbstractContextManager[None]:
    # A graph of it may do all the same: that Keras understands it, perhaps, and not we.
    return told_of_topology(source, "what it says of its layers is not understood", of_format=True)


def _refuse(source: str, topology: Json, keras_3: bool, release: str) -> None:
    refused = [*refusals(topology, keras_3), *lacking(topology, release)]
    if refused:
        raise CannotConvert(f"{source} cannot be a layers model:\n" + "\n".join(refused), of_format=True)


def convert_tfjs(
    model: TfjsModel, destination: Path, *, release: str = NEWEST, shard: int = SHARD, quantize: str = ""
) -> Converted:
    """Write a layers model out of another's folder, as a release can load it. Raises as ``convert_layers`` does."""
    with told_of_topology(model.file):
        _refuse(str(model.file), model.topology, False, release)
    with whole_folder(destination) as folder:
        manifest = write_weights(folder, model.weights, shard=shard, quantize=quantize)
        # TensorFlow.js itself writes the model without what other converters put around it.
        topology = {"model_config": model.topology} | {
            key: value for key, value in model.described["modelTopology"].items() if key not in ("class_name", "config")
        }
        described = {**model.described, "modelTopology": topology, "weightsManifest": manifest}
        with told_of_topology(model.file):
            written, changed = repair(described, rules_for(release))
        write_model(folder, written)
    return Converted(changed, [])


def _precision(topology: Json) -> Iterator[str]:
    """Yield in what precision a model computes where that is not float32."""
    kinds = {_policy(layer["config"].get("dtype")) for layer in all_layers(topology) if not is_model(layer)}
    for kind in sorted(kinds - {"float32", "int32", "bool", ""}):
        yield f"its precision, {kind}: TensorFlow.js computes in float32, and predictions differ by that"


def _policy(written: Any) -> str:
    return str(written["config"].get("name", "")) if isinstance(written, dict) else str(written or "")


def _weights(found: Source) -> list[Weight]:
    return [
        Weight(found.named[stored.place].name, stored.shape, stored.dtype, stored.read)
        for stored in found.stored
        if stored.place in found.named
    ]


def _described(found: Source, manifest: list[Json]) -> Json:
    return {
        "format": "layers-model",
        "generatedBy": f"keras v{found.keras}",
        "convertedBy": f"tensorledger v{__version__}",
        "modelTopology": {"keras_version": found.keras, "backend": "tensorflow", "model_config": found.topology},
        "weightsManifest": manifest,
    }

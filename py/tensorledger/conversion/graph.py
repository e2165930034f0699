"""A SavedModel as a graph model for TensorFlow.js: converted by tensorflowjs, written by our own writer, or refused."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tensorledger.conversion.folder import TfjsModel, read_tfjs
from tensorledger.conversion.fused import PLAIN, apart, runs, terms
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.topology import Json
from tensorledger.conversion.writing import SHARD, write_model, write_weights
from tensorledger.environment.folders import whole_folder

FIRST = "1.1.0"
"""The first release that loads a graph model that is written today."""


def convert_graph(saved_model: Path, destination: Path, *, shard: int = SHARD, quantize: str = "") -> None:
    """Write ``destination/model.json`` and its weights out of a SavedModel folder, complete or not at all.

    Imports the whole of tensorflowjs, which takes seconds and 0.4 GB: run it in a process that may. Raises
    CannotConvert where TensorFlow.js has not an operation, or would predict something else.
    """
    from tensorflowjs.converters import tf_saved_model_conversion_v2

    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "graph"
        try:
            # Loops as functions: those of single operations, TensorFlow.js does not run.
            tf_saved_model_conversion_v2.convert_tf_saved_model(str(saved_model), str(written), control_flow_v2=True)
        except ValueError as error:
            raise CannotConvert(f"it cannot be a graph model: {error}") from error
        except AssertionError as error:  # "Identity is not in graph": the model could not be frozen
            raise CannotConvert(
                "it cannot be a graph model: it writes to a variable when it predicts, as BatchNormalization that is "
                "called with training=True does to its averages; call layers without"
            ) from error
        described = json.loads((written / "model.json").read_text(encoding="utf-8"))
        if any(one["dtype"] == "string" for group in described["weightsManifest"] for one in group["weights"]):
            raise CannotConvert("it cannot be a graph model: it has a table of strings, which is not written here")
        model = _repaired(read_tfjs(written))
        refused = list(_refusals(model.topology))
        if refused:
            raise CannotConvert("it cannot be a graph model:\n" + "\n".join(refused))
        write_graph(model, destination, shard=shard, quantize=quantize)


def write_graph(model: TfjsModel, destination: Path, *, shard: int = SHARD, quantize: str = "") -> None:
    """Write a graph model to another folder, its weights anew. Raises CannotConvert, FileExistsError, OSError."""
    with whole_folder(destination) as folder:
        manifest = write_weights(folder, model.weights, shard=shard, quantize=quantize)
        write_model(folder, {**model.described, "weightsManifest": manifest})


def _repaired(model: TfjsModel) -> TfjsModel:
    """Return a graph model in which only a bias, of one dimension, is added by a fused operation.

    TensorFlow fuses sums with anything, as in the steps of a recurrent layer, and the wasm backend refuses those. What
    TensorFlow.js does not run at all is taken apart too.
    """
    biases = {weight.name for weight in model.weights if len(weight.shape) == 1}
    nodes = [
        one
        for node in model.topology["node"]
        for one in (apart(node) if node["op"] in PLAIN and not (set(terms(node)) <= biases and runs(node)) else [node])
    ]
    return replace(model, described={**model.described, "modelTopology": {**model.topology, "node": nodes}})


def _refusals(graph: Json) -> Iterator[str]:
    functions = graph.get("library", {}).get("function", [])
    for node in [*graph["node"], *(node for function in functions for node in function.get("nodeDef", []))]:
        if node["op"].startswith("FusedBatchNorm") and node.get("attr", {}).get("is_training", {}).get("b", True):
            yield (
                f"{node['name']} ({node['op']}): it normalizes by the batch that it is given, as in training, and "
                "TensorFlow.js would predict NaN; LayerNormalization of tf_keras is such a one: convert it as a layers "
                "model, or save it with Keras 3"
            )
        if node["op"] == "Conv2DBackpropInput" and set(_integers(node, "dilations")) - {1}:
            yield (
                f"{node['name']} ({node['op']}): TensorFlow.js has no dilated transposed convolution, and would "
                "predict something else; use dilation_rate=1 and train again"
            )
        if node["op"] in _RANDOM:
            yield (
                f"{node['name']} ({node['op']}): it draws random numbers when it predicts, so that no two predictions "
                "are alike; call layers such as Dropout without training=True"
            )


def _integers(node: Json, attribute: str) -> list[int]:
    return [int(number) for number in node.get("attr", {}).get(attribute, {}).get("list", {}).get("i", [])]


_RANDOM = (
    "RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt", "Multinomial",
    "StatelessRandomUniform", "StatelessRandomUniformV2", "StatelessRandomNormal", "StatelessRandomNormalV2",
)  # fmt: skip


def tensor_names(model: TfjsModel, part: str) -> dict[str, str]:
    """Return the graph's ``inputs`` or ``outputs`` as the SavedModel called them, each with the name of its node."""
    signature: dict[str, Any] = model.described.get("signature", {}).get(part, {})
    return {key.partition(":")[0]: str(one["name"]).partition(":")[0] for key, one in signature.items()}

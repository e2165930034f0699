"""A graph model of TensorFlow.js, run by TensorFlow, its weights as variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from google.protobuf import json_format
from tensorflow.core.framework import graph_pb2

from tensorledger.conversion.folder import TfjsModel
from tensorledger.conversion.fused import apart
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.topology import Json
from tensorledger.predictions.input import Input
from tensorledger.predictions.runnable import Runnable


def of_graph(model: TfjsModel) -> Runnable:
    """Return a graph model as one that can be asked. Raises CannotConvert where TensorFlow cannot run it."""
    try:
        graph = json_format.ParseDict(_plain(model.topology), graph_pb2.GraphDef())
    except (json_format.ParseError, LookupError, TypeError, ValueError) as error:
        raise CannotConvert(f"{model.file}: its graph is broken: {error}") from error
    weights = {weight.name: weight.read() for weight in model.weights}
    for node in [*graph.node, *(node for function in graph.library.function for node in function.node_def)]:
        if node.op == "Const" and node.name not in weights and not node.attr["value"].tensor.ByteSize():
            raise CannotConvert(f"{model.file} is not whole: there is no weight {node.name}")
        if node.op == "Const" and node.name in weights:
            kind = tf.as_dtype(node.attr["dtype"].type)
            node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(weights[node.name], kind))
    inputs, outputs = _inputs(model, graph), _outputs(model, graph)
    variables = {
        node.name: tf.Variable(weights[node.name], trainable=False)
        for node in graph.node
        if node.op == "Const" and node.name in weights and weights[node.name].dtype == np.float32
        if weights[node.name].ndim
    }

    def imported() -> None:
        with tf.name_scope("weights_of_the_graph"):  # a name that its operations do not have
            read = {f"{name}:0": variable.read_value() for name, variable in variables.items()}
        tf.graph_util.import_graph_def(graph, name="", input_map=read)

    try:
        function = tf.compat.v1.wrap_function(imported, [])
        pruned = function.prune([f"{one.name}:0" for one in inputs], list(outputs.values()))
    except (ValueError, KeyError, tf.errors.OpError) as error:
        raise CannotConvert(f"{model.file}: TensorFlow cannot run its graph: {error}") from error

    def call(tensors: Sequence[Any]) -> list[Any]:
        said = pruned(*tensors)
        return list(said) if isinstance(said, list | tuple) else [said]

    runnable = Runnable(inputs, tuple(outputs), tuple(variables.values()), call)
    object.__setattr__(runnable, "_function", function)
    return runnable


def _plain(graph: Json) -> Json:
    """Return a graph without fused operations, of which TensorFlow has not all."""
    library = graph.get("library", {})
    functions = [
        {**function, "nodeDef": [one for node in function.get("nodeDef", []) for one in apart(node)]}
        for function in library.get("function", [])
    ]
    nodes = [one for node in graph["node"] for one in apart(node)]
    return {**graph, "node": nodes, **({"library": {**library, "function": functions}} if functions else {})}


def _inputs(model: TfjsModel, graph: Any) -> tuple[Input, ...]:
    """Return what the graph takes, by the names of its nodes."""
    found = []
    for node in graph.node:
        if node.op in ("Placeholder", "PlaceholderV2"):
            shape = node.attr["shape"].shape
            sizes = tuple(None if one.size < 0 else one.size for one in shape.dim)
            found.append(Input(node.name, sizes, tf.as_dtype(node.attr["dtype"].type).name))
    if not found:
        raise CannotConvert(f"{model.file}: its graph takes nothing")
    return tuple(found)


def _outputs(model: TfjsModel, graph: Any) -> dict[str, str]:
    """Return the graph's outputs, each by what it is called with the name of its tensor."""
    signature = model.described.get("signature") or model.described.get("userDefinedMetadata", {}).get("signature")
    if signature and signature.get("outputs"):
        return {key: str(one["name"]) for key, one in sorted(signature["outputs"].items())}
    read = {source.lstrip("^").partition(":")[0] for node in graph.node for source in node.input}
    ends = [node.name for node in graph.node if node.name not in read and node.op not in ("Const", "NoOp")]
    return {name: f"{name}:0" for name in ends}

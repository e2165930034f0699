"""What would load in TensorFlow.js and be wrong, or not load at all: each is refused, with what to do instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tensorledger.conversion.tfjs import LAYERS
from tensorledger.conversion.topology import Json, all_layers, is_model

AS_GRAPH = "convert it as a graph model"


@dataclass(frozen=True)
class Refused:
    """One kind of layer, or of its options, that a layers model cannot have."""

    name: str
    why: str
    instead: str
    concerns: Callable[[Json, bool], bool]
    """Whether a layer is one, and whether Keras 3 made it."""


def _is(*kinds: str) -> Callable[[Json, bool], bool]:
    return lambda layer, keras_3: layer["class_name"] in kinds


def _activation(name: str) -> Callable[[Json], bool]:
    return lambda layer: any(key.endswith("activation") and value == name for key, value in layer["config"].items())


def _called_in_training(layer: Json, keras_3: bool) -> bool:
    if layer["class_name"] not in ("BatchNormalization", "Dropout", "GaussianNoise", "GaussianDropout", "AlphaDropout"):
        return False
    for node in layer.get("inbound_nodes", []):
        given = [node.get("kwargs", {})] if isinstance(node, dict) else [call[3] for call in node if len(call) > 3]
        if any(kwargs.get("training") is True for kwargs in given):
            return True
    return False


def _is_custom(layer: Json, keras_3: bool) -> bool:
    return bool(layer.get("registered_name")) and not str(layer.get("module", "")).startswith(("keras", "tf_keras"))


KINDS: tuple[Refused, ...] = (
    Refused(
        "lambda",
        "a Lambda layer is Python code",
        f"write it with layers, or {AS_GRAPH}",
        _is("Lambda"),
    ),
    Refused(
        "custom-layer",
        "a layer of a class of one's own is Python code",
        f"register a class of that name in TensorFlow.js and convert with the module, or {AS_GRAPH}",
        _is_custom,
    ),
    Refused(
        "operation",
        "TensorFlow.js has no layer for an operation of keras.ops",
        f"use a layer that does it, or {AS_GRAPH}",
        lambda layer, keras_3: ".ops." in str(layer.get("module") or ""),
    ),
    Refused(
        "no-such-layer",
        "TensorFlow.js has no such layer",
        AS_GRAPH,
        lambda layer, keras_3: layer["class_name"] not in (*LAYERS, "Lambda") and not _is_custom(layer, keras_3),
    ),
    Refused(
        "reset-after",
        "TensorFlow.js computes a GRU without reset_after, which is Keras's default, and would predict something else",
        f"make it with reset_after=False and train again, or {AS_GRAPH}",
        lambda layer, keras_3: layer["class_name"] in ("GRU", "GRUCell") and bool(layer["config"].get("reset_after")),
    ),
    Refused(
        "hard-sigmoid",
        "hard_sigmoid is x / 6 + 0.5 in Keras 3, and 0.2 x + 0.5 in TensorFlow.js",
        f"use sigmoid and train again, or {AS_GRAPH}",
        lambda layer, keras_3: keras_3 and _activation("hard_sigmoid")(layer),
    ),
    Refused(
        "causal",
        "TensorFlow.js has no causal convolution",
        f"pad with ZeroPadding1D on the left and use padding='valid', or {AS_GRAPH}",
        lambda layer, keras_3: layer["config"].get("padding") == "causal",
    ),
    Refused(
        "training-mode",
        "it is called with training=True, which TensorFlow.js forgets, so that it would predict something else",
        f"call it without, or {AS_GRAPH}",
        _called_in_training,
    ),
    Refused(
        "rms-scaling",
        "TensorFlow.js has no rms_scaling",
        AS_GRAPH,
        lambda layer, keras_3: bool(layer["config"].get("rms_scaling")),
    ),
    Refused(
        "interpolation",
        "TensorFlow.js places the corners otherwise when it interpolates, and would predict something else",
        f"use interpolation='nearest' and train again, or {AS_GRAPH}",
        lambda layer, keras_3: (
            layer["class_name"] == "UpSampling2D" and layer["config"].get("interpolation") != "nearest"
        ),
    ),
    Refused(
        "size",
        "TensorFlow.js states another size of its output than it has, and what follows does not fit",
        f"do it before the model, or {AS_GRAPH}",
        _is("Resizing", "CenterCrop", "CategoryEncoding"),
    ),
    Refused(
        "elu-alpha",
        "TensorFlow.js has ELU with alpha 1 only",
        f"use alpha=1 and train again, or {AS_GRAPH}",
        lambda layer, keras_3: layer["class_name"] == "ELU" and layer["config"].get("alpha", 1) != 1,
    ),
    Refused(
        "grouped",
        "TensorFlow.js has no grouped convolution, and would predict something else or not load",
        AS_GRAPH,
        lambda layer, keras_3: (layer["config"].get("groups") or 1) != 1,
    ),
)


def refusals(topology: Json, keras_3: bool) -> Iterator[str]:
    """Yield what a layers model could not have of a model: each with the layer's name, why, and what to do instead."""
    for layer in all_layers(topology):
        if is_model(layer):
            continue
        for kind in KINDS:
            if kind.concerns(layer, keras_3):
                yield f"{layer['config'].get('name', '?')} ({layer['class_name']}): {kind.why}; {kind.instead}"

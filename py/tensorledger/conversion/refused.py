"""What would load in TensorFlow.js and be wrong, or not load at all: each is refused, with what to do instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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


_ACTIVATIONS = (
    "elu", "selu", "relu", "relu6", "linear", "sigmoid", "hard_sigmoid", "hardSigmoid", "softplus", "softsign", "tanh",
    "softmax", "log_softmax", "logSoftmax", "gelu", "gelu_new", "mish", "swish", "silu",
)  # fmt: skip
"""Those that TensorFlow.js has, as Keras and as TensorFlow.js write them."""


def _is_unknown_activation(layer: Json, keras_3: bool) -> bool:
    return any(
        key.endswith("activation") and isinstance(value, str) and value not in _ACTIVATIONS
        for key, value in layer["config"].items()
    )


def _is_along_another_axis(layer: Json, keras_3: bool) -> bool:
    """Say whether a layer works along an axis that is not the last, or, of a Softmax, is not known to be."""
    if layer["class_name"] not in ("BatchNormalization", "Softmax"):
        return False
    axis, shape = layer["config"].get("axis", -1), (layer.get("build_config") or {}).get("input_shape") or []
    axes = axis if isinstance(axis, list) else [axis]
    if not shape and layer["class_name"] == "Softmax":
        return axes != [-1]  # a file of Keras 3 does not say how many axes there are
    return bool(shape) and any(one not in (-1, len(shape) - 1) for one in axes)


def _is_other_transposed(layer: Json, keras_3: bool) -> bool:
    if layer["class_name"] not in ("Conv2DTranspose", "Conv3DTranspose"):
        return False
    rate = layer["config"].get("dilation_rate") or 1
    dilated = any(one != 1 for one in (rate if isinstance(rate, list) else [rate]))
    return dilated or layer["config"].get("output_padding") is not None


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
        "no-such-activation",
        "TensorFlow.js has no such activation",
        AS_GRAPH,
        _is_unknown_activation,
    ),
    Refused(
        "relu-options",
        "TensorFlow.js has of ReLU's options max_value only, and would predict something else",
        f"use LeakyReLU and train again, or {AS_GRAPH}",
        lambda layer, keras_3: (
            layer["class_name"] == "ReLU"
            and any(bool(layer["config"].get(option)) for option in ("negative_slope", "threshold"))
        ),
    ),
    Refused(
        "another-axis",
        "TensorFlow.js does it along the last axis only, and would predict something else or throw",
        f"put Permute around it, or {AS_GRAPH}",
        _is_along_another_axis,
    ),
    Refused(
        "keepdims",
        "TensorFlow.js has no keepdims, and would predict another shape",
        f"use Reshape after it, or {AS_GRAPH}",
        lambda layer, keras_3: layer["class_name"].startswith("Global") and bool(layer["config"].get("keepdims")),
    ),
    Refused(
        "transposed-options",
        "TensorFlow.js has a transposed convolution without dilation_rate and output_padding only",
        "use neither and train again",
        _is_other_transposed,
    ),
    Refused(
        "random-width",
        "TensorFlow.js computes a negative size for its output, and does not load it",
        f"leave it out, as it does nothing when predicting, or {AS_GRAPH}",
        _is("RandomWidth"),
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
        lambda layer, keras_3: "Conv" in layer["class_name"] and (layer["config"].get("groups") or 1) != 1,
    ),
)


GRAPHS: tuple[Refused, ...] = (
    Refused(
        "integer-lookup",
        "the graph of it loses the shape of what it looks up in TensorFlow.js",
        "look indices up before the model",
        _is("IntegerLookup"),
    ),
    Refused(
        "equalization",
        "TensorFlow.js throws in its graph, since it reads a shape that is not known as none",
        "do it before the model",
        _is("ContrastLimitedAdaptiveHistogramEqualization"),
    ),
    Refused(
        "sparsemax",
        "TensorFlow.js throws in its graph, since shapes do not fit",
        "use softmax and train again",
        lambda layer, keras_3: _activation("sparsemax")(layer),
    ),
    Refused(
        "loop-of-images",
        "TensorFlow.js disposes a tensor that the loop in its graph still needs",
        "convert it as a layers model, or save it with Keras 3",
        lambda layer, keras_3: (
            not keras_3 and layer["class_name"] == "ConvLSTM2D" and bool(layer["config"].get("return_sequences"))
        ),
    ),
)
"""What a graph model cannot have; beside these, conversion/graph.py refuses operations."""


def graph_refusals(layers: Iterable[Json], keras_3: bool) -> Iterator[str]:
    """Yield what a graph model could not have of layers, as ``refusals`` does."""
    for layer in layers:
        for kind in GRAPHS:
            if kind.concerns(layer, keras_3):
                yield _said(layer, kind)


def _said(layer: Json, kind: Refused) -> str:
    return f"{layer['config'].get('name', '?')} ({layer['class_name']}): {kind.why}; {kind.instead}"


def _masks_averaged(topology: Json) -> Iterator[str]:
    """Yield the layers that average over steps which a mask leaves out in Keras, and not in TensorFlow.js."""
    layers = [layer for layer in all_layers(topology) if not is_model(layer)]
    masked = any(layer["class_name"] == "Masking" or layer["config"].get("mask_zero") for layer in layers)
    for layer in layers:
        if masked and layer["class_name"] == "GlobalAveragePooling1D":
            yield (
                f"{layer['config'].get('name', '?')} (GlobalAveragePooling1D): TensorFlow.js averages masked steps "
                f"too, and would predict something else; do without masks and train again, or {AS_GRAPH}"
            )


def refusals(topology: Json, keras_3: bool) -> Iterator[str]:
    """Yield what a layers model could not have of a model: each with the layer's name, why, and what to do instead."""
    for layer in all_layers(topology):
        if is_model(layer):
            continue
        for kind in KINDS:
            if kind.concerns(layer, keras_3):
                yield _said(layer, kind)
    yield from _masks_averaged(topology)

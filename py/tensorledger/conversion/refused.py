"""What would load in TensorFlow.js and be wrong, or not load at all: each is refused, with what to do instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tensorledger.conversion.tfjs import LAYERS
from tensorledger.conversion.topology import Json, all_layers, is_model, layers_of

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


def _given(layer: Json) -> Iterator[Json]:
    """Yield what a layer is called with beside tensors, call by call."""
    for node in layer.get("inbound_nodes", []):
        yield from (
            [node.get("kwargs", {})] if isinstance(node, dict) else [given for call in node for given in call[3:4]]
        )


def _called_in_training(layer: Json, keras_3: bool) -> bool:
    return any(kwargs.get("training") is True for kwargs in _given(layer))


def _is_custom(layer: Json, keras_3: bool) -> bool:
    return bool(layer.get("registered_name")) and not str(layer.get("module", "")).startswith(("keras", "tf_keras"))


def _is_operation(layer: Json) -> bool:
    return ".ops." in str(layer.get("module") or "")


_ACTIVATIONS = (
    "elu", "selu", "relu", "relu6", "linear", "sigmoid", "hard_sigmoid", "hardSigmoid", "softplus", "softsign", "tanh",
    "softmax", "log_softmax", "logSoftmax", "gelu", "gelu_new", "mish", "swish", "silu",
)  # fmt: skip
"""Those that TensorFlow.js has, as Keras and as TensorFlow.js write them."""


def _is_unknown_activation(layer: Json, keras_3: bool) -> bool:
    return any(
        key.endswith("activation") and value is not None and (isinstance(value, dict) or value not in _ACTIVATIONS)
        for key, value in layer["config"].items()
    )


_INITIALIZERS = (
    "Zeros", "Ones", "Constant", "RandomUniform", "RandomNormal", "TruncatedNormal", "VarianceScaling", "Orthogonal",
    "OrthogonalInitializer", "Identity", "IdentityInitializer", "GlorotUniform", "GlorotNormal", "HeUniform",
    "HeNormal", "LecunUniform", "LecunNormal", "LeCunUniform", "LeCunNormal",
)  # fmt: skip
_REGULARIZERS = ("L1", "L2", "L1L2")
"""Those that TensorFlow.js has, or has by a name that rules give them."""


def _is_unknown(part: str, known: tuple[str, ...]) -> Callable[[Json, bool], bool]:
    return lambda layer, keras_3: any(
        key.endswith(part) and isinstance(value, dict) and value.get("class_name") not in known
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


def _is_dilated(layer: Json) -> bool:
    rate = layer["config"].get("dilation_rate") or 1
    return any(one != 1 for one in (rate if isinstance(rate, list) else [rate]))


def _is_other_transposed(layer: Json, keras_3: bool) -> bool:
    if layer["class_name"] not in ("Conv2DTranspose", "Conv3DTranspose"):
        return False
    return _is_dilated(layer) or layer["config"].get("output_padding") is not None


_BESIDE = ("name", "go_backwards", "dtype", "trainable", "seed")
"""What tells two layers apart that compute the same."""


def _same(one: Any) -> Any:
    """Return a layer's config as far as it says what is computed."""
    if isinstance(one, dict):
        return {key: _same(value) for key, value in one.items() if key not in (*_BESIDE, "shared_object_id")}
    return one


def _has_another_backward_layer(layer: Json, keras_3: bool) -> bool:
    backward = layer["config"].get("backward_layer")
    if layer["class_name"] != "Bidirectional" or not isinstance(backward, dict):
        return False
    forward = layer["config"]["layer"]
    return (backward["class_name"], _same(backward["config"])) != (forward["class_name"], _same(forward["config"]))


def _wraps_much(layer: Json, keras_3: bool) -> bool:
    inner = layer["config"].get("layer")
    return layer["class_name"] == "TimeDistributed" and (
        is_model(inner) or inner["class_name"] in ("Bidirectional", "TimeDistributed")
    )


def _dilated_depthwise(layer: Json, keras_3: bool) -> bool:
    return layer["class_name"] == "DepthwiseConv2D" and _is_dilated(layer)


def _type_of_input(layer: Json, keras_3: bool) -> bool:
    kind = layer["config"].get("dtype")
    return layer["class_name"] == "InputLayer" and isinstance(kind, str) and kind not in ("float32", "int32", "bool")


def _given_a_mask(layer: Json, keras_3: bool) -> bool:
    return any(kwargs.get("mask") is not None for kwargs in _given(layer))


KINDS: tuple[Refused, ...] = (
    Refused(
        "given-mask",
        "it is called with a mask, which TensorFlow.js takes for an input, or forgets",
        f"call it without and train again, or {AS_GRAPH}",
        _given_a_mask,
    ),
    Refused(
        "both-ways",
        "TensorFlow.js does not load a Bidirectional around an RNN of cells",
        f"use the layer of that kind, as LSTM, or {AS_GRAPH}",
        lambda layer, keras_3: (
            layer["class_name"] == "Bidirectional" and layer["config"]["layer"]["class_name"] == "RNN"
        ),
    ),
    Refused(
        "backward-layer",
        "TensorFlow.js makes the backward layer like the forward one, and would predict something else",
        f"give none of its own and train again, or {AS_GRAPH}",
        _has_another_backward_layer,
    ),
    Refused(
        "wrapped",
        "TensorFlow.js does not find the weights of a model or a wrapper inside a TimeDistributed",
        AS_GRAPH,
        _wraps_much,
    ),
    Refused(
        "dilated-depthwise",
        "TensorFlow.js has no dilated depthwise convolution, and would predict another shape",
        AS_GRAPH,
        _dilated_depthwise,
    ),
    Refused(
        "input-type",
        "TensorFlow.js has numbers of the types float32 and int32 only, and takes nothing for this input",
        f"make the input float32 or int32, or {AS_GRAPH}",
        _type_of_input,
    ),
    Refused(
        "concatenation",
        "TensorFlow.js counts the axis of a Concatenate from the start, or takes the last",
        f"count it from the start, or {AS_GRAPH}",
        lambda layer, keras_3: layer["class_name"] == "Concatenate" and layer["config"].get("axis", -1) < -1,
    ),
    Refused(
        "channels-first",
        "TensorFlow.js pools a sequence over its steps, wherever its channels are",
        f"use data_format='channels_last', or {AS_GRAPH}",
        lambda layer, keras_3: (
            layer["class_name"] in ("GlobalAveragePooling1D", "GlobalMaxPooling1D")
            and layer["config"].get("data_format") == "channels_first"
        ),
    ),
    Refused(
        "time-major",
        "TensorFlow.js takes sequences with the batch first",
        f"use time_major=False, or {AS_GRAPH}",
        lambda layer, keras_3: bool(layer["config"].get("time_major")),
    ),
    Refused(
        "lambda",
        "a Lambda layer is Python code",
        f"write it with layers, or {AS_GRAPH}",
        _is("Lambda"),
    ),
    Refused(
        "custom-layer",
        "a layer of a class of one's own is Python code",
        f"{AS_GRAPH}, with --import MODULE",
        _is_custom,
    ),
    Refused(
        "operation",
        "TensorFlow.js has no layer for an operation of keras.ops",
        f"use a layer that does it, or {AS_GRAPH}",
        lambda layer, keras_3: _is_operation(layer) and layer["class_name"] not in ("NotEqual", "Any"),
    ),
    Refused(
        "mask",
        "it makes the mask of a Masking, or of an Embedding with mask_zero, as a functional model of Keras 3 does",
        f"make the model Sequential or without a mask, or {AS_GRAPH}",
        lambda layer, keras_3: _is_operation(layer) and layer["class_name"] in ("NotEqual", "Any"),
    ),
    Refused(
        "no-such-layer",
        "TensorFlow.js has no such layer",
        AS_GRAPH,
        lambda layer, keras_3: (
            layer["class_name"] not in (*LAYERS, "Lambda")
            and not _is_custom(layer, keras_3)
            and not _is_operation(layer)
        ),
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
        "no-such-initializer",
        "TensorFlow.js has no such initializer, and does not load what has one",
        AS_GRAPH,
        _is_unknown("_initializer", _INITIALIZERS),
    ),
    Refused(
        "no-such-regularizer",
        "TensorFlow.js has no such regularizer, and does not load what has one",
        f"use L1, L2, L1L2 or none, or {AS_GRAPH}",
        _is_unknown("_regularizer", _REGULARIZERS),
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
    name = layer["config"].get("name", "?") if isinstance(layer["config"], dict) else "?"
    return f"{name} ({layer['class_name']}): {kind.why}; {kind.instead}"


_MASKED = (
    "InputLayer", "Masking", "Embedding", "LSTM", "GRU", "SimpleRNN", "Dense", "Dropout", "SpatialDropout1D",
    "GaussianDropout", "GaussianNoise", "AlphaDropout", "BatchNormalization", "LayerNormalization", "Activation",
)  # fmt: skip
"""Layers that TensorFlow.js is right with beside a mask, where no recurrent one returns its sequences."""


def _masks(topology: Json) -> Iterator[str]:
    """Yield what stands beside a mask that TensorFlow.js would hand on otherwise than Keras, or forget."""
    layers = list(all_layers(topology))
    own = [layer for layer in layers if not is_model(layer)]
    if not any(layer["class_name"] == "Masking" or layer["config"].get("mask_zero") for layer in own):
        return
    others = [layer for layer in own if layer["class_name"] not in _MASKED or layer["config"].get("return_sequences")]
    others += [layer for layer in layers[1:] if is_model(layer)]
    for layer in others[:1]:
        name = layer["config"].get("name", "?") if isinstance(layer["config"], dict) else "?"
        yield (
            f"{name} ({layer['class_name']}): it is beside a mask, which TensorFlow.js hands on otherwise than Keras, "
            f"or forgets, so that padded sequences would be predicted otherwise; do without masks and train again, "
            f"or {AS_GRAPH}"
        )


_KEEP_RANK = (
    "Dense", "Activation", "ReLU", "LeakyReLU", "ELU", "PReLU", "ThresholdedReLU", "Softmax", "Dropout", "AlphaDropout",
    "GaussianDropout", "GaussianNoise", "BatchNormalization", "LayerNormalization", "Rescaling",
)  # fmt: skip
_RANK_2 = ("Flatten", "GlobalAveragePooling1D", "GlobalMaxPooling1D", "GlobalAveragePooling2D", "GlobalMaxPooling2D")


def _normalized_along_axis_1(topology: Json) -> Iterator[str]:
    """Yield batch normalizations along axis 1 of which a file does not say that it is the last, nor what is before."""
    for model in filter(is_model, all_layers(topology)):
        layers = layers_of(model)
        for place, layer in enumerate(layers):
            if layer["class_name"] != "BatchNormalization" or (layer.get("build_config") or {}).get("input_shape"):
                continue
            if layer["config"].get("axis") in (1, [1]) and not _is_rank_2(layers, place):
                yield (
                    f"{layer['config'].get('name', '?')} (BatchNormalization): its axis, 1, is not known to be the "
                    f"last, along which alone TensorFlow.js normalizes; save the model as a .keras file, or {AS_GRAPH}"
                )


def _is_rank_2(layers: list[Json], place: int) -> bool:
    """Say whether what a layer is given is known to be rows of numbers."""
    names = {layer["config"].get("name"): at for at, layer in enumerate(layers) if isinstance(layer["config"], dict)}
    while place >= 0:
        layer = layers[place]
        if layer["class_name"] in _RANK_2:
            return True
        if layer["class_name"] == "InputLayer":
            config = layer["config"]
            return len(config.get("batch_shape") or config.get("batch_input_shape") or ()) == 2
        if layer["class_name"] not in _KEEP_RANK:
            return False
        nodes = layer.get("inbound_nodes")
        if not nodes:
            place -= 1
            continue
        node = nodes[0]
        before = node["args"][0]["config"]["keras_history"][0] if isinstance(node, dict) else node[0][0]
        place = names.get(before, -1)
    return False


def _outputs_twice(topology: Json) -> Iterator[str]:
    """Yield models that give one tensor twice."""
    for model in filter(is_model, all_layers(topology)):
        ends = model["config"].get("output_layers") if isinstance(model["config"], dict) else None
        several = [tuple(one) for one in ends if isinstance(one, list)] if isinstance(ends, list) else []
        if len(set(several)) != len(several):
            yield f"{model['config']['name']}: it gives one tensor twice, which TensorFlow.js does not; give it once"


def _by_name(topology: Json) -> Iterator[str]:
    """Yield the models inside whose inputs or outputs have names; TensorFlow.js takes and gives them in order."""
    for layer in list(all_layers(topology))[1:]:
        config = layer["config"] if isinstance(layer["config"], dict) else {}
        if is_model(layer) and any(isinstance(config.get(key), dict) for key in ("input_layers", "output_layers")):
            yield (
                f"{config['name']} ({layer['class_name']}): a model inside that takes or gives tensors by name, where "
                f"TensorFlow.js has their order only; make it of lists, or {AS_GRAPH}"
            )


def refusals(topology: Json, keras_3: bool) -> Iterator[str]:
    """Yield what a layers model could not have of a model: each with the layer's name, why, and what to do instead."""
    training = next(kind for kind in KINDS if kind.name == "training-mode")
    for layer in all_layers(topology):
        for kind in [training] if is_model(layer) else KINDS:
            if kind.concerns(layer, keras_3):
                yield _said(layer, kind)
    yield from _masks(topology)
    yield from _by_name(topology)
    yield from _normalized_along_axis_1(topology)
    yield from _outputs_twice(topology)

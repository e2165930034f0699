"""What Keras writes and TensorFlow.js does not read, one rule for each repair.

A rule rewrites a parsed ``model.json`` and returns a new one. Each is here because without it a release of
TensorFlow.js refuses the model or predicts something else; tests take them out one at a time to see that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from packaging.specifiers import SpecifierSet

from tensorledger.conversion.topology import Json, all_layers, changed, is_model, layers_of


@dataclass(frozen=True)
class Rule:
    """One rewrite, with why it is needed and where."""

    name: str
    reason: str
    """What happens without it."""
    kerases: tuple[str, ...]
    """Whose models need it: "keras" (3), "tf-keras" (2)."""
    applies_to: str
    """The part of the model that it changes."""
    rewrite: Callable[[Json], Json]
    """From a whole ``model.json`` to a new one; equal if there is nothing to repair."""
    releases: str = ""
    """The releases of TensorFlow.js that need it, as ``<0.13``; all, if empty."""

    def concerns(self, release: str) -> bool:
        """Say whether a release of TensorFlow.js needs it."""
        return SpecifierSet(self.releases).contains(release, prereleases=True)


def repair(model: Json, rules: Iterable[Rule]) -> tuple[Json, list[str]]:
    """Return ``model`` after all ``rules``, in order, and the names of those that changed something."""
    applied = []
    for rule in rules:
        rewritten = rule.rewrite(model)
        if rewritten != model:
            applied.append(rule.name)
        model = rewritten
    return model, applied


def _each_layer(model: Json, change: Callable[[Json], Json]) -> Json:
    """Return ``model`` with ``change`` applied to the model itself and to every layer in it."""
    topology = model["modelTopology"]
    return {**model, "modelTopology": {**topology, "model_config": changed(topology["model_config"], change)}}


def _each_config(model: Json, change: Callable[[str, Json], Json]) -> Json:
    """Return ``model`` with ``change(class name, config)`` as the config of each layer that is no model."""

    def of_layer(layer: Json) -> Json:
        if is_model(layer):
            return layer
        return {**layer, "config": change(layer["class_name"], layer["config"])}

    return _each_layer(model, of_layer)


# --- how layers are connected


def _is_tensor(value: Any) -> bool:
    return isinstance(value, dict) and value.get("class_name") == "__keras_tensor__"


def _mapped(value: Any, change: Callable[[Json], Any]) -> Any:
    """Return what a layer is called with, with ``change`` in the place of each tensor."""
    if _is_tensor(value):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(inner, change) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mapped(inner, change) for inner in value]
    return value


def _references(value: Any) -> list[Any]:
    """Return the references of a model's inputs or outputs, however they are nested."""
    if isinstance(value, dict):
        return [one for inner in value.values() for one in _references(inner)]
    if isinstance(value, list) and value and isinstance(value[0], str):
        return [value]
    return [one for inner in value for one in _references(inner)]


def _name(layer: Json) -> str:
    """Return a layer's name. A Sequential that is a bare list has it beside its config."""
    config = layer["config"]
    return str(config["name"] if isinstance(config, dict) else layer["name"])


def _nested_calls(model: Json) -> Json:
    def of_model(layer: Json) -> Json:
        if not is_model(layer) or "output_layers" not in layer["config"]:
            return layer
        config = layer["config"]
        models = {_name(inner): inner["class_name"] for inner in config["layers"] if is_model(inner)}
        nodes = [node for inner in config["layers"] for node in inner.get("inbound_nodes", [])]
        if not models or not any(isinstance(node, dict) for node in nodes):
            return layer

        def reference(history: list[Any]) -> list[Any]:
            name, node, *rest = history
            return [name, node + 1, *rest] if name in models else history

        def tensor(one: Json) -> Json:
            return {**one, "config": {**one["config"], "keras_history": reference(one["config"]["keras_history"])}}

        layers = [
            {**inner, "inbound_nodes": _mapped(inner["inbound_nodes"], tensor)} if "inbound_nodes" in inner else inner
            for inner in config["layers"]
        ]
        # There, and only there, Keras 3 counts calls of a functional model from 1 itself.
        outputs = [
            reference(one) if models.get(one[0]) == "Sequential" else one
            for one in _references(config["output_layers"])
        ]
        return {**layer, "config": {**config, "layers": layers, "output_layers": outputs}}

    return _each_layer(model, of_model)


def _inbound_nodes(model: Json) -> Json:
    def node(called: Any) -> Any:
        if not isinstance(called, dict):
            return called
        tensors: list[list[Any]] = []
        _mapped([called["args"], called.get("kwargs", {})], lambda one: tensors.append(one["config"]["keras_history"]))
        given = {
            key: value
            for key, value in called.get("kwargs", {}).items()
            if value is not None and key not in ("mask", "training") and not _holds_tensor(value)
        }
        return [[*history[:3], given] for history in tensors]

    def of_layer(layer: Json) -> Json:
        if not layer.get("inbound_nodes"):
            return layer
        return {**layer, "inbound_nodes": [node(called) for called in layer["inbound_nodes"]]}

    return _each_layer(model, of_layer)


def _holds_tensor(value: Any) -> bool:
    found: list[Any] = []
    _mapped(value, found.append)
    return bool(found)


def _triples(model: Json) -> Json:
    def of_model(layer: Json) -> Json:
        config = layer["config"]
        if not is_model(layer) or "output_layers" not in config:
            return layer
        ends = {key: _references(config[key]) for key in ("input_layers", "output_layers")}
        return {**layer, "config": {**config, **ends}}

    return _each_layer(model, of_model)


# --- what layers are configured with


def _batch_input_shape(model: Json) -> Json:
    def change(kind: str, config: Json) -> Json:
        if kind != "InputLayer":
            return config
        return {"batch_input_shape" if key == "batch_shape" else key: value for key, value in config.items()}

    return _each_config(model, change)


def _both_rates(model: Json) -> Json:
    def rates(value: Any) -> Any:
        if not isinstance(value, dict) or value.get("class_name") not in ("L1", "L2"):
            return value
        # A rate that is not given would be 0.01 in TensorFlow.js.
        return {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.0, **value["config"]}}

    def change(_kind: str, config: Json) -> Json:
        return {key: rates(value) if key.endswith("_regularizer") else value for key, value in config.items()}

    return _each_config(model, change)


def _separable_kernel(model: Json) -> Json:
    def change(kind: str, config: Json) -> Json:
        if kind != "SeparableConv2D":
            return config
        unknown = ("kernel_initializer", "kernel_regularizer", "kernel_constraint")
        return {key: value for key, value in config.items() if key not in unknown}

    return _each_config(model, change)


def _one_direction(model: Json) -> Json:
    def change(kind: str, config: Json) -> Json:
        if kind != "Bidirectional":
            return config
        inner = config["layer"]
        name = inner["config"]["name"].removeprefix("forward_")
        config = {key: value for key, value in config.items() if key != "backward_layer"}
        return {**config, "layer": {**inner, "config": {**inner["config"], "name": name}}}

    return _each_config(model, change)


def _leaky_alpha(model: Json) -> Json:
    def change(kind: str, config: Json) -> Json:
        if kind != "LeakyReLU":
            return config
        return {"alpha" if key == "negative_slope" else key: value for key, value in config.items()}

    return _each_config(model, change)


def _swish(model: Json) -> Json:
    def change(_kind: str, config: Json) -> Json:
        return {
            key: "swish" if key.endswith("activation") and value == "silu" else value for key, value in config.items()
        }

    return _each_config(model, change)


def _initializer_names(model: Json) -> Json:
    def named(value: Any) -> Any:
        if not isinstance(value, dict) or value.get("class_name") not in (
            "OrthogonalInitializer",
            "IdentityInitializer",
        ):
            return value
        return {**value, "class_name": value["class_name"].removesuffix("Initializer")}

    def change(_kind: str, config: Json) -> Json:
        return {key: named(value) if key.endswith("_initializer") else value for key, value in config.items()}

    return _each_config(model, change)


# --- older releases


def _wrapped_names(model: Json) -> Json:
    layers = all_layers(model["modelTopology"]["model_config"])
    wrapping = {layer["config"]["name"] for layer in layers if layer["class_name"] == "TimeDistributed"}

    def bare(weight: Json) -> Json:
        wrapper, _, inner = weight["name"].partition("/")
        return {**weight, "name": f"{wrapper}/{inner.rpartition('/')[2]}"} if wrapper in wrapping else weight

    groups = model["weightsManifest"]
    manifest = [{**group, "weights": [bare(weight) for weight in group["weights"]]} for group in groups]
    return {**model, "weightsManifest": manifest}


def _plain_model(model: Json) -> Json:
    def of_model(layer: Json) -> Json:
        return {**layer, "class_name": "Model"} if layer["class_name"] == "Functional" else layer

    return _each_layer(model, of_model)


def _bare_sequential(model: Json) -> Json:
    def of_model(layer: Json) -> Json:
        return {**layer, "config": layers_of(layer)} if layer["class_name"] == "Sequential" else layer

    return _each_layer(model, of_model)


_SCALINGS = {
    "GlorotUniform": ("fan_avg", "uniform"),
    "GlorotNormal": ("fan_avg", "normal"),
    "HeUniform": ("fan_in", "uniform"),
    "HeNormal": ("fan_in", "normal"),
    "LecunUniform": ("fan_in", "uniform"),
    "LecunNormal": ("fan_in", "normal"),
}
"""Initializers with names of their own, as what they are: mode and distribution."""
_TWICE = ("HeUniform", "HeNormal")
"""Those whose scale is 2, not 1."""


def _spelled_out(*kinds: str) -> Callable[[Json], Json]:
    """Return what rewrites initializers of these kinds as VarianceScaling, which every release has."""

    def spelled(value: Any) -> Any:
        if not isinstance(value, dict) or value.get("class_name") not in kinds:
            return value
        mode, distribution = _SCALINGS[value["class_name"]]
        scale = 2.0 if value["class_name"] in _TWICE else 1.0
        seed = value["config"].get("seed")
        config = {"scale": scale, "mode": mode, "distribution": distribution, "seed": seed}
        return {"class_name": "VarianceScaling", "config": config}

    def change(_kind: str, config: Json) -> Json:
        return {key: spelled(value) if key.endswith("_initializer") else value for key, value in config.items()}

    return lambda model: _each_config(model, change)


BOTH = ("keras", "tf-keras")
RULES: tuple[Rule, ...] = (
    Rule(
        name="nested-calls",
        reason="a call of a model inside is not found: Keras 3 counts its calls from 0, and TensorFlow.js from 1",
        kerases=("keras",),
        applies_to="models inside models",
        rewrite=_nested_calls,
    ),
    Rule(
        name="inbound-nodes",
        reason="layers are not connected: Keras 3 describes a call by its arguments, and not by the layers before it",
        kerases=("keras",),
        applies_to="functional models",
        rewrite=_inbound_nodes,
    ),
    Rule(
        name="triples",
        reason="inputs and outputs are not found: of one, or by name, Keras 3 gives no list of them",
        kerases=("keras",),
        applies_to="functional models",
        rewrite=_triples,
    ),
    Rule(
        name="batch-input-shape",
        reason="InputLayer finds no batchInputShape: Keras 3 calls it batch_shape",
        kerases=("keras",),
        applies_to="InputLayer",
        rewrite=_batch_input_shape,
    ),
    Rule(
        name="both-rates",
        reason="Unknown regularizer: L1, L2; there is only L1L2, with the two rates",
        kerases=BOTH,
        applies_to="regularizers",
        rewrite=_both_rates,
    ),
    Rule(
        name="separable-kernel",
        reason="SeparableConv2D refuses kernel_initializer, kernel_regularizer and kernel_constraint",
        kerases=("tf-keras",),
        applies_to="SeparableConv2D",
        rewrite=_separable_kernel,
    ),
    Rule(
        name="one-direction",
        reason="Bidirectional makes the backward layer itself, and names both after the one it is given",
        kerases=("keras",),
        applies_to="Bidirectional",
        rewrite=_one_direction,
    ),
    Rule(
        name="leaky-alpha",
        reason="LeakyReLU takes its slope as alpha, and silently 0.3 without",
        kerases=("keras",),
        applies_to="LeakyReLU",
        rewrite=_leaky_alpha,
    ),
    Rule(
        name="swish",
        reason="Unknown activation: silu, which is called swish",
        kerases=("keras",),
        applies_to="activations",
        rewrite=_swish,
    ),
    Rule(
        name="initializer-names",
        reason="Unknown initializer: OrthogonalInitializer, as Keras 3.0 to 3.6 call what is called Orthogonal",
        kerases=("keras",),
        applies_to="initializers",
        rewrite=_initializer_names,
    ),
    Rule(
        name="lecun",
        reason="Unknown initializer: LecunNormal, LecunUniform, which have a larger C; they are spelled out",
        kerases=BOTH,
        applies_to="initializers",
        rewrite=_spelled_out("LecunUniform", "LecunNormal"),
    ),
    Rule(
        name="wrapped-names",
        reason="weights of a TimeDistributed are not found: their names have that of the layer inside too",
        kerases=BOTH,
        applies_to="TimeDistributed",
        rewrite=_wrapped_names,
        releases="<2.0.1",
    ),
    Rule(
        name="plain-model",
        reason="Unknown layer: Functional; a functional model is a Model",
        kerases=BOTH,
        applies_to="functional models",
        rewrite=_plain_model,
        releases="<2.4",
    ),
    Rule(
        name="variance-scaling",
        reason="Unknown initializer: GlorotUniform and the like; they are spelled out as VarianceScaling",
        kerases=BOTH,
        applies_to="initializers",
        rewrite=_spelled_out("GlorotUniform", "GlorotNormal", "HeUniform", "HeNormal"),
        releases="<0.13.3",
    ),
    Rule(
        name="bare-sequential",
        reason="a Sequential's config is the list of its layers, and nothing around it",
        kerases=BOTH,
        applies_to="Sequential",
        rewrite=_bare_sequential,
        releases="<0.13.2",
    ),
)

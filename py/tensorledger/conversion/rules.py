"""What is wrong with the layers models that tensorflowjs writes, one rule for each repair.

A rule rewrites a parsed ``model.json`` and returns a new one. Each is here because without it TensorFlow.js 4.22
refuses the model or predicts something else; tests/py/test_conversion.py takes them out one at a time to see that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from packaging.specifiers import SpecifierSet

Json = dict[str, Any]


class CannotConvert(ValueError):
    """The model has no form that TensorFlow.js would load, or its file is not one we read; the message says which."""


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
    changed = []
    for rule in rules:
        rewritten = rule.rewrite(model)
        if rewritten != model:
            changed.append(rule.name)
        model = rewritten
    return model, changed


# --- the rewrites


def _batch_input_shape(model: Json) -> Json:
    def change(kind: str, config: Json) -> Json:
        if kind != "InputLayer":
            return config
        return {"batch_input_shape" if key == "batch_shape" else key: value for key, value in config.items()}

    return _each_layer(model, change)


def _both_rates(model: Json) -> Json:
    def rates(value: Any) -> Any:
        if not isinstance(value, dict) or value.get("class_name") not in ("L1", "L2"):
            return value
        # A rate that is not given would be 0.01 in TensorFlow.js.
        return {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.0, **value["config"]}}

    def change(_kind: str, config: Json) -> Json:
        return {key: rates(value) if key.endswith("_regularizer") else value for key, value in config.items()}

    return _each_layer(model, change)


def _weight_names(model: Json) -> Json:
    names = dict(_names_by_place(_layers(model)))

    def renamed(weight: Json) -> Json:
        return {**weight, "name": names.get(weight["name"], weight["name"])}

    manifest = [{**group, "weights": [renamed(weight) for weight in group["weights"]]} for group in _manifest(model)]
    return {**model, "weightsManifest": manifest}


def _bare_sequential(model: Json) -> Json:
    topology = model["modelTopology"]
    whole = topology["model_config"]
    if whole["class_name"] != "Sequential":
        return model
    return {**model, "modelTopology": {**topology, "model_config": {**whole, "config": _layers(model)}}}


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


def _variance_scaling(model: Json) -> Json:
    def spelled(value: Any) -> Any:
        if not isinstance(value, dict) or value.get("class_name") not in _SCALINGS:
            return value
        mode, distribution = _SCALINGS[value["class_name"]]
        scale = 2.0 if value["class_name"] in _TWICE else 1.0
        seed = value["config"].get("seed")
        config = {"scale": scale, "mode": mode, "distribution": distribution, "seed": seed}
        return {"class_name": "VarianceScaling", "config": config}

    def change(_kind: str, config: Json) -> Json:
        return {key: spelled(value) if key.endswith("_initializer") else value for key, value in config.items()}

    return _each_layer(model, change)


RULES: tuple[Rule, ...] = (
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
        kerases=("keras", "tf-keras"),
        applies_to="regularizers",
        rewrite=_both_rates,
    ),
    Rule(
        name="weight-names",
        reason="weights are found by layer and name; a .keras file numbers them, under a folder named after the class",
        kerases=("keras", "tf-keras"),
        applies_to="weights manifest",
        rewrite=_weight_names,
    ),
    Rule(
        name="variance-scaling",
        reason="Unknown initializer: GlorotUniform and the like; they are spelled out as VarianceScaling",
        kerases=("keras", "tf-keras"),
        applies_to="initializers",
        rewrite=_variance_scaling,
        releases="<0.13.3",
    ),
    Rule(
        name="bare-sequential",
        reason="a Sequential's config is the list of its layers, and nothing around it",
        kerases=("keras", "tf-keras"),
        applies_to="Sequential",
        rewrite=_bare_sequential,
        releases="<0.13.2",
    ),
)


# --- the parts of a model.json

_WEIGHTS = {"Dense": ("kernel", "bias"), "LayerNormalization": ("gamma", "beta")}
"""Each layer's weights, in the order in which Keras keeps them."""
_OPTIONAL = {"bias": "use_bias", "gamma": "scale", "beta": "center"}
"""The layer's option without which it does not have that weight."""


def _layers(model: Json) -> list[Json]:
    config = model["modelTopology"]["model_config"]["config"]
    layers: list[Json] = config if isinstance(config, list) else config["layers"]
    return layers


def _manifest(model: Json) -> list[Json]:
    manifest: list[Json] = model["weightsManifest"]
    return manifest


def _each_layer(model: Json, change: Callable[[str, Json], Json]) -> Json:
    """Return ``model`` with ``change(class name, config)`` as the config of each layer."""
    topology = model["modelTopology"]
    whole = topology["model_config"]
    layers = [{**layer, "config": change(layer["class_name"], layer["config"])} for layer in _layers(model)]
    config = layers if isinstance(whole["config"], list) else {**whole["config"], "layers": layers}
    changed = {**topology, "model_config": {**whole, "config": config}}
    return {**model, "modelTopology": changed}


def _names_by_place(layers: list[Json]) -> Iterator[tuple[str, str]]:
    """Yield the place of each weight in a .keras file and its name in TensorFlow.js.

    The place of the second Dense layer's bias, say, is ``layers/dense_1/vars/1``, whatever the layer's own name is.
    """
    seen: Counter[str] = Counter()
    for layer in layers:
        kind, config = layer["class_name"], layer["config"]
        folder = re.sub(r"(?<=.)(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "_", kind).lower()
        place = f"layers/{folder}_{seen[folder]}" if seen[folder] else f"layers/{folder}"
        seen[folder] += 1
        weights = [name for name in _WEIGHTS.get(kind, ()) if config.get(_OPTIONAL.get(name, ""), True)]
        for index, name in enumerate(weights):
            yield f"{place}/vars/{index}", f"{config['name']}/{name}"

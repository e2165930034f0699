"""How a model was compiled, from Keras's words into TensorFlow.js's."""

from __future__ import annotations

from typing import Any

from tensorledger.conversion.topology import Json, is_model, layers_of

LOSSES = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "kld": "kullback_leibler_divergence",
    "kl_divergence": "kullback_leibler_divergence",
    "log_cosh": "logcosh",
}
"""Losses by other names than TensorFlow.js's. Keras has short names, and classes."""
KNOWN_LOSSES = (
    "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_logarithmic_error",
    "squared_hinge", "hinge", "categorical_hinge", "logcosh", "categorical_crossentropy",
    "sparse_categorical_crossentropy", "binary_crossentropy", "kullback_leibler_divergence", "poisson",
)  # fmt: skip
OPTIMIZERS = {
    "SGD": ("learning_rate",),
    "RMSprop": ("learning_rate", "rho", "momentum", "epsilon"),
    "Adam": ("learning_rate", "beta_1", "beta_2", "epsilon"),
    "Adagrad": ("learning_rate",),
    "Adamax": ("learning_rate", "beta_1", "beta_2", "epsilon"),
}
"""What TensorFlow.js's optimizers of these names take. Three steps of them change weights as Keras's do, to 2e-5; its
Adadelta and its centered RMSProp change them otherwise, the latter to NaN."""
METRICS = {
    "binary_accuracy": "binaryAccuracy",
    "categorical_accuracy": "categoricalAccuracy",
    "mse": "mse",
    "mean_squared_error": "mse",
    "mae": "mae",
    "mean_absolute_error": "mae",
}


class Untranslated(ValueError):
    """TensorFlow.js has nothing that is the same; the message says of what."""


def training(compiled: Json, topology: Json) -> Json:
    """Return the ``trainingConfig`` of a model that was compiled. Raises Untranslated."""
    optimizer = compiled.get("optimizer") or compiled.get("optimizer_config")
    if isinstance(optimizer, str):
        raise Untranslated(f"an optimizer by its name alone, {optimizer!r}")
    if not isinstance(optimizer, dict):
        raise Untranslated("no optimizer")
    loss = _loss(compiled.get("loss"))
    metrics = [_metric(metric, loss, topology) for metric in _flat(compiled.get("metrics"))]
    return {"optimizer_config": _optimizer(optimizer), "loss": loss, "metrics": metrics}


def _optimizer(described: Json) -> Json:
    kind = str(described["class_name"]).rpartition(">")[2]
    config = described["config"]
    if kind not in OPTIMIZERS:
        raise Untranslated(f"the optimizer {kind}")
    if not isinstance(config.get("learning_rate"), int | float):
        raise Untranslated("a learning rate that changes")
    for option in (
        "nesterov",
        "amsgrad",
        "weight_decay",
        "clipnorm",
        "clipvalue",
        "global_clipnorm",
        "use_ema",
        "centered",
    ):
        if config.get(option):
            raise Untranslated(f"{kind} with {option}")
    if kind == "SGD" and config.get("momentum"):
        raise Untranslated("SGD with momentum")
    kept = {option: config[option] for option in OPTIMIZERS[kind] if option in config}
    if kind != "RMSprop":
        return {"class_name": kind, "config": kept}
    kept["decay"] = kept.pop("rho", 0.9)
    return {"class_name": "RMSProp", "config": kept}


def _loss(described: Any) -> Any:
    if isinstance(described, dict) and "class_name" in described:
        config = described.get("config") or {}
        if isinstance(config, str):
            return _loss(config)  # a function by its name
        # A class with other options than its plain function's would be another loss.
        for option, plain in (("from_logits", False), ("label_smoothing", 0), ("delta", 1.0)):
            if config.get(option, plain) != plain:
                raise Untranslated(f"the loss {described['class_name']} with {option}")
        described = config.get("name") or described["class_name"]
    if isinstance(described, dict):
        return {name: _loss(one) for name, one in described.items()}
    if isinstance(described, list):
        return [_loss(one) for one in described]
    name = LOSSES.get(described, described)
    if name not in KNOWN_LOSSES:
        raise Untranslated(f"the loss {described!r}")
    return name


def _metric(described: Any, loss: Any, topology: Json) -> str:
    if isinstance(described, dict):
        config = described.get("config") or {}
        if isinstance(config, str):
            return _metric(config, loss, topology)  # a function by its name
        described = config.get("fn") or config.get("name") or described.get("class_name")
    if described in ("accuracy", "acc"):
        return _accuracy(loss, topology)
    if described not in METRICS:
        raise Untranslated(f"the metric {described!r}")
    return METRICS[described]


def _accuracy(loss: Any, topology: Json) -> str:
    """Return which accuracy Keras means: it goes by how many numbers a prediction has, TensorFlow.js by the loss."""
    losses = list(loss.values()) if isinstance(loss, dict) else loss
    if losses in ("sparse_categorical_crossentropy", ["sparse_categorical_crossentropy"]):
        return "accuracy"
    units = _units(topology)
    if units is None:
        raise Untranslated("the metric 'accuracy' of a model whose output is no Dense layer's")
    return "binaryAccuracy" if units == 1 else "categoricalAccuracy"


def _units(model: Json) -> int | None:
    """Return how many numbers a model's one output has for a row, where a Dense layer says so."""
    layers = layers_of(model)
    ends = model["config"].get("output_layers") if isinstance(model["config"], dict) else None
    if ends is not None:
        names = [ends] if isinstance(ends[0], str) else ends
        layers = [layer for layer in layers if len(names) == 1 and layer["config"]["name"] == names[0][0]]
    if not layers:
        return None
    last = layers[-1]
    return _units(last) if is_model(last) else last["config"].get("units") if last["class_name"] == "Dense" else None


def _flat(metrics: Any) -> list[Any]:
    if metrics is None:
        return []
    if isinstance(metrics, list):
        return [one for inner in metrics for one in _flat(inner)]
    if isinstance(metrics, dict) and "class_name" not in metrics:
        return [one for inner in metrics.values() for one in _flat(inner)]
    return [metrics]

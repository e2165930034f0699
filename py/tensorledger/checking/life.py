"""The life of a model that someone brought, in Python: loaded, used as ``usage`` says, released.

``params``: ``path`` and ``kind``, "keras" or "saved-model"; ``imports`` and ``run_code``;
``usage``, "loaded", "predicted" or "trained"; ``reference``, the folder with its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tensorledger.conversion.folder import read_weights
from tensorledger.predictions.load import custom_objects, load_model
from tensorledger.predictions.runnable import arguments
from tensorledger.runtime.context import Context

CUSTOM: dict[str, Any]
INPUTS: list[Any]


def prepare(context: Context) -> None:
    """Read the inputs and import what defines the user's own classes, before the baseline."""
    global CUSTOM, INPUTS
    params = context.params
    CUSTOM = custom_objects(params["imports"])
    stored = {weight.name: weight.read() for weight in read_weights(Path(params["reference"]) / "model.json")}
    count = sum(name.startswith("random/input/") for name in stored)
    INPUTS = [context.tf.constant(stored[f"random/input/{number}"]) for number in range(count)]


def scenario(context: Context) -> Iterator[str]:
    """Live through one life."""
    model = _open(context)
    yield "loaded"
    usage = context.params["usage"]
    if usage == "predicted":
        prediction = _predict(context, model)
        yield "predicted"
        del prediction
    if usage == "trained":
        _fit(context, model)
        yield "trained"
    del model
    context.release()
    yield "released"


def _open(context: Context) -> Any:
    path = Path(context.params["path"])
    if context.params["kind"] == "saved-model":
        model = context.tf.saved_model.load(str(path))
    else:
        model = load_model(path, context.keras, CUSTOM, run_code=context.params["run_code"])
    context.held.append(model)
    return model


def _predict(context: Context, model: Any) -> Any:
    if context.params["kind"] == "saved-model":
        serve = model.signatures["serving_default"]
        _, specified = serve.structured_input_signature
        return serve(**dict(zip(specified, INPUTS, strict=True)))
    return model(arguments(model, INPUTS), training=False)


def _fit(context: Context, model: Any) -> None:
    rows = INPUTS[0].shape[0]
    sparse = "sparse" in str(model.loss if isinstance(model.loss, str) else getattr(model.loss, "name", model.loss))
    targets = [np.zeros((rows, 1) if sparse else (rows, *output.shape[1:]), np.float32) for output in model.outputs]
    given = INPUTS if len(INPUTS) > 1 else INPUTS[0]
    model.fit(given, targets if len(targets) > 1 else targets[0], batch_size=rows, epochs=1, verbose=0)

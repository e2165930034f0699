"""What a model predicts for the inputs that it is tried on, with what rounding explains, as a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tensorledger.conversion.folder import dequantized
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.writing import Weight, quantized, write_model, write_weights
from tensorledger.predictions import inputs as made_up
from tensorledger.predictions.bound import bounds
from tensorledger.predictions.input import Array
from tensorledger.predictions.runnable import Runnable

OWN = "own"
"""What the user's own inputs are called."""
Predict = Callable[[Sequence[Array]], list[Array]]


def write_reference(
    model: Runnable, folder: Path, own: Path | None = None, smaller: Mapping[str, Predict] | None = None
) -> list[dict[str, Any]]:
    """Write ``folder``, in the form of a model's weights: ``random/input/0``, ``random/output/0``, and so on.

    ``random/bound/0``: for each number of the output, what rounding explains; ``random/error/layers/0``: by how much it
    is off in that of ``smaller``, the same model with quantized weights. Returns for each set of inputs its name, rows,
    and for each output the largest ``bound`` and ``error`` in it, whether all of it are ``finite`` numbers, and the
    ``largest`` of it. Raises CannotConvert where the model cannot be asked.
    """
    said, tensors = [], []
    sets = _fitting(model)
    if own is not None:
        sets[OWN] = made_up.read(own, model.inputs)
    for name, arrays in sets.items():
        predictions = model.predict(arrays)
        finite = [bool(np.isfinite(output.astype(np.float64)).all()) for output in predictions]
        bound = bounds(model, arrays, predictions) if all(finite) else [np.zeros(one.shape) for one in predictions]
        errors = {
            form: [
                np.abs(there.astype(np.float64) - one) for there, one in zip(predict(arrays), predictions, strict=True)
            ]
            for form, predict in (smaller or {}).items()
        }
        parts = {"input": arrays, "output": predictions, "bound": bound}
        parts |= {f"error/{form}": error for form, error in errors.items()}
        for part, listed in parts.items():
            tensors += [_tensor(f"{name}/{part}/{number}", array) for number, array in enumerate(listed)]
        outputs = [
            {
                "bound": _largest(bound[number]),
                "finite": finite[number],
                "largest": _largest(output),
                "error": {form: _largest(error[number]) for form, error in errors.items()},
            }
            for number, output in enumerate(predictions)
        ]
        said.append({"inputs": name, "rows": len(arrays[0]) if arrays[0].ndim else 1, "outputs": outputs})
    folder.mkdir(parents=True)
    write_model(folder, {"weightsManifest": write_weights(folder, tensors)})
    return said


def _largest(output: Array) -> float:
    return float(np.abs(np.nan_to_num(output.astype(np.float64))).max(initial=0.0))


def _fitting(model: Runnable) -> dict[str, list[Array]]:
    """Return made-up inputs of the first size that the model can predict with."""
    error: Exception | None = None
    for size in made_up.SIZES:
        found = made_up.sets(model.inputs, size)
        try:
            model.predict(found["random"])
        except Exception as raised:
            error = raised
        else:
            return found
        if all(None not in one.shape[1:] for one in model.inputs):
            break
    raise CannotConvert(f"the model cannot predict: {type(error).__name__}: {error}") from error


def _tensor(name: str, array: Array) -> Weight:
    return Weight(name, array.shape, str(array.dtype), lambda: array)


def with_quantized_weights(model: Runnable, kind: str) -> Predict:
    """Return what predicts with the weights that TensorFlow.js makes of a model's, quantized."""

    def predict(arrays: Sequence[Array]) -> list[Array]:
        own = [np.asarray(weight.numpy()) for weight in model.weights]
        try:
            for weight, values in zip(model.weights, own, strict=True):
                if values.dtype == np.float32 and values.ndim:
                    weight.assign(dequantized(*quantized(values, kind)))
            return model.predict(arrays)
        finally:
            for weight, values in zip(model.weights, own, strict=True):
                weight.assign(values)

    return predict

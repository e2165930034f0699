"""Models as people bring them, of each kind, saved by ``python brought.py DESTINATION`` (imports TensorFlow)."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from pathlib import Path
from typing import Any

from tensorledger.models.zoo import KERASES, classifier, extractor

OWN_LAYER = """
import keras


@keras.saving.register_keras_serializable(package="brought")
class Twice(keras.layers.Layer):
    def call(self, inputs):
        return inputs + inputs
"""
FUNCTION = """
def model(keras):
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(3, "relu"), keras.layers.Dense(2)])


def other():
    import keras
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)], name="other")


def nothing(keras):
    return None


def broken(keras):
    raise RuntimeError("the file's own fault")
"""


def _small(keras: Any) -> Any:
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, "relu"), keras.layers.Dense(2)])


def save(destination: Path) -> None:
    """Make and save all of them."""
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
    for source, module in KERASES.items():
        keras: Any = importlib.import_module(module)
        folder = destination / source
        folder.mkdir(parents=True)
        for name, make in {"classifier": classifier, "extractor": extractor}.items():
            make(keras).save(folder / f"{name}.keras")
            make(keras).save(folder / f"{name}.h5")
        small = _small(keras)
        small.compile("adam", "mean_squared_error")
        small.save(folder / "small.keras")
        small.export(folder / "exported")
        if source == "tf-keras":
            small.save(folder / "saved", save_format="tf")
            keras.Sequential([keras.Input((6,)), keras.layers.LayerNormalization()]).save(folder / "normalized.keras")
        else:
            _of_keras_3(keras, folder)
    (destination / "function.py").write_text(FUNCTION, encoding="utf-8")


def _of_keras_3(keras: Any, folder: Path) -> None:
    gated = [keras.Input((5, 4)), keras.layers.GRU(3), keras.layers.Dense(2)]
    keras.Sequential(gated).save(folder / "gru.keras")
    mark = folder / "code-ran"
    written = f"lambda x: (open({str(mark)!r}, 'w').close(), x * 2)[1]"
    function = eval(written)
    keras.Sequential([keras.Input((6,)), keras.layers.Lambda(function), keras.layers.Dense(2)]).save(
        folder / "lambda.keras"
    )
    mark.unlink(missing_ok=True)
    (folder / "own_layers.py").write_text(OWN_LAYER, encoding="utf-8")
    sys.path.insert(0, str(folder))
    own = importlib.import_module("own_layers")
    keras.Sequential([keras.Input((6,)), own.Twice(), keras.layers.Dense(2)]).save(folder / "own.keras")
    broken = _small(keras)
    *others, bias = broken.get_weights()
    bias[0] = float("nan")
    broken.set_weights([*others, bias])
    broken.save(folder / "nan.keras")
    two = keras.Input((6,), name="one"), keras.Input((3,), name="other")
    joined = keras.layers.Concatenate()(list(two))
    outputs = [keras.layers.Dense(2, name="first")(joined), keras.layers.Dense(1, name="second")(joined)]
    keras.Model(list(two), outputs).save(folder / "two.keras")
    wide = keras.Sequential([keras.Input((6,)), keras.layers.Dense(4)], name="wide")
    kernel, bias = wide.get_weights()
    wide.set_weights([kernel * 1e6, bias])
    wide.save(folder / "wide.keras")


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        save(Path(sys.argv[1]))

"""``python -m tensorledger.models.build DESTINATION``: the zoo's models, made by each Keras, saved and converted.

Imports TensorFlow; whoever only wants the files asks models/saved.py. ``DESTINATION/<source>/<model>/`` holds
``model.keras``, as that Keras saved it; ``tfjs/model.json`` with its weights; for Keras 3 ``graph/model.json`` with
them (tf_keras's LayerNormalization would predict NaN as a graph); and ``reference.json``, what that Keras predicts:

    {"predictions": [0.1, ...], "shape": [8, 10], "bound": 5e-06, "rules": ["batch-input-shape"]}

``predictions`` are those of the freshly built model for data/samples.py, row by row; ``bound`` is what rounding can
make of them elsewhere (models/rounding.py); ``rules`` are those that the conversion needed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tensorledger.conversion.graph import convert_graph
from tensorledger.conversion.layers import convert_layers
from tensorledger.data import samples
from tensorledger.environment.folders import whole_folder
from tensorledger.models import rounding
from tensorledger.models.zoo import KERASES, MODELS


def build(destination: Path) -> None:
    """Build all of ``destination``, or nothing of it. Raises ``FileExistsError`` if it has something in it."""
    # Read when TensorFlow and Keras are imported.
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
    with whole_folder(destination) as folder:
        for source, module in KERASES.items():
            keras: Any = importlib.import_module(module)
            for name, make in MODELS.items():
                _write(make(keras), folder / source / name)


def _write(model: Any, folder: Path) -> None:
    folder.mkdir(parents=True)
    x = samples.inputs(model.input_shape[1])
    predictions = np.asarray(model(x, training=False))
    if not np.isfinite(predictions).all():
        raise ArithmeticError(f"{folder.parent.name}'s {folder.name} predicts what is not a finite number")
    model.save(folder / "model.keras")
    rules = convert_layers(folder / "model.keras", folder / "tfjs").rules
    if folder.parent.name == "keras":
        with tempfile.TemporaryDirectory() as exported:
            model.export(exported, format="tf_saved_model", verbose=False)
            convert_graph(Path(exported), folder / "graph")
    reference = {
        "predictions": predictions.ravel().tolist(),
        "shape": list(predictions.shape),
        "bound": rounding.bound(model, x),
        "rules": rules,
    }
    (folder / "reference.json").write_text(json.dumps(reference), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tensorledger.models.build", description=build.__doc__)
    parser.add_argument("destination", type=Path)
    build(parser.parse_args().destination)

"""A Keras 3 model as a graph model for TensorFlow.js, by tensorflowjs's own conversion."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tensorledger.environment.folders import whole_folder


def convert_graph(model: Any, destination: Path) -> None:
    """Export a Keras 3 model and convert it: ``destination/model.json`` and its weights, complete or not at all.

    Imports the whole of tensorflowjs, which takes seconds and 0.4 GB: run it in a process that may.
    """
    from tensorflowjs.converters import tf_saved_model_conversion_v2

    with whole_folder(destination) as folder, tempfile.TemporaryDirectory() as exported:
        model.export(exported, format="tf_saved_model", verbose=False)
        tf_saved_model_conversion_v2.convert_tf_saved_model(exported, str(folder))

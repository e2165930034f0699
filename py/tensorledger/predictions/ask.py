"""Asks for what takes TensorFlow: this side never imports it."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.sources import Given
from tensorledger.conversion.writing import SHARD

LOOPS = (
    "it has loops, as of recurrent layers whose sequences have no known length, or one of more than 256: predict() "
    "throws; await model.executeAsync(inputs)"
)
LIMIT = 1800.0
"""Seconds that it may take."""
LINES_SHOWN = 20


class TensorFlowBroke(Exception):
    """The process with TensorFlow did not answer; the message has the end of what it printed."""


@dataclass(frozen=True)
class Request:
    """What is asked for."""

    source: Given
    keras: str
    """The Keras that loads it: "keras", "tf-keras"; empty for what is loaded without one."""
    imports: Sequence[str] = ()
    run_code: bool = False
    save: Path | None = None
    """Where to save the Keras model, as a .keras file."""
    graph: Path | None = None
    """Where to write it as a graph model."""
    shard: int = SHARD
    quantize: str = ""
    reference: Path | None = None
    """The folder to write predictions to; see predictions/reference.py."""
    inputs: Path | None = None
    """The user's own inputs for them."""


@dataclass(frozen=True)
class Answer:
    """What was said."""

    inputs: list[dict[str, Any]]
    """Of each its ``name``, ``shape`` and ``dtype``."""
    outputs: list[str]
    weights: int
    """How many the model has, without the seeds of random layers."""
    trained: bool = False
    """Whether it is compiled and has weights that training would change."""
    graph: dict[str, Any] = field(default_factory=dict)
    """The names of a graph model's nodes for its ``inputs`` and ``outputs``."""
    refused: dict[str, str] = field(default_factory=dict)
    """Why it cannot be a graph model, under "graph"."""
    reference: list[dict[str, Any]] = field(default_factory=list)

    def notes(self) -> list[str]:
        """Return what there is to know of the graph model when it is used."""
        return [LOOPS] if self.graph.get("loops") else []


def ask(request: Request) -> Answer:
    """Have it done in a process of its own. Raises CannotConvert, and TensorFlowBroke where no answer came."""
    if importlib.util.find_spec("tensorflow") is None:
        raise TensorFlowBroke("TensorFlow is not installed: pip install 'tensorledger[harness]'")
    source = request.source
    graph = {"destination": str(request.graph.absolute()), "shard": request.shard} if request.graph else None
    reference = None
    if request.reference:
        own = str(request.inputs.absolute()) if request.inputs else None
        reference = {"folder": str(request.reference.absolute()), "inputs": own}
    asked = {
        "path": str(source.path.absolute()),
        "kind": source.kind,
        "function": source.function,
        "keras": request.keras,
        "imports": list(request.imports),
        "run_code": request.run_code,
        "save": str(request.save.absolute()) if request.save else None,
        "graph": graph,
        "quantize": request.quantize,
        "reference": reference,
    }
    with tempfile.TemporaryDirectory(prefix="tensorledger-") as folder:
        question, answer = Path(folder) / "request.json", Path(folder) / "answer.json"
        question.write_text(json.dumps(asked), encoding="utf-8")
        found = _run(question, answer)
    if "cannot" in found:
        raise CannotConvert(str(found["cannot"]).replace(str(source.path.absolute()), str(source.path)))
    return Answer(**found)


def _run(question: Path, answer: Path) -> dict[str, Any]:
    # Which Keras TensorFlow itself calls Keras is to be its own, as in the workers.
    environment = {name: value for name, value in os.environ.items() if name != "TF_USE_LEGACY_KERAS"}
    command = [sys.executable, "-P", "-m", "tensorledger.predictions.child", str(question), str(answer)]
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired as expired:
        raise TensorFlowBroke(f"TensorFlow did not answer within {LIMIT:.0f} s") from expired
    if not answer.is_file():
        last = "\n".join(done.stdout.strip().splitlines()[-LINES_SHOWN:])
        raise TensorFlowBroke(f"the process with TensorFlow ended with status {done.returncode}:\n{last}")
    found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    return found

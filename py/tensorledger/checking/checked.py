"""What a check found, and its object of DESIGN.md, schema ``tensorledger/check/1``. New keys may come."""

from __future__ import annotations

from typing import Any

import msgspec

from tensorledger.conversion.convert import Refusal
from tensorledger.results.result import Result
from tensorledger.verdicts.verdict import AS_EXPECTED

SCHEMA = "tensorledger/check/1"


class Off(msgspec.Struct, frozen=True, kw_only=True):
    """How far one output is off for one set of inputs."""

    inputs: str
    """ "random", "one row", "zeros", "large" or "own"."""
    output: str
    max_abs: float | None
    """Null where a prediction is not a finite number, or there are more or fewer than in Python."""
    max_rel: float | None
    """Of what Python predicts; null also where that is 0 and the other is not."""
    bound: float
    """What rounding explains, and what the quantized weights do: the largest of the output's numbers."""
    times: float | None = None
    """How many times what is explained of the same number a difference is, at most; 1 is allowed."""
    ok: bool
    reason: str = ""


class Parity(msgspec.Struct, frozen=True, kw_only=True):
    """A converted model on one target, held against the model that it was made of."""

    target: str
    format: str
    max_abs: float | None
    """The largest of all outputs and inputs; null where one is null."""
    max_rel: float | None
    ok: bool
    reason: str = ""
    outputs: list[Off] = []
    weights: dict[str, int] = {}
    """How many the loaded model has, and their bytes: ``count``, ``bytes``."""
    expected: dict[str, int] = {}
    """The same of the files, and ``keras``: how many the Keras model has, where it is one of layers."""
    compiled: bool = False
    """Whether it arrived compiled there."""
    trainable: int = 0
    """How many of its weights training would change."""
    error: str = ""
    """What it threw when it was loaded or asked."""


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """The way to release a model on a target, as it was used: the first that leaves nothing, the plainest first."""

    target: str
    format: str
    """ "layers" or "graph"; "keras" or "saved-model" in Python."""
    usage: str
    """ "loaded", "predicted" or "trained"."""
    recipe: str | None
    """Null where none of those tried leaves nothing."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    model: str
    kind: str
    """What it came as: "keras", "h5", "saved-model", "python", "tfjs-layers" or "tfjs-graph"."""
    keras: str
    """The Keras that it is of: "keras" or "tf-keras"; empty for none."""
    quantize: str
    formats: list[str]
    """Those that it was converted to."""
    parity: list[Parity]
    results: list[Result]
    recipes: list[Advice]
    refused: list[Refusal]
    error: str = ""
    """Why nothing could be checked, or not all."""
    quantized: dict[str, dict[str, list[float]]] = {}
    """By format and set of inputs, by how much each output is off for the quantized weights alone."""
    notes: list[str] = []
    """What there is to know when it is used."""
    rules: list[str] = []
    left_out: list[str] = []

    @property
    def ok(self) -> bool:
        """Say whether the model is as it should be everywhere: nothing refused, off, broken or left behind."""
        found = bool(self.parity) and all(one.ok for one in self.parity)
        lives = all(result.verdict in AS_EXPECTED for result in self.results)
        return found and lives and not self.refused and not self.error

    def __repr__(self) -> str:
        """Return the page that the command prints, without colours, for ``assert found.ok, str(found)``."""
        from tensorledger.terminal.check import page
        from tensorledger.terminal.console import plain

        return plain(page(self))

    def document(self) -> dict[str, Any]:
        """Return the object that ``--json`` writes."""
        return {"schema": SCHEMA, "ok": self.ok, **msgspec.to_builtins(self)}

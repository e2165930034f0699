"""Predictions of a converted model on a target, beside those of the model that it was made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from tensorledger.cells.cell import LIMIT
from tensorledger.checking.checked import Off, Parity
from tensorledger.conversion.folder import read_tfjs
from tensorledger.environment.cache import CacheUnusable
from tensorledger.environment.node import NodeMissing
from tensorledger.environment.packages import PackagesMissing
from tensorledger.environment.releases import ReleaseMissing
from tensorledger.environment.tree import tree
from tensorledger.models.saved import saved_model
from tensorledger.protocol.messages import RunScenario
from tensorledger.targets.target import Target
from tensorledger.workers.errors import WorkerFailed
from tensorledger.workers.pool import Workers
from tensorledger.workers.worker import Watch

SCENARIO = "js/check/parity.mjs"


@dataclass(frozen=True)
class Form:
    """A model as it was converted."""

    format: str
    folder: Path
    reference: Path
    """What it is to predict; see predictions/reference.py."""
    sets: list[dict[str, Any]]
    """What that says of each set of inputs."""
    outputs: list[str]
    """What the outputs are called."""
    inputs: list[str]
    nodes: dict[str, list[str]] = field(default_factory=dict)
    """Of a graph: the names of its nodes for ``inputs`` and ``outputs``."""
    weights: int | None = None
    """How many the Keras model has, where it is one of layers."""

    def params(self) -> dict[str, Any]:
        """Return what the scenarios in js/check are handed."""
        return {
            "format": self.format,
            "folder": str(self.folder),
            "reference": str(self.reference),
            "inputs": self.nodes.get("inputs", self.inputs),
            "outputs": self.nodes.get("outputs", self.outputs),
        }


def compare(form: Form, target: Target, workers: Workers) -> Parity:
    """Load a converted model on a target and hold its predictions and weights against the model's."""
    request = RunScenario(
        scenario=str(tree() / SCENARIO),
        model="",
        recipe="",
        cycles=1,
        throws=False,
        params={**form.params(), "sets": form.sets},
    )
    watch = Watch(reached=lambda cycle, name: None, saved_model=saved_model)
    try:
        outcome, _ = workers.run(target, request, watch, LIMIT, keep=False)
    except (WorkerFailed, ReleaseMissing, PackagesMissing, NodeMissing, CacheUnusable) as error:
        return broken(form, target, f"{type(error).__name__}: {error}")
    if outcome.error is not None:
        return broken(form, target, f"{outcome.error.type}: {outcome.error.message}")
    return judged(form, str(target), outcome.told)


def judged(form: Form, target: str, told: Mapping[str, Any]) -> Parity:
    """Return what it means that the scenario told this."""
    outputs = _outputs(form, told["differences"])
    weights = {name: int(number) for name, number in told["weights"].items()}
    expected = _expected(form)
    reason = next((f"{one.inputs}, {one.output}: {one.reason}" for one in outputs if not one.ok), "")
    if not reason and weights != {name: expected[name] for name in weights}:
        reason = f"it has {_counted(weights)}, and its files {_counted(expected)}"
    if not reason and "keras" in expected and weights["count"] != expected["keras"]:
        reason = f"it has {weights['count']} weights, and the model in Keras {expected['keras']}"
    return Parity(
        target=target,
        format=form.format,
        max_abs=_most([one.max_abs for one in outputs]),
        max_rel=_most([one.max_rel for one in outputs]),
        ok=not reason,
        reason=reason,
        outputs=outputs,
        weights=weights,
        expected=expected,
        compiled=bool(told["compiled"]),
        trainable=int(told["trainable"]),
    )


def broken(form: Form, target: Target, error: str) -> Parity:
    """Return what is said of a model that cannot be loaded, or asked, on a target."""
    return Parity(
        target=str(target),
        format=form.format,
        max_abs=None,
        max_rel=None,
        ok=False,
        reason=error.splitlines()[0],
        error=error,
    )


def _outputs(form: Form, differences: Sequence[dict[str, Any]]) -> list[Off]:
    said = {one["inputs"]: one["outputs"] for one in form.sets}
    return [_off(form, one, said[one["inputs"]][one["output"]]) for one in differences]


def _off(form: Form, found: dict[str, Any], reference: dict[str, Any]) -> Off:
    bound = reference["bound"] + reference["error"].get(form.format, 0.0)
    max_abs, reason = found["max_abs"], ""
    if not reference["finite"]:
        reason = "the model itself predicts what is not a finite number, in Python"
    elif list(found["shape"]) != list(found["expected"]):
        reason = f"a prediction of the shape {found['shape']}, and not {found['expected']}"
    elif max_abs is None:
        reason = "a prediction that is not a finite number (NaN or infinite)"
    elif found["times"] > 1:
        times = f", {found['times']:.2g} times what is explained there" if max_abs <= bound else ""
        reason = f"off by {max_abs:.2g}, and rounding explains {bound:.2g}{times}"
    return Off(
        inputs=found["inputs"],
        output=form.outputs[found["output"]],
        max_abs=max_abs,
        max_rel=found["max_rel"],
        bound=bound,
        times=found["times"],
        ok=not reason,
        reason=reason,
    )


def _most(found: Sequence[float | None]) -> float | None:
    numbers = [number for number in found if number is not None]
    return max(numbers, default=0.0) if len(numbers) == len(found) else None


def _expected(form: Form) -> dict[str, int]:
    weights = read_tfjs(form.folder).weights
    sizes = [prod(weight.shape) * (1 if weight.dtype == "bool" else 4) for weight in weights]
    keras = {} if form.weights is None else {"keras": form.weights}
    return {"count": len(weights), "bytes": sum(sizes), **keras}


def _counted(weights: dict[str, int]) -> str:
    return f"{weights['count']} weights of {weights['bytes']:,} bytes"

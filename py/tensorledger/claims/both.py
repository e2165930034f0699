"""The claims that one expectation is met by both runtimes."""

from __future__ import annotations

from tensorledger.claims.claim import Claim, Measure, Measured, Part
from tensorledger.claims.figures import left
from tensorledger.claims.lab import Lab
from tensorledger.expectations.description import describe
from tensorledger.recipes.table import works
from tensorledger.targets.target import Target


def _predicts_the_same(scenario: str) -> Measure:
    def measure(lab: Lab, target: Target) -> Measured:
        result = lab.result(target, scenario)
        figures = {
            f"{found.source}": {"max_abs": found.max_abs, "max_rel": found.max_rel, "bound": found.bound}
            for found in result.parity
        }
        threw = result.error or result.thrown
        if threw is not None and not result.parity:
            figures["threw"] = {"message": threw.message}  # type: ignore[dict-item]
        same = [found.max_abs is not None and found.max_abs <= found.bound for found in result.parity]
        return Measured(scenario, bool(same) and all(same), figures)

    return measure


def _weights_are_the_same(lab: Lab, target: Target) -> Measured:
    weights = describe("classifier").of(target.name)["weights"]
    told = f"{weights.tensors} weights, {weights.bytes} bytes"
    shows = lab.shows(target, "weights")
    said = {}
    for point in shows.cycle.points[:-1] if shows.cycle else ():
        step, _, count = point.name.partition(": ")
        said[step] = count
    figures: dict[str, object] = dict(said)
    if shows.threw:
        figures["threw"] = shows.threw.message
    steps = ("loaded", "predicted", "compiled", "trained")
    return Measured("weights", all(said.get(step) == told for step in steps), figures)


def _released(usage: str, python_usage: str) -> Measure:
    """Return what measures whether the runtime's complete recipe leaves nothing, and no cycle adds anything."""

    def measure(lab: Lab, target: Target) -> Measured:
        used = usage if target.language == "js" else python_usage
        row = lab.row(target, "classifier", used, "complete")
        assert row.left is not None, "a row of the lab's applies"
        growth = row.growth.tensors if row.growth else None
        figures: dict[str, object] = {
            **left(row),
            "tensors a cycle": round(growth or 0, 3),
        }
        figures["a model beside it"] = row.bystander or (row.error.message if row.error else None)
        return Measured(f"classifier, {used}, complete", works(row), figures)

    return measure


CLAIMS = (
    Claim(
        "C1",
        "The same MLP, made in Keras, converted and loaded in TensorFlow.js, predicts the same values.",
        (
            Part(_predicts_the_same("load-predict-dispose"), "the classifier of Keras 3"),
            Part(_predicts_the_same("load-from-tf-keras"), "the classifier of Keras 2"),
        ),
        "tfjs",
    ),
    Claim(
        "C2",
        "Its weights are the same number of tensors and the same bytes in both runtimes at every step of its life.",
        (Part(_weights_are_the_same),),
    ),
    Claim(
        "C3",
        "Released by that runtime's right recipe, it leaves nothing behind in either: no tensor, no byte, no growth.",
        (Part(_released("predicted", "eager"), "untrained"), Part(_released("trained", "fit"), "trained")),
    ),
)

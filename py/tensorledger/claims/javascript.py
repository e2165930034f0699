"""The claims about TensorFlow.js."""

from __future__ import annotations

from packaging.version import Version

from tensorledger.atlas.shows import Shows
from tensorledger.claims.claim import Claim, Measure, Measured, Part
from tensorledger.claims.figures import amount, left, nothing, point
from tensorledger.claims.lab import Lab, Unmeasured
from tensorledger.expectations.description import describe
from tensorledger.expectations.expectation import END
from tensorledger.recipes.row import Row
from tensorledger.targets.target import Target

WEIGHTS = describe("classifier").of("tfjs")["weights"]
"""Of the model in question, by its description: 4 tensors, 814,120 bytes."""


def _has_weights(tensors: int | None, size: int | None) -> bool:
    """Say whether what is left is at least the weights."""
    return (tensors or 0) >= WEIGHTS.amount("tensors") and (size or 0) >= WEIGHTS.amount("bytes")


def _thrown(row: Row) -> dict[str, object]:
    return {"threw": row.error.message} if row.error else {}


def _end(shows: Shows) -> dict[str, object]:
    threw = {"threw": shows.threw.message} if shows.threw else {}
    return {**amount(shows.end), **threw}


def _nothing(shows: Shows) -> bool:
    """Say whether a scenario left nothing and threw nothing."""
    return shows.threw is None and shows.end is not None and nothing(shows.end)


def _missing(shows: Shows) -> bool:
    """Say whether a release has no such method as the scenario calls."""
    return shows.threw is not None and "is not a function" in shows.threw.message


def _has_dispose(lab: Lab, target: Target) -> bool:
    shows = lab.shows(target, "dispose-method")
    return shows.cycle is not None and shows.cycle.points[0].name == "there"


def _dropped(lab: Lab, target: Target) -> Measured:
    row = lab.row(target, "classifier", "made", "drop-reference")
    assert row.left is not None, "a row of the lab's applies"
    return Measured("classifier, made, drop-reference", _has_weights(row.left.tensors, row.left.bytes), left(row))


def _outlives_tidy(lab: Lab, target: Target) -> Measured:
    shows = lab.shows(target, "model-in-tidy")
    tidied = point(shows, "tidied")
    stays = tidied is not None and _has_weights(tidied.tensors, tidied.bytes)
    return Measured("model-in-tidy", stays, amount(tidied))


def _exists_since_1(lab: Lab, target: Target) -> Measured | None:
    if Version(target.version or "0") < Version("1.0"):
        return None
    return _exists(lab, target)


def _exists(lab: Lab, target: Target) -> Measured:
    there = _has_dispose(lab, target)
    return Measured("dispose-method", there, {"there": there})


def _disposed(scenario: str) -> Measure:
    """Return what measures whether one call of dispose() leaves nothing, in a scenario; where there is one."""

    def measure(lab: Lab, target: Target) -> Measured | None:
        if not _has_dispose(lab, target):
            return None
        shows = lab.shows(target, scenario, recipe="dispose")
        return Measured(scenario, _nothing(shows), _end(shows))

    return measure


def _row_disposed(model: str) -> Measure:
    """Return what measures whether dispose() leaves nothing of a model that has predicted, where there is one."""

    def measure(lab: Lab, target: Target) -> Measured | None:
        if not _has_dispose(lab, target):
            return None
        row = lab.row(target, model, "predicted", "dispose")
        assert row.left is not None, "a row of the lab's applies"
        clean = row.left.nothing and row.error is None
        return Measured(f"{model}, predicted, dispose", clean, {**left(row), **_thrown(row)})

    return measure


def _disposed_of_object(lab: Lab, target: Target) -> Measured | None:
    if not _has_dispose(lab, target):
        return None
    shows = lab.shows(target, "optimizer-object", recipe="dispose")
    released = point(shows, "released")
    return Measured("optimizer-object", released is not None and nothing(released), amount(released))


def _walked_without_dispose(scenario: str) -> Measure:
    """Return what measures whether a walk over the weights leaves nothing, where models have no dispose()."""

    def measure(lab: Lab, target: Target) -> Measured | None:
        if _has_dispose(lab, target):
            return None
        shows = lab.shows(target, scenario)
        return Measured(scenario, _nothing(shows), _end(shows))

    return measure


def _walk_equals_dispose(usage: str) -> Measure:
    """Return what measures whether a walk and dispose() leave the same of a model that was used so; where both are."""

    def measure(lab: Lab, target: Target) -> Measured | None:
        if not _has_dispose(lab, target) or _missing(lab.shows(target, "manual-walk")):
            return None
        rows = {"walk": lab.row(target, "classifier", usage, "walk-weights")}
        rows["dispose"] = lab.row(target, "classifier", usage, "dispose")
        figures = {name: {**left(row), **_thrown(row)} for name, row in rows.items()}
        return Measured(f"classifier, {usage}", figures["walk"] == figures["dispose"], figures)

    return measure


def _null_helps(lab: Lab, target: Target) -> Measured:
    nulled, kept = (lab.shows(target, "null-parameter", nulled=each) for each in (True, False))
    figures = {"nulled": _end(nulled), "not": _end(kept), "caller": nulled.cycle and nulled.cycle.points[0].name}
    less = ((nulled.end and nulled.end.bytes) or 0) < ((kept.end and kept.end.bytes) or 0)
    return Measured("null-parameter", less, figures)


def _tidy_refuses(lab: Lab, target: Target) -> Measured:
    shows = lab.shows(target, "return-model-from-tidy")
    refused = shows.threw is not None and shows.threw.after is None
    return Measured("return-model-from-tidy", refused, {"threw": shows.threw.message if shows.threw else None})


def _breaks_in_tidy(how: str) -> Measure:
    """Return what measures whether a model that was made so is not as one made outside."""

    def measure(lab: Lab, target: Target) -> Measured:
        shows = lab.shows(target, "model-in-tidy-used", how=how)
        twin, *said = [point.name for point in shows.cycle.points] if shows.cycle else [END]
        if twin == END:
            raise Unmeasured(f"no model predicts on this release: {shows.threw and shows.threw.message}")
        said.remove(END)
        well = said == ["predicts as one made outside", "trains"]
        figures = {"what happens": said, **({"threw": shows.threw.message} if shows.threw else {})}
        return Measured("model-in-tidy-used", not well, figures)

    return measure


def _tells(scenario: str, level: str) -> Measure:
    """Return what measures whether numTensors tells of a leak on purpose that is of another level."""

    def measure(lab: Lab, target: Target) -> Measured:
        result = lab.result(target, scenario, cycles=10)
        assert result.growth is not None, "there are checkpoints"
        figures = {"tensors a cycle": result.growth.tensors, f"{level} a cycle": getattr(result.growth, level)}
        return Measured(scenario, bool(result.growth.tensors), figures)

    return measure


def _keeps_referenced(lab: Lab, target: Target) -> Measured:
    shows = lab.shows(target, "tidy-keeps-referenced")
    tidied = point(shows, "tidied")
    kept = tidied is not None and bool(tidied.tensors)
    figures = {"tensors that the outer variable still has": tidied.tensors if tidied else None}
    if shows.threw:
        figures["reading it"] = shows.threw.message  # type: ignore[assignment]
    return Measured("tidy-keeps-referenced", kept, figures)


def _has_method_of(scenario: str) -> Measure:
    """Return what measures whether a release has the method that a scenario calls."""

    def measure(lab: Lab, target: Target) -> Measured:
        shows = lab.shows(target, scenario)
        return Measured(scenario, not _missing(shows), _end(shows))

    return measure


def _rate(rate: float) -> Measure:
    """Return what measures whether the rate that was given, as a bare number, is in force."""

    def measure(lab: Lab, target: Target) -> Measured:
        shows = lab.shows(target, "regularizer-rate", rate=rate)
        if shows.threw is not None:
            return Measured("regularizer-rate", False, {"given": rate, "threw": shows.threw.message})
        assert shows.cycle is not None, "it ran, and threw nothing"
        in_force = float(shows.cycle.points[0].name.removeprefix("in force: "))
        return Measured("regularizer-rate", in_force == rate, {"given": rate, "in force": in_force})

    return measure


CLAIMS = (
    Claim(
        "A1",
        "A model's weights are not released by garbage collection or by dropping the last reference.",
        (Part(_dropped),),
        "tfjs",
    ),
    Claim(
        "A2",
        "`tf.tidy` does not release a model's weights: those of a model created inside a tidy outlive it.",
        (Part(_outlives_tidy),),
        "tfjs",
    ),
    Claim(
        "A3",
        "`model.dispose()` exists in every stable release since 1.0.",
        (
            Part(_exists_since_1),
            Part(_exists, "it exists at all", beside=True),
            Part(_disposed("dispose-uncompiled"), "it works, never compiled", beside=True),
            Part(_disposed("predict-dispose"), "it works after a prediction", beside=True),
            Part(_disposed("train-dispose"), "it works after fit", beside=True),
        ),
        "tfjs",
    ),
    Claim(
        "A4",
        "One call of `model.dispose()` releases every weight tensor, and what belongs to the layers.",
        (
            Part(_row_disposed("classifier"), "a plain model"),
            Part(_row_disposed("convolutional"), "a convolutional one"),
            Part(_row_disposed("normalized"), "with batch normalization"),
            Part(_row_disposed("shared"), "with a layer that is called twice"),
            Part(_row_disposed("nested"), "with a model inside"),
            Part(_row_disposed("recurrent"), "with a stateful layer"),
        ),
        "tfjs",
    ),
    Claim(
        "A5",
        "… also after `compile` and after `fit`: optimizer state included.",
        (
            Part(_disposed("compile-dispose"), "compiled"),
            Part(_disposed("optimizer-by-name"), "trained, optimizer by its name"),
            Part(_disposed_of_object, "trained, optimizer as an object"),
        ),
        "tfjs",
    ),
    Claim(
        "A6",
        "After `model.dispose()`, `tf.memory().numTensors` drops back to the count before the model was made.",
        (
            Part(_disposed("dispose-uncompiled"), "never compiled"),
            Part(_disposed("predict-dispose"), "after a prediction"),
            Part(_disposed("train-dispose"), "after fit"),
        ),
        "tfjs",
    ),
    Claim(
        "A7",
        "On early versions without `model.dispose()`, walking the layers' `weights` and calling `dispose()` on each "
        "releases the model.",
        (
            Part(_walked_without_dispose("manual-walk")),
            Part(_walked_without_dispose("manual-values"), "`.val.dispose()` on each does", beside=True),
        ),
        "tfjs",
    ),
    Claim(
        "A8",
        "That manual walk and `model.dispose()` leave the same thing behind, on every version that has both.",
        (
            Part(_walk_equals_dispose("predicted"), "after a prediction"),
            Part(_walk_equals_dispose("trained"), "after fit"),
        ),
        "tfjs",
    ),
    Claim(
        "A9",
        "Setting a function's own `model` parameter to null helps to release the memory.",
        (Part(_null_helps),),
        "tfjs",
    ),
    Claim("A10", "`tf.tidy` refuses a model as the return value of its function.", (Part(_tidy_refuses),), "tfjs"),
    Claim(
        "A11",
        "A model must not be created or returned inside `tf.tidy`.",
        (Part(_breaks_in_tidy("created"), "created"), Part(_breaks_in_tidy("returned"), "returned")),
        "tfjs",
    ),
    Claim(
        "A12",
        "`tf.memory().numTensors` is enough to confirm that the memory was released.",
        (
            Part(_tells("leak-bytes", "bytes"), "bytes that grow under one tensor"),
            Part(_tells("leak-heap", "heap"), "the JavaScript heap"),
            Part(_tells("leak-native", "native"), "memory outside it"),
        ),
        "tfjs",
        newest=True,
    ),
    Claim(
        "A13",
        "The answer's code, which hands the regularizer a bare number, does what it says.",
        (Part(_rate(0.01), "the answer's own rate, 0.01"), Part(_rate(0.05), "another rate, 0.05")),
        "tfjs",
    ),
    Claim(
        "A14",
        "`tf.tidy` clears only temporary tensors that nothing refers to any more.",
        (Part(_keeps_referenced, "one that a variable outside refers to is kept"),),
        "tfjs",
    ),
    Claim(
        "A15",
        "The manual walk as written, calling `dispose()` on each entry of `layer.weights`, can be run.",
        (
            Part(_has_method_of("manual-walk")),
            Part(_has_method_of("manual-values"), "`.val.dispose()` can", beside=True),
        ),
        "tfjs",
    ),
)

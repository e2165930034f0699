"""``tensorledger check``: models of every kind are ready, refused ones and planted faults are not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import brought
import numpy as np
import pytest
from click.testing import CliRunner, Result

import tensorledger
from tensorledger.checking import check as checking
from tensorledger.checking import lives, parity
from tensorledger.checking.checked import Checked
from tensorledger.checking.parity import Form, compare
from tensorledger.cli import main
from tensorledger.conversion.convert import Wanted, convert
from tensorledger.conversion.folder import read_tfjs
from tensorledger.conversion.layers import convert_layers
from tensorledger.conversion.sources import given
from tensorledger.conversion.writing import Weight, write_model, write_weights
from tensorledger.predictions.ask import Request, ask
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

CPU = Target("tfjs", "4.22.0", "cpu")
WEB = ("--target", "tfjs", "--target", "tfjs/wasm")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("brought models é")
    done = subprocess.run([sys.executable, brought.__file__, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def check(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["check", *map(str, arguments)])


def said(result: Result, file: Path) -> Any:
    assert result.exit_code in (0, 1), result.output
    return json.loads(file.read_text())


# --- each kind of model


@pytest.mark.parametrize(
    ("model", "form", "more"),
    [
        ("keras/extractor.keras", "both", ()),
        ("tf-keras/classifier.h5", "both", ()),
        ("tf-keras/extractor.keras", "layers", WEB),
        ("keras/two.keras", "both", WEB),
        ("keras/exported", "auto", ()),
        ("tf-keras/exported", "graph", WEB),
        ("tf-keras/saved", "both", ()),
        ("function.py", "layers", WEB),
        ("function.py:other", "graph", WEB),
        ("keras/gru.keras", "graph", WEB),
    ],
)
def test_a_model_is_ready_on_cpu_and_wasm(
    models: Path, tmp_path: Path, model: str, form: str, more: tuple[str, ...]
) -> None:
    before = contents(models)
    done = check(models / model, "--format", form, "--cycles", "1", "--json", tmp_path / "said.json", *more)
    assert done.exit_code == 0, done.output
    found = said(done, tmp_path / "said.json")
    formats = {"both": ["layers", "graph"], "auto": ["graph"]}.get(form, [form])
    assert found["schema"] == "tensorledger/check/1" and found["ok"] and found["formats"] == formats
    targets = [f"tfjs@4.22.0/{backend}" for backend in ("cpu", "wasm")]
    assert [(one["target"], one["format"]) for one in found["parity"]] == [
        (target, name) for name in formats for target in targets
    ]
    assert all(one["ok"] and one["max_abs"] < 1e-3 and one["weights"]["count"] for one in found["parity"])
    assert {result["verdict"] for result in found["results"]} == {"pass"}
    lived = {result["target"] for result in found["results"]}
    assert lived == set(targets) if more else lived > set(targets)  # and in Python
    assert all(advice["recipe"] for advice in found["recipes"])
    assert contents(models) == before


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


@pytest.mark.parametrize("form", ["layers", "graph"])
def test_a_folder_of_tensorflow_js_is_ready(models: Path, tmp_path: Path, form: str) -> None:
    convert(models / "keras" / "small.keras", tmp_path / form, Wanted(format=form))
    done = check(tmp_path / form, "--cycles", "1", "--target", "tfjs")
    assert done.exit_code == 0, done.output


def test_a_compiled_model_is_trained_too_and_its_recipe_is_named(models: Path, tmp_path: Path) -> None:
    done = check(models / "keras" / "small.keras", "--cycles", "1", "--json", tmp_path / "said.json")
    assert done.exit_code == 0, done.output
    advised = {(one["target"], one["usage"]): one["recipe"] for one in said(done, tmp_path / "said.json")["recipes"]}
    assert advised["tfjs@4.22.0/cpu", "trained"] == "complete" and advised["keras", "trained"] == "complete"
    assert "✓ complete" in done.output and "✓ ready" in done.output


def test_an_older_release_gets_what_it_can_load(models: Path, tmp_path: Path) -> None:
    done = check(models / "keras" / "small.keras", "--target", "tfjs@1.0.4", "--json", tmp_path / "said.json")
    assert done.exit_code == 0, done.output
    advised = {one["usage"]: one["recipe"] for one in said(done, tmp_path / "said.json")["recipes"]}
    assert advised == {"loaded": "walk-values", "predicted": "dispose"}  # its dispose throws before a prediction


def test_what_an_older_release_lacks_is_said(models: Path, tmp_path: Path) -> None:
    done = check(models / "keras" / "extractor.keras", "--target", "tfjs@0.15.3", "--json", tmp_path / "said.json")
    assert done.exit_code == 1
    (one,) = said(done, tmp_path / "said.json")["parity"]
    assert not one["ok"] and "tfjs@0.15.3 is not right with LayerNormalization layers; from 1.3 on" in one["error"]


# --- refused


@pytest.mark.parametrize(
    ("model", "form", "why"),
    [
        ("keras/gru.keras", "layers", "reset_after"),
        ("keras/own.keras", "layers", "a layer of a class of one's own is Python code"),
        ("keras/lambda.keras", "layers", "a Lambda layer is Python code"),
        ("tf-keras/normalized.keras", "graph", "TensorFlow.js would predict NaN"),
        ("keras/exported", "layers", "has no layers"),
    ],
)
def test_what_is_refused_says_why_and_fails(models: Path, tmp_path: Path, model: str, form: str, why: str) -> None:
    done = check(models / model, "--format", form, "--target", "tfjs", "--json", tmp_path / "said.json")
    assert done.exit_code == 1 and "✗ not ready" in done.output
    found = said(done, tmp_path / "said.json")
    assert not found["ok"] and [one["format"] for one in found["refused"]] == [form]
    assert why in found["refused"][0]["reason"] and why in " ".join(done.output.split())


def test_a_refused_layers_model_is_checked_as_a_graph_and_still_fails(models: Path, tmp_path: Path) -> None:
    done = check(models / "keras" / "gru.keras", "--target", "tfjs", "--json", tmp_path / "said.json")
    found = said(done, tmp_path / "said.json")
    assert done.exit_code == 1 and found["formats"] == ["graph"] and found["parity"][0]["ok"]
    assert found["refused"][0]["instead"] == "graph"


def test_code_in_a_file_is_run_only_when_asked(models: Path, tmp_path: Path) -> None:
    mark = models / "keras" / "code-ran"
    done = check(models / "keras" / "lambda.keras", "--target", "tfjs")
    assert done.exit_code == 1 and "--run-code" in done.output and not mark.exists()
    done = check(models / "keras" / "lambda.keras", "--target", "tfjs", "--format", "graph", "--run-code")
    assert done.exit_code == 0 and mark.exists(), done.output


def test_a_layer_of_ones_own_takes_its_module(models: Path, tmp_path: Path) -> None:
    done = check(models / "keras" / "own.keras", "--target", "tfjs", "--format", "graph")
    assert done.exit_code == 1 and "--import MODULE" in done.output
    module = models / "keras" / "own_layers.py"
    done = check(models / "keras" / "own.keras", "--target", "tfjs", "--format", "graph", "--import", module)
    assert done.exit_code == 0, done.output


def test_what_predicts_nan_in_keras_fails(models: Path, tmp_path: Path) -> None:
    done = check(models / "keras" / "nan.keras", "--target", "tfjs", "--json", tmp_path / "said.json")
    assert done.exit_code == 1
    (one,) = said(done, tmp_path / "said.json")["parity"]
    assert not one["ok"] and "the model itself predicts what is not a finite number" in one["reason"]


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("nowhere.keras", "there is no such file"),
        ("function.py:missing", "defines no function named missing"),
        ("function.py:nothing", "returned no Keras model, but NoneType"),
        ("function.py:broken", "RuntimeError: the file's own fault"),
    ],
)
def test_what_is_no_model_is_told(models: Path, written: str, why: str) -> None:
    done = check(models / written, "--target", "tfjs")
    assert done.exit_code in (1, 2) and why in " ".join(done.output.split())


# --- inputs of one's own


def test_inputs_of_ones_own_are_compared_too(models: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "own.npz", other=np.ones((2, 3)), one=np.full((2, 6), 0.5))
    done = check(
        models / "keras" / "two.keras", "--target", "tfjs", "--inputs", tmp_path / "own.npz", "--json", tmp_path / "s"
    )
    assert done.exit_code == 0, done.output
    outputs = said(done, tmp_path / "s")["parity"][0]["outputs"]
    assert [(one["inputs"], one["output"]) for one in outputs][-2:] == [("own", "first"), ("own", "second")]


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({"one": (2, 6)}, "has 1 arrays, and the model takes 2"),
        ({"one": (2, 6), "other": (2, 4)}, "is not what the model takes as other: float32 [any, 3]"),
    ],
)
def test_inputs_that_do_not_fit_are_told(models: Path, tmp_path: Path, arrays: Any, why: str) -> None:
    named: dict[str, Any] = {name: np.ones(shape) for name, shape in arrays.items()}
    np.savez(tmp_path / "own.npz", **named)
    done = check(models / "keras" / "two.keras", "--target", "tfjs", "--inputs", tmp_path / "own.npz")
    assert done.exit_code == 1 and why in " ".join(done.output.split())


# --- planted faults: each is seen


@pytest.fixture(scope="module")
def form(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Form:
    """The model with two inputs and outputs, converted, beside what it predicts."""
    folder = tmp_path_factory.mktemp("form")
    source = models / "keras" / "two.keras"
    convert_layers(source, folder / "layers")
    answer = ask(Request(given(source), "keras", reference=folder / "reference"))
    return Form(
        format="layers",
        folder=folder / "layers",
        reference=folder / "reference",
        sets=answer.reference,
        outputs=answer.outputs,
        inputs=[one["name"] for one in answer.inputs],
        weights=answer.weights,
    )


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers() as found:
        yield found


def tampered(form: Form, folder: Path, weights: Any = None, described: Any = None) -> Form:
    """Return the form with other weights, or another description."""
    model = read_tfjs(form.folder)
    folder.mkdir()

    def other(one: Weight) -> Weight:
        return replace(one, read=lambda: weights(one.name, one.read().copy()))

    manifest = write_weights(folder, [other(one) for one in model.weights] if weights else model.weights)
    write_model(folder, {**(described(model.described) if described else model.described), "weightsManifest": manifest})
    return replace(form, folder=folder)


def test_a_model_as_it_was_converted_is_right(form: Form, workers: Workers, tmp_path: Path) -> None:
    found = compare(tampered(form, tmp_path / "same"), CPU, workers)
    assert found.ok and not found.reason


def test_a_kernel_that_is_off_by_a_thousandth_is_seen(form: Form, workers: Workers, tmp_path: Path) -> None:
    def off(name: str, values: Any) -> Any:
        return values * 1.001 if name == "first/kernel" else values

    found = compare(tampered(form, tmp_path / "off", off), CPU, workers)
    assert not found.ok and found.reason.startswith("random, first: off by")
    assert {one.output for one in found.outputs if not one.ok} == {"first"}


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_finite_number_is_seen(form: Form, workers: Workers, tmp_path: Path, value: float) -> None:
    def nan(name: str, values: Any) -> Any:
        return np.full_like(values, value) if name == "second/bias" else values

    found = compare(tampered(form, tmp_path / "nan", nan), CPU, workers)
    assert not found.ok and found.max_abs is None and "not a finite number" in found.reason


def test_outputs_are_found_by_their_names(form: Form, workers: Workers, tmp_path: Path) -> None:
    def swapped(described: Any) -> Any:
        changed = json.loads(json.dumps(described))
        changed["modelTopology"]["model_config"]["config"]["output_layers"].reverse()
        return changed

    assert compare(tampered(form, tmp_path / "swapped", described=swapped), CPU, workers).ok
    found = compare(replace(form, outputs=["second", "first"]), CPU, workers)
    assert not found.ok and "a prediction of the shape [8, 1], and not [8, 2]" in found.reason


def test_a_weight_too_many_is_seen(form: Form, workers: Workers) -> None:
    found = compare(replace(form, weights=3), CPU, workers)
    assert not found.ok and found.reason == "it has 4 weights, and the model in Keras 3"


def test_weights_that_are_not_loaded_are_seen(form: Form, workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parity, "_expected", lambda form: {"count": 4, "bytes": 4})
    found = compare(form, CPU, workers)
    assert not found.ok and found.reason == "it has 4 weights of 120 bytes, and its files 4 weights of 4 bytes"


def test_a_model_that_does_not_load_is_told_with_what_was_thrown(form: Form, workers: Workers, tmp_path: Path) -> None:
    def unknown(described: Any) -> Any:
        return json.loads(json.dumps(described).replace('"Dense"', '"Danse"'))

    found = compare(tampered(form, tmp_path / "unknown", described=unknown), CPU, workers)
    assert not found.ok and "Unknown layer: Danse" in found.error


def test_a_model_that_no_recipe_releases_fails_with_what_is_left(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lives, "RECIPES", {"layers": ("drop-reference",), "keras": ("del-collect",)})
    found = tensorledger.check(models / "keras" / "two.keras", targets=["tfjs"], cycles=1)
    assert not found.ok and all(one.ok for one in found.parity)
    loaded, predicted = found.results
    assert loaded.verdict == "fail" and sum(leak.count for leak in loaded.leaks) == 4
    assert {leak.name for leak in loaded.leaks} >= {"first/kernel"} or any(leak.stack for leak in loaded.leaks)
    assert [advice.recipe for advice in found.recipes] == [None, None]
    assert "something is left, or broke" in str(found) and "4 tensors" not in str(predicted)


# --- quantized


@pytest.mark.parametrize("kind", ["float16", "uint16", "uint8"])
def test_what_quantization_changes_is_stated_and_is_all_that_is_off(models: Path, tmp_path: Path, kind: str) -> None:
    arguments = ("--format", "both", "--quantize", kind, "--target", "tfjs", "--cycles", "1")
    done = check(models / "keras" / "two.keras", *arguments, "--json", tmp_path / "said.json")
    assert done.exit_code == 0, done.output
    found = said(done, tmp_path / "said.json")
    for one in found["parity"]:
        errors = found["quantized"][one["format"]]["random"]
        measured = [output["max_abs"] for output in one["outputs"] if output["inputs"] == "random"]
        assert errors == pytest.approx(measured, rel=0.05, abs=1e-5) and max(errors) > 0
    assert f"{kind} changes predictions (random) by up to" in done.output


def test_numbers_beyond_float16_are_refused(models: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["convert", str(models / "keras" / "wide.keras"), str(tmp_path / "out"), "--quantize", "float16"]
    )
    assert done.exit_code == 1 and "beyond float16" in done.output and not (tmp_path / "out").exists()


# --- as a library


LIVE = """
import os, sys
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
import keras, numpy, tensorledger
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)], name="mine")
print(tensorledger.convert(model, sys.argv[1]).format)
found = tensorledger.check(model, targets=["tfjs", "keras"], inputs=numpy.ones((3, 6)), cycles=1)
print(found.ok, found.model, [one.inputs for one in found.parity[0].outputs][-1])
gated = keras.Sequential([keras.Input((5, 4)), keras.layers.GRU(2)])
try:
    tensorledger.convert(gated, sys.argv[1] + "2", format="layers")
except tensorledger.CannotConvert as error:
    print("the model 'sequential" in str(error), "reset_after" in str(error))
"""


def test_a_live_model_is_converted_and_checked(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIVE, tmp_path / "out"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line]
    assert lines[-3:] == ["layers", "True the model 'mine' own", "True True"]
    assert (tmp_path / "out" / "model.json").is_file() and not (tmp_path / "out2").exists()


def test_what_is_no_model_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="a Keras model or the path of one, and not int"):
        tensorledger.check(3)


def test_a_check_that_found_nothing_is_not_ok() -> None:
    empty = Checked(
        model="m",
        kind="keras",
        keras="keras",
        quantize="",
        formats=[],
        parity=[],
        results=[],
        recipes=[],
        refused=[],
    )
    assert not empty.ok and "not all could be checked" in str(empty)


def test_targets_are_as_everywhere() -> None:
    assert resolve([*checking.TARGETS]) == [CPU, Target("tfjs", "4.22.0", "wasm")]

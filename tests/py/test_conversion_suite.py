"""Every layer of both Kerases, converted both ways, is right on both backends, refused or known; the page says so."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import convertible
import graph_layers
import numpy as np
import parity_suite
import pytest
from outcomes import CHECKOUT
from parity_suite import BACKENDS, BASES, FORMS, OF_TFJS, REFUSED, RIGHT, UNMADE, WRONG, Case, Found, Suite

from tensorledger.checking.parity import Form
from tensorledger.conversion.tfjs import LAYERS
from tensorledger.environment import packages
from tensorledger.environment.tree import is_checkout

DISPOSED = "Cannot read properties of undefined (reading 'backend')"
EINSUM = "Kernel 'Einsum' not registered for backend 'wasm'"
KNOWN: dict[tuple[str, str, str, str], str] = {
    # Of convertible.py, refused by the converter.
    ("*", "activations", "graph", "*"): "Unsupported Ops",
    ("*", "transposed-3d", "graph", "*"): "Conv3DBackpropInputV2",
    ("tf-keras", "layer-normalization", "graph", "*"): "it normalizes by the batch that it is given",
    # TensorFlow.js is wrong.
    ("*", "transposed-3d", "layers", "wasm"): "off by 12",
    # Its MaxPool3D starts with the smallest positive number, and gives that where all are less.
    ("keras", "AdaptiveMaxPooling3D", "graph", "wasm"): "off by 1.2e-38, and rounding explains 0",
    ("*", "MaxPooling3D", "*", "wasm"): "off by 1.5",
    # TensorFlow.js throws.
    ("tf-keras", "conv-lstm", "graph", "wasm"): DISPOSED,
    ("tf-keras", "ConvLSTM1D", "graph", "wasm"): DISPOSED,
    ("tf-keras", "ConvLSTM3D", "graph", "wasm"): DISPOSED,
    ("keras", "MelSpectrogram", "graph", "wasm"): "Kernel 'Complex' not registered for backend 'wasm'",
    ("keras", "GroupQueryAttention", "graph", "wasm"): EINSUM,
    ("*", "MultiHeadAttention", "graph", "wasm"): EINSUM,
    ("tf-keras", "EinsumDense", "graph", "wasm"): EINSUM,
    # Keras cannot make it with the packages that are here.
    ("keras", "FlaxLayer", "*", "*"): "XlaCallModule",
    ("keras", "JaxLayer", "*", "*"): "XlaCallModule",
    ("keras", "TorchModuleWrapper", "*", "*"): "No module named 'torch'",
    ("tf-keras", "SpectralNormalization", "*", "*"): "Layer input_spec must be an instance of InputSpec",
    ("tf-keras", "LayerNormalization rms_scaling=True", "*", "*"): "Keyword argument not understood",
}
"""What is not right and is not refused, or of convertible.py refused: a part of the reason, by Keras, name, form and
backend; "*" is each."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("suite")


@pytest.fixture(scope="module")
def suite(folder: Path) -> Suite:
    """All models, saved, converted and compared once."""
    if not packages.installed():
        pytest.skip("the npm packages of the lock file are not installed: make setup")
    return parity_suite.measured(folder)


def known(case: Case) -> str:
    """Return a part of the reason why a case is known not to be right; empty where it should be."""
    return next((why for key, why in KNOWN.items() if all(a in ("*", b) for a, b in zip(key, case, strict=True))), "")


def cases(names: Any) -> Iterator[Any]:
    for source in convertible.KERASES:
        for name in names:
            for form in FORMS:
                for backend in BACKENDS:
                    yield pytest.param(Case(source, name, form, backend), id=f"{source}-{name}-{form}-{backend}")


@pytest.mark.parametrize("case", list(cases(convertible.MODELS)))
def test_a_model_is_within_its_bound_or_a_known_exception(suite: Suite, case: Case) -> None:
    found = suite.found[case]
    if known(case):
        assert found.verdict != RIGHT and known(case) in found.reason
    else:
        assert found == Found(RIGHT)


@pytest.mark.parametrize("case", list(cases(graph_layers.MODELS)))
def test_a_layer_or_an_option_is_within_its_bound_or_refused_or_a_known_exception(suite: Suite, case: Case) -> None:
    found = suite.found.get(case)
    if found is None:
        assert graph_layers.layer_of(case.name) not in suite.public[case.keras]
    elif known(case):
        assert found.verdict != RIGHT and known(case) in found.reason
    else:
        assert found.verdict in (RIGHT, REFUSED) and not found.ours, found


def test_an_activation_is_right_or_refused_or_a_known_exception(suite: Suite) -> None:
    there = {case: found for case, found in suite.found.items() if case.name.startswith("Activation ")}
    assert len({case.name for case in there}) > 20
    bad = {case: found for case, found in there.items() if found.verdict not in (RIGHT, REFUSED) or found.ours}
    assert {
        case: found.reason for case, found in bad.items() if known(case) not in found.reason or not known(case)
    } == {}
    assert [case for case in there if known(case) and case not in bad] == []


def test_every_known_exception_is_of_a_model_that_there_is(suite: Suite) -> None:
    assert [key for key in KNOWN if not any(known(case) == KNOWN[key] for case in suite.found)] == []


def test_what_is_refused_is_refused_by_the_converter(suite: Suite) -> None:
    assert [case for case, found in suite.found.items() if found.verdict != RIGHT and not found.reason] == []
    assert [case for case, found in suite.found.items() if found.ours] == []


# --- every layer


def test_every_public_layer_has_a_verdict_for_both_forms_and_backends(suite: Suite) -> None:
    for source, public in suite.public.items():
        assert len(public) > 80
        for name in public:
            each = [parity_suite.of_layer(suite, source, name, form, backend) for form in FORMS for backend in BACKENDS]
            assert (None in each) == (name in BASES), (source, name)


def test_every_layer_of_tensorflow_js_has_a_verdict(suite: Suite) -> None:
    without = {
        name
        for name in LAYERS
        if not any(parity_suite.of_layer(suite, source, name, "layers", "cpu") for source in convertible.KERASES)
    }
    assert without == set(OF_TFJS)


def test_a_class_that_is_set_apart_is_in_no_model(suite: Suite) -> None:
    used = set().union(*suite.classes.values())
    assert used & (set(BASES) | set(OF_TFJS)) == set()


def test_the_models_of_graph_layers_have_the_layers_that_they_are_called_after(suite: Suite) -> None:
    for (source, name), classes in suite.classes.items():
        if name not in convertible.MODELS and suite.found[Case(source, name, "layers", "cpu")].verdict != UNMADE:
            saved = suite.found[Case(source, name, "layers", "cpu")].reason.find("cannot save it") < 0
            assert not saved or graph_layers.layer_of(name) in classes, (source, name)


# --- the page


def _script() -> ModuleType | None:
    import importlib.util

    file = CHECKOUT / "docs" / "layer_table.py"
    if not file.is_file():
        return None
    spec = importlib.util.spec_from_file_location("layer_table", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script: Any = _script()
in_checkout = pytest.mark.skipif(not is_checkout() or script is None, reason="the page is in a checkout")


@in_checkout
def test_the_committed_page_is_what_was_measured(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script, "measured", lambda folder: suite)
    assert script.PAGE.read_text(encoding="utf-8") == script.rendered(suite)
    assert script.main(["--check"]) == 0


@in_checkout
def test_a_page_that_says_otherwise_fails_the_check_and_is_written_anew(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = script.rendered(suite)
    monkeypatch.setattr(script, "measured", lambda folder: suite)
    monkeypatch.setattr(script, "PAGE", tmp_path / "layers.md")
    assert script.main(["--check"]) == 1 and not script.PAGE.exists()
    script.PAGE.write_text(right.replace("| right |", "| wrong |", 1), encoding="utf-8")
    assert script.main(["--check"]) == 1 and script.PAGE.read_text(encoding="utf-8") != right
    assert script.main([]) == 0 and script.PAGE.read_text(encoding="utf-8") == right


@in_checkout
def test_a_layer_that_is_measured_otherwise_is_another_page(suite: Suite) -> None:
    for layer, form in (("MultiHeadAttention", "graph"), ("Dense", "layers"), ("Conv3DTranspose", "graph")):
        names = parity_suite.models_with(suite, "keras", layer)
        worse = {
            case: Found(WRONG, "off") if case.name in names and (case.keras, case.form) == ("keras", form) else found
            for case, found in suite.found.items()
        }
        assert script.rendered(replace(suite, found=worse)) != script.rendered(suite), layer


# --- faults


def weight_by_a_hundredth(folder: Path, form: Form) -> Form:
    """Change one number, the largest, of the largest weight by 1 %."""
    (group,) = json.loads((folder / "model.json").read_text())["weightsManifest"]
    (path,) = group["paths"]
    numbers = np.fromfile(folder / path, "<f4")
    sizes = [int(np.prod(weight["shape"])) for weight in group["weights"]]
    start = sum(sizes[: sizes.index(max(sizes))])
    assert all(weight["dtype"] in ("float32", "int32") for weight in group["weights"])
    assert group["weights"][sizes.index(max(sizes))]["dtype"] == "float32"
    numbers[start + np.abs(numbers[start : start + max(sizes)]).argmax()] *= 1.01
    numbers.tofile(folder / path)
    return form


def slope(folder: Path, form: Form) -> Form:
    file = folder / "model.json"
    text = file.read_text()
    assert text.count('"alpha": 0.1') == 1 or text.count('"alpha":0.1') == 1
    file.write_text(text.replace('"alpha": 0.1', '"alpha": 0.11').replace('"alpha":0.1', '"alpha":0.11'))
    return form


def swapped(folder: Path, form: Form) -> Form:
    """Exchange the last two outputs, which have the same shape."""
    file = folder / "model.json"
    model = json.loads(file.read_text())
    outputs = model["modelTopology"]["model_config"]["config"]["output_layers"]
    outputs[-2:] = outputs[:-3:-1]
    file.write_text(json.dumps(model))
    return form


def swapped_nodes(folder: Path, form: Form) -> Form:
    outputs = form.nodes["outputs"]
    return replace(form, nodes={**form.nodes, "outputs": [*outputs[:-2], outputs[-1], outputs[-2]]})


Plant = Callable[[Path, Form], Form]
PLANTED: dict[tuple[str, str, str], Plant] = {
    ("dense", "layers", "a weight"): weight_by_a_hundredth,
    ("dense", "graph", "a weight"): weight_by_a_hundredth,
    ("lstm", "layers", "a weight"): weight_by_a_hundredth,
    ("conv2d", "graph", "a weight"): weight_by_a_hundredth,
    ("leaky-relu", "layers", "the slope"): slope,
    ("LSTM return_state=True", "layers", "two outputs"): swapped,
    ("LSTM return_state=True", "graph", "two outputs"): swapped_nodes,
}


@pytest.fixture(scope="module")
def planted(suite: Suite, folder: Path) -> dict[str, dict[Any, Found]]:
    """What is found of conversions with a fault, by backend."""
    forms: dict[Any, Form] = {}
    for source in convertible.KERASES:
        for (name, form, what), plant in PLANTED.items():
            whole = suite.forms[source, name, form]
            copy = folder / "planted" / source / name / form
            shutil.copytree(whole.folder, copy)
            forms[source, name, form, what] = plant(copy, replace(whole, folder=copy))
    named = {"/".join(key): form for key, form in forms.items()}
    return {
        backend: {
            key: parity_suite.found_of(form, said["/".join(key)], backend)
            for said in [parity_suite.told(named, folder / "planted", backend)]
            for key, form in forms.items()
        }
        for backend in BACKENDS
    }


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("source", convertible.KERASES)
@pytest.mark.parametrize(("name", "form", "what"), PLANTED)
def test_a_planted_fault_is_seen(
    suite: Suite, planted: Any, name: str, form: str, what: str, source: str, backend: str
) -> None:
    assert suite.found[Case(source, name, form, backend)].verdict == RIGHT
    found = planted[backend][source, name, form, what]
    assert found.verdict == WRONG and "rounding explains" in found.reason

"""Models of every layer, converted and asked in TensorFlow.js: what is right, what is wrong, and what is refused.

``python parity_suite.py DESTINATION KERAS`` (imports TensorFlow) makes and saves the models of convertible.py and
graph_layers.py with one Keras, each as ``<keras>/<name>/`` with its two conversions, what it is to predict, and
``asked.json``: what js/check/parity.mjs needs of it, and what was refused. ``measured`` runs that, and the rest.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import traceback
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import convertible
import graph_layers
import numpy as np

from tensorledger.checking.parity import Form, judged
from tensorledger.conversion.layers import NEWEST, convert_layers
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.tfjs import LAYERS
from tensorledger.conversion.topology import all_layers
from tensorledger.environment.node import node
from tensorledger.environment.releases import packages

FORMS = ("layers", "graph")
BACKENDS = ("cpu", "wasm")
PARITY = Path(__file__).parent / "fixtures" / "parity.mjs"
LIMIT = 900
"""Seconds that one process may take."""

RIGHT, WRONG, REFUSED, UNMADE = "right", "wrong", "refused", "not made"

BASES = {
    "Layer": "what every layer is derived from; a class of one's own is Python code",
    "Wrapper": "what layers around another layer are derived from",
    "InputSpec": "no layer: it says what a layer takes",
    "AbstractRNNCell": "what cells of one's own are derived from",
}
"""Public classes that no model has as they are."""

OF_TFJS = {
    "Model": "what Functional was called; no Keras of today writes it",
    "ConvLSTM2DCell": "no layer of either Keras",
}
"""What TensorFlow.js has as layers and ``keras.layers`` has not."""


class Case(NamedTuple):
    """One model of one Keras in one form on one backend."""

    keras: str
    name: str
    form: str
    backend: str


@dataclass(frozen=True)
class Found:
    """What came of a case."""

    verdict: str
    reason: str = ""
    """Empty where it is right."""
    ours: bool = False
    """Converting raised something else than a refusal."""


@dataclass(frozen=True)
class Suite:
    """All that was measured."""

    found: dict[Case, Found]
    forms: dict[tuple[str, str, str], Form]
    """The conversions, by Keras, name and form."""
    classes: dict[tuple[str, str], frozenset[str]]
    """The layers that a model has, by Keras and name."""
    public: dict[str, dict[str, list[str]]]
    """The classes in ``keras.layers`` by Keras, each with all the names that it has there."""


# --- with TensorFlow: saved, converted, asked in Python


def public_layers(keras: Any) -> dict[str, list[str]]:
    """Return the classes in a Keras's ``layers``, each with its names there."""
    found: dict[Any, list[str]] = {}
    for name, one in vars(keras.layers).items():
        if inspect.isclass(one):
            found.setdefault(one, []).append(name)
    return {
        one.__name__ if one.__name__ in names else names[0]: sorted(names)
        for one, names in sorted(found.items(), key=lambda each: min(each[1]))
    }


def models_of(keras: Any) -> dict[str, convertible.Make]:
    """Return the models that a Keras has the layers for."""
    alone = graph_layers.MODELS | graph_layers.activations(keras)
    return convertible.MODELS | {
        name: make for name, make in alone.items() if hasattr(keras.layers, graph_layers.layer_of(name))
    }


def save(destination: Path, source: str) -> None:
    """Make, save and convert all models of a Keras."""
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1", KERAS_BACKEND="tensorflow")
    keras: Any = importlib.import_module(convertible.KERASES[source])
    for name, make in models_of(keras).items():
        folder = destination / source / name
        folder.mkdir(parents=True)
        with contextlib.redirect_stdout(sys.stderr):
            said = _saved(folder, name, make, keras)
        (folder / "asked.json").write_text(json.dumps(said), encoding="utf-8")
    (destination / source / "public.json").write_text(json.dumps(public_layers(keras)), encoding="utf-8")


def _saved(folder: Path, name: str, make: convertible.Make, keras: Any) -> dict[str, Any]:
    from tensorledger.predictions.reference import write_reference
    from tensorledger.predictions.runnable import of_keras

    try:
        model = make(keras)
    except Exception as error:  # Keras's own: the model is none of ours
        return {"unmade": f"{keras.__name__} cannot make it: {_first(error)}"}
    if graph_layers.layer_of(name) not in graph_layers.AS_MADE:
        random = np.random.default_rng(len(name))
        model.set_weights([convertible.drawn(random, weight) for weight in model.get_weights()])
    said: dict[str, Any] = {"refused": {}}
    try:
        model.save(folder / "model.keras")
    except Exception as error:
        said["refused"]["layers"] = f"{keras.__name__} cannot save it: {_first(error)}"
    else:
        with zipfile.ZipFile(folder / "model.keras") as archive:
            topology = json.loads(archive.read("config.json"))
        said["classes"] = sorted({layer["class_name"] for layer in all_layers(topology)})
        with _refused(said, "layers"):
            convert_layers(folder / "model.keras", folder / "layers")
    with _refused(said, "graph"):
        runnable = of_keras(model)
        said["graph"] = _graph(folder, model, runnable)
    with _refused(said, "predictions"):
        runnable = of_keras(model)
        said["inputs"], said["outputs"] = [one.name for one in runnable.inputs], runnable.outputs
        counted = [weight for weight in runnable.weights if "seed_generator" not in str(getattr(weight, "path", ""))]
        said["weights"] = len(counted)
        said["sets"] = write_reference(runnable, folder / "reference")
    return said


def _graph(folder: Path, model: Any, runnable: Any) -> dict[str, Any]:
    from tensorledger.conversion.sources import Given
    from tensorledger.predictions.child import convert_to_graph

    return convert_to_graph(Given(folder / "model.keras", "keras"), model, runnable, str(folder / "graph"))


@contextlib.contextmanager
def _refused(said: dict[str, Any], what: str) -> Iterator[None]:
    try:
        yield
    except CannotConvert as error:
        said["refused"][what] = str(error)
    except Exception as error:
        traceback.print_exc()
        said["refused"][what] = f"converting raises {_first(error)}"
        said.setdefault("ours", []).append(what)


def _first(error: Exception) -> str:
    """Return what an error says, in a line. Keras puts where it was around it."""
    lines = [re.sub(r"\x1b\[\d*m", "", line).strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line]
    while len(lines) > 1 and lines[0].startswith(("Exception encountered when", "Could not automatically infer")):
        lines = lines[1:]
    return f"{type(error).__name__}: {(lines or [''])[0]}"


# --- with Node.js


def told(forms: Mapping[str, Form], folder: Path, backend: str) -> dict[str, dict[str, Any]]:
    """Return what js/check/parity.mjs tells of each conversion on a backend, or ``error``.

    In one process, and a new one after each that traps; one that traps is asked again as the first of a process.
    """
    said: dict[str, dict[str, Any]] = {}
    while waiting := [name for name in forms if name not in said]:
        answer = _told({name: forms[name] for name in waiting}, folder, backend)
        last = [*answer][-1]
        if answer[last].get("trapped") and len(answer) > 1:
            del answer[last]
        said |= answer
    return said


def _told(forms: Mapping[str, Form], folder: Path, backend: str) -> dict[str, dict[str, Any]]:
    questions = folder / f"questions-{backend}.json"
    questions.write_text(json.dumps({name: {**one.params(), "sets": one.sets} for name, one in forms.items()}))
    here = packages(NEWEST, backend)
    command: list[str | Path] = [node(), "--no-warnings", PARITY, here.library, here.backend or "-", questions]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    lines = [line for line in done.stdout.splitlines() if line.startswith("@@")]
    if done.returncode or not lines:
        raise RuntimeError(f"the comparison broke on {backend}: {done.stderr[-2000:]}")
    answer: dict[str, dict[str, Any]] = json.loads(lines[0][2:])
    return answer


def found_of(form: Form, said: Mapping[str, Any], backend: str) -> Found:
    """Return whether a conversion is right, by what was told of it."""
    if "error" in said:
        return Found(WRONG, f"TensorFlow.js throws: {said['error'].splitlines()[0]}")
    finite = {
        (one["inputs"], number) for one in form.sets for number, out in enumerate(one["outputs"]) if out["finite"]
    }
    compared = [one for one in said["differences"] if (one["inputs"], one["output"]) in finite]
    parity = judged(form, backend, {**said, "differences": compared})
    if not compared:
        return Found(WRONG, "it predicts nothing that is a finite number, in Python")
    return Found(RIGHT) if parity.ok else Found(WRONG, parity.reason)


def measured(destination: Path) -> Suite:
    """Save, convert and compare everything below ``destination``."""
    with ThreadPoolExecutor(2) as executor:
        for source, done in zip(
            convertible.KERASES,
            executor.map(lambda each: _in_process(destination, each), convertible.KERASES),
            strict=True,
        ):
            if done.returncode:
                raise RuntimeError(f"{source} could not be saved: {done.stderr[-2000:]}")
        asked = {
            (source, name): json.loads((destination / source / name / "asked.json").read_text(encoding="utf-8"))
            for source in convertible.KERASES
            for name in sorted(path.parent.name for path in (destination / source).glob("*/asked.json"))
        }
        forms = {
            (source, name, form): _form(destination / source / name, said, form)
            for (source, name), said in asked.items()
            for form in FORMS
            if "sets" in said and form not in said["refused"]
        }
        named = {"/".join(key): form for key, form in forms.items()}
        answers = dict(
            zip(BACKENDS, executor.map(lambda backend: told(named, destination, backend), BACKENDS), strict=True)
        )
    found = {
        Case(source, name, form, backend): found_of(
            forms[source, name, form], answers[backend][f"{source}/{name}/{form}"], backend
        )
        if (source, name, form) in forms
        else _not_asked(said, form)
        for (source, name), said in asked.items()
        for form in FORMS
        for backend in BACKENDS
    }
    classes = {key: frozenset(said.get("classes", ())) for key, said in asked.items()}
    public = {
        source: json.loads((destination / source / "public.json").read_text(encoding="utf-8"))
        for source in convertible.KERASES
    }
    return Suite(found, forms, classes, public)


def _in_process(destination: Path, source: str) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [sys.executable, __file__, destination, source]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)


def _form(folder: Path, said: dict[str, Any], form: str) -> Form:
    return Form(
        format=form,
        folder=folder / form,
        reference=folder / "reference",
        sets=said["sets"],
        outputs=said["outputs"],
        inputs=said["inputs"],
        nodes=said["graph"] if form == "graph" else {},
        weights=said["weights"] if form == "layers" else None,
    )


def _not_asked(said: dict[str, Any], form: str) -> Found:
    if "unmade" in said:
        return Found(UNMADE, said["unmade"])
    if form in said["refused"]:
        return Found(REFUSED, said["refused"][form], form in said.get("ours", ()))
    return Found(REFUSED, said["refused"]["predictions"], "predictions" in said.get("ours", ()))


# --- by layers


def models_with(suite: Suite, source: str, layer: str) -> list[str]:
    """Return the models that say something of a layer: its own, or else those of convertible.py that have it."""
    if layer in graph_layers.LAYERS:
        return [layer] if (source, layer) in suite.classes else []
    return [name for name in convertible.MODELS if layer in suite.classes.get((source, name), ())]


def of_layer(suite: Suite, source: str, layer: str, form: str, backend: str) -> Found | None:
    """Return what is true of a layer: right if a model that has it is; None where no model has it.

    Else it is the model that has least beside it whose reason counts.
    """
    there = models_with(suite, source, layer)
    if not there:
        return None
    each = {name: suite.found[Case(source, name, form, backend)] for name in there}
    if any(found.verdict == RIGHT for found in each.values()):
        return Found(RIGHT)
    return each[min(there, key=lambda name: len(suite.classes[source, name]))]


def is_option(name: str) -> bool:
    """Say whether a model is of an option of a layer, or of an activation."""
    return name not in convertible.MODELS and name not in graph_layers.LAYERS


def shortly(found: Found) -> str:
    """Return a reason in a few words, without what differs from run to run: paths, names, the last digits."""
    lines = found.reason.splitlines()
    heading, *refused = lines if len(lines) > 1 else ["", *lines]
    if "Unsupported Ops" in heading:
        return f"TensorFlow.js has no {', '.join(sorted(', '.join(refused).split(', ')))}"
    # "dense (Dense): why; instead"
    reasons = dict.fromkeys(re.sub(r"^\S+ \(\w+\): ", "", line).partition("; ")[0] for line in refused)
    text = "; ".join(reasons).removeprefix("it cannot be a graph model: ").partition(". ")[0]
    text = re.sub(r"^(tf_)?keras cannot make it: ", "", text)
    text = re.sub(r"^[^:]*, [^:]*: (?=off by|a prediction)", "", text)
    text = re.sub(r"\ba prediction of the shape .*", "a prediction of another shape", text)
    text = re.sub(
        r"off by (\S+), and rounding explains .*", lambda off: f"off by {float(f'{float(off[1]):.2g}'):g}", text
    )
    text = re.sub(r"KerasTensor .*?>", "KerasTensor>", text)
    return re.sub(r"'?(\w+?)_\d+'?", r"\1", text)


def unexplained(suite: Suite) -> list[Case]:
    """Return the cases of convertible.py that are not right though each of their layers is."""
    return [
        case
        for case, found in suite.found.items()
        if case.name in convertible.MODELS
        and found.verdict != RIGHT
        and all(
            (one := of_layer(suite, case.keras, layer, case.form, case.backend)) is None or one.verdict == RIGHT
            for layer in suite.classes[case.keras, case.name]
        )
    ]


def all_layer_names(suite: Suite) -> list[str]:
    """Return the names of all layers of either Keras and of TensorFlow.js."""
    names: Iterable[str] = {name for public in suite.public.values() for name in public} | LAYERS
    return sorted(names, key=str.lower)


if __name__ == "__main__":
    save(Path(sys.argv[1]), sys.argv[2])

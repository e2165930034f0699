"""Checks a model: converts it, compares its predictions, lives through its lives, on each target."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tensorledger.cells.cell import Settings
from tensorledger.checking.checked import Advice, Checked, Parity
from tensorledger.checking.lives import CYCLES, live
from tensorledger.checking.parity import Form, broken, compare
from tensorledger.conversion.back import write_keras
from tensorledger.conversion.convert import Refusal, Wanted, as_file, as_layers, has_layers, keras_of
from tensorledger.conversion.folder import read_tfjs
from tensorledger.conversion.layers import Converted
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.sources import Given
from tensorledger.predictions.ask import Answer, Request, TensorFlowBroke, ask
from tensorledger.results.result import Result
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

INTERRUPTED = "interrupted"
"""Why not all was checked, where someone stopped it."""
TARGETS = ("tfjs", "tfjs/wasm")
"""Where a model is checked unless told, beside the Keras that it is of."""
FORMATS = ("auto", "layers", "graph", "both")


def _tell_nobody(what: str) -> None:
    pass


@dataclass(frozen=True)
class Asked:
    """What is to be checked, and where."""

    source: Given
    wanted: Wanted = field(default_factory=Wanted)
    """``wanted.format`` may be "both" too."""
    targets: Sequence[Target] = ()
    """Empty: the newest pinned release on cpu and wasm, and the model's own Keras."""
    inputs: Path | None = None
    """The user's own: .npy, or .npz for several."""
    cycles: int = CYCLES
    told: Callable[[str], None] = _tell_nobody
    """Is handed what is done next."""


def check(asked: Asked) -> Checked:
    """Return what was found. Raises nothing that a model or a target can bring about: it is in the result."""
    with tempfile.TemporaryDirectory(prefix="tensorledger-check-") as folder:
        return _Check(asked, Path(folder)).run()


class _Check:
    """One check, with what it has come to."""

    def __init__(self, asked: Asked, folder: Path) -> None:
        self._asked = asked
        self._folder = folder
        self._given = asked.source
        """What is converted: a file, also where it took code to make it."""
        self._source = asked.source
        """What Python loads."""
        self._keras = ""
        self._formats: list[str] = []
        self._refused: list[Refusal] = []
        self._parity: list[Parity] = []
        self._lived: list[tuple[Result, Advice]] = []
        self._quantized: dict[str, dict[str, list[float]]] = {}
        self._converted = Converted([], [])
        self._left_out: list[str] = []
        self._notes: list[str] = []

    def run(self) -> Checked:
        error = ""
        try:
            self._run()
        except KeyboardInterrupt:
            error = INTERRUPTED
        except (CannotConvert, TensorFlowBroke, OSError) as found:
            error = str(found)
        return Checked(
            model=str(self._asked.source),
            kind=self._asked.source.kind,
            keras=self._keras,
            quantize=self._asked.wanted.quantize,
            formats=self._formats,
            parity=self._parity,
            results=[result for result, _ in self._lived],
            recipes=[advice for _, advice in self._lived],
            refused=self._refused,
            error=error,
            quantized=self._quantized,
            notes=self._notes,
            rules=self._converted.rules,
            left_out=[*self._converted.left_out, *self._left_out],
        )

    def _run(self) -> None:
        wanted = self._asked.wanted
        self._asked.told("looking at the model")
        self._given = self._source = as_file(self._given, wanted, self._folder)
        self._keras = keras_of(self._given, wanted)
        targets = self._targets()
        if self._given.kind == "tfjs-layers":
            self._asked.told("converting back to Keras 3, which says what it is to predict")
            self._source = self._with_keras(self._given)
        has = has_layers(self._asked.source)
        graph = wanted.format in ("graph", "both") or (wanted.format == "auto" and not has)
        if wanted.format in ("layers", "both") or (wanted.format == "auto" and has):
            graph = (not self._layers() and wanted.format == "auto") or graph
        with Workers() as workers:
            python = [target for target in targets if target.language == "py"]
            javascript = [target for target in targets if target.language == "js"]
            for target in python:
                workers.prepare(target)
            answer, reference = self._ask(graph)
            forms = self._forms(answer, reference)
            for form in forms:
                for target in javascript:
                    self._on(form, target, workers)
            for target in python:
                self._in_python(target, answer, reference, workers)

    def _targets(self) -> list[Target]:
        """Return where the model is looked at; what is chosen and cannot load it in Python is said to be left out."""
        own = () if self._given.kind == "tfjs-graph" else (self._keras,) if self._keras else ("keras", "tf-keras")
        if not self._asked.targets:
            return resolve([*TARGETS, *own[:1]])
        found = [target for target in self._asked.targets if target.language == "js" or target.name in own]
        others = [str(target) for target in self._asked.targets if target not in found]
        if others:
            of = f"a model of {self._keras}" if self._keras else "a graph model"
            self._left_out.append(f"{', '.join(others)}: {of} does not load there")
        return found

    def _with_keras(self, source: Given) -> Given:
        """Return the Keras 3 model of a TensorFlow.js layers model."""
        file = self._folder / "model.keras"
        write_keras(read_tfjs(source.path), file)
        return Given(file, "keras", called=str(source))

    def _layers(self) -> bool:
        """Convert to layers; say whether that could be done."""
        self._asked.told("converting to a layers model")
        try:
            self._converted = as_layers(self._given, self._folder / "layers", self._asked.wanted)
        except CannotConvert as error:
            if not error.of_format:
                raise
            self._refused.append(Refusal("layers", str(error), "graph"))
            return False
        self._formats.append("layers")
        return True

    def _ask(self, graph: bool) -> tuple[Answer, Path]:
        """Have the model predict in Python, and convert it to a graph if it is to be."""
        wanted, reference = self._asked.wanted, self._folder / "reference"
        self._asked.told("predicting in Python" + (", converting to a graph model" if graph else ""))
        request = Request(
            source=self._source,
            keras=self._keras,
            imports=wanted.imports,
            run_code=wanted.run_code,
            graph=self._folder / "graph" if graph else None,
            shard=wanted.shard,
            quantize=wanted.quantize,
            reference=reference,
            inputs=self._asked.inputs,
        )
        answer = ask(request)
        if "graph" in answer.refused:
            reason = f"{self._asked.source}: {answer.refused['graph']}"
            self._refused.append(Refusal("graph", reason, "layers" if "layers" in self._formats else None))
        elif graph:
            self._formats.append("graph")
            self._notes += answer.notes()
        return answer, reference

    def _forms(self, answer: Answer, reference: Path) -> list[Form]:
        forms = []
        for name in self._formats:
            if self._asked.wanted.quantize:
                self._quantized[name] = {
                    one["inputs"]: [output["error"][name] for output in one["outputs"]] for one in answer.reference
                }
            forms.append(
                Form(
                    format=name,
                    folder=self._folder / name,
                    reference=reference,
                    sets=answer.reference,
                    outputs=answer.outputs,
                    inputs=[one["name"] for one in answer.inputs],
                    nodes=answer.graph if name == "graph" else {},
                    weights=answer.weights if name == "layers" else None,
                )
            )
        return forms

    def _on(self, form: Form, target: Target, workers: Workers) -> None:
        """Compare, and live, on one target with TensorFlow.js."""
        assert target.version is not None
        if form.format == "layers":
            try:
                form = self._for(form, target.version)
            except CannotConvert as error:
                self._parity.append(broken(form, target, str(error)))
                return
        self._asked.told(f"{form.format} model on {target}: predictions")
        found = compare(form, target, workers)
        self._parity.append(found)
        if found.error:
            return
        usages = ["loaded", "predicted", *(["trained"] if found.compiled and found.trainable else [])]
        self._asked.told(f"{form.format} model on {target}: lives")
        self._lived += live(target, form.format, usages, form.params(), workers, self._settings())

    def _for(self, form: Form, release: str) -> Form:
        """Return a layers model as a release can load it. Raises CannotConvert where it lacks something of it."""
        folder = self._folder / f"layers-{release}"
        if not folder.exists():
            as_layers(self._given, folder, replace(self._asked.wanted, release=release))
        return replace(form, folder=folder)

    def _in_python(self, target: Target, answer: Answer, reference: Path, workers: Workers) -> None:
        params = self._python(reference)
        kind = str(params["kind"])
        usages = ["loaded", "predicted", *(["trained"] if answer.trained else [])]
        self._asked.told(f"{target}: lives")
        self._lived += live(target, kind, usages, params, workers, self._settings())

    def _python(self, reference: Path) -> dict[str, Any]:
        """Return what a life in Python is handed."""
        source, wanted = self._source, self._asked.wanted
        kind = "keras" if self._keras else "saved-model"
        imports = [str(Path(one).absolute()) if one.endswith(".py") else one for one in wanted.imports]
        return {
            "path": str(source.path.absolute()),
            "kind": kind,
            "imports": imports,
            "run_code": wanted.run_code,
            "reference": str(reference),
        }

    def _settings(self) -> Settings:
        return Settings(cycles=self._asked.cycles)

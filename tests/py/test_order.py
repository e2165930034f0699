"""Thirty files on ten targets, in one command: each cell is what it is alone, in whatever order they are run."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tensorledger.expectations.description import QUANTITIES
from tensorledger.targets.catalogue import default
from tensorledger.targets.target import Target

CommandLine = Callable[..., subprocess.Popen[str]]
Results = dict[tuple[str, str], dict[str, Any]]

TARGETS = [Target("keras"), *(target for target in default() if target.language == "js")]

JS = {
    "plain": """
        export default async function* ({tf}) {
          const made = tf.ones([2, 3]);
          yield 'made';
          made.dispose();
          yield 'released';
        }
        """,
    "lives": """
        export default async function* ({models, data, release}) {
          const model = models.dropout();
          yield 'created';
          const prediction = model.predict(data.x);
          yield 'predicted';
          prediction.dispose();
          await release();
          yield 'released';
        }
        """,
    "tidies": """
        export default ({tf, data}) => tf.tidy(() => { data.x.square().sum().dataSync(); });
        """,
    "keeps": """
        export default async function* ({tf}) {
          tf.ones([2, 3]);
          yield 'made';
          tf.variable(tf.zeros([5]));
          yield 'more';
        }
        """,
    "keeps-a-model": """
        export default async function* ({models}) {
          models.dropout();
          yield 'created';
        }
        """,
    "throws": """
        export default async function* ({tf}) {
          const made = tf.ones([4]);
          yield 'made';
          try {
            made.reshape([5]);
          } finally {
            made.dispose();
          }
        }
        """,
}

PY = {
    "plain": """
        def scenario(context):
            made = context.tf.ones([2, 3])
            yield "made"
            del made
        """,
    "lives": """
        def scenario(context):
            model = context.models.classifier()
            yield "created"
            prediction = model(context.data.x, training=False)
            yield "predicted"
            del prediction, model
            context.release()
            yield "released"
        """,
    "keeps": """
        kept = []


        def scenario(context):
            kept.append(context.tf.ones([2, 3]))
            yield "made"
        """,
    "throws": """
        def scenario(context):
            yield "made"
            raise ValueError("on purpose")
        """,
}

JS_KINDS = [
    "plain",
    "lives",
    "tidies",
    "throws",
    "plain",
    "tidies",
    "keeps",
    "plain",
    "keeps-a-model",
    "plain",
    "lives",
]
PY_KINDS = [*PY, "plain", "lives"]
FILES = [
    *(f"{number:02}-{(JS_KINDS + 13 * ['plain'])[number]}.mjs" for number in range(24)),
    *(f"{number:02}_{kind}.py" for number, kind in enumerate(PY_KINDS, start=24)),
]
VERDICTS = {"plain": "pass", "lives": "pass", "tidies": "pass", "throws": "error"}
"""Of each kind of scenario; the others leak."""

ALONE = [
    ("10-lives.mjs", "tfjs@0.12.4/cpu"),
    ("08-keeps-a-model.mjs", "tfjs@1.0.4/cpu"),
    ("03-throws.mjs", "tfjs@2.8.6/cpu"),
    ("08-keeps-a-model.mjs", "tfjs@4.22.0/cpu"),
    ("06-keeps.mjs", "tfjs@4.22.0/wasm"),
    ("23-plain.mjs", "tfjs@0.15.3/cpu"),
    ("29_lives.py", "keras"),
    ("27_throws.py", "keras"),
]
"""A sample of cells, late ones, that are run by themselves too."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("order")
    for file in FILES:
        kind = Path(file).stem[3:]
        (folder / file).write_text(dedent((JS if file.endswith(".mjs") else PY)[kind]), encoding="utf-8")
    return folder


def exact(result: dict[str, Any]) -> dict[str, Any]:
    """Return what a result says that does not depend on the machine and the moment."""
    counts = [
        [{"name": read["name"], **{quantity: read[quantity] for quantity in QUANTITIES}} for read in result[part]]
        for part in ("checkpoints", "first")
    ]
    series = [{"cycle": one["cycle"], "tensors": one["tensors"], "bytes": one["bytes"]} for one in result["series"]]
    growth = {quantity: (result["growth"] or {}).get(quantity) for quantity in ("tensors", "bytes", "buffers")}
    same = ("language", "recipe", "verdict", "reason", "deviation", "cycles", "error")
    # TensorFlow.js numbers the layers that nobody named through the life of a process, as in dense_Dense3/kernel.
    # So does TensorFlow its gradients and captures in Python.
    leaks = [
        {
            **leak,
            "name": leak["name"] and re.sub(r"\d+", "N", leak["name"]),
            "held": [re.sub(r"\d+", "N", reason) for reason in leak["held"]],
        }
        for leak in result["leaks"]
    ]
    exactly = {key: result[key] for key in same}
    return {**exactly, "leaks": leaks, "counts": counts, "series": series, "growth": growth}


def started(
    command_line: CommandLine, folder: Path, files: list[str], targets: list[str], name: str
) -> subprocess.Popen[str]:
    options = [option for target in targets for option in ("-t", target)]
    return command_line(folder, "run", *files, *options, "--cycles", "1", "--json", name)


def finished(process: subprocess.Popen[str], folder: Path, name: str) -> Results:
    output, _ = process.communicate(timeout=300)
    assert process.returncode in (0, 1), output
    written = json.loads((folder / name).read_text(encoding="utf-8"))["results"]
    return {(result["scenario"], result["target"]): result for result in written}


@pytest.fixture(scope="module")
def both(folder: Path, command_line: CommandLine) -> tuple[Results, Results]:
    """Run all cells, and beside it all of them in reversed order."""
    targets = [str(target) for target in TARGETS]
    forward = started(command_line, folder, FILES, targets, "forward.json")
    backward = started(command_line, folder, FILES[::-1], targets[::-1], "backward.json")
    return finished(forward, folder, "forward.json"), finished(backward, folder, "backward.json")


def test_thirty_files_on_ten_targets_run_in_one_command(both: tuple[Results, Results]) -> None:
    assert (len(FILES), len(TARGETS)) == (30, 10)
    for found in both:
        assert len(found) == 24 * 9 + 6
        for (scenario, target), result in found.items():
            kind = Path(scenario).stem[3:]
            if kind == "lives" and target.startswith("tfjs@0."):
                continue  # there a model's initial values stay
            assert result["verdict"] == VERDICTS.get(kind, "fail"), (scenario, target, result["reason"])


def test_the_two_orders_are_opposite(both: tuple[Results, Results]) -> None:
    forward, backward = map(list, both)
    assert forward == backward[::-1]


def test_each_cell_is_the_same_in_reversed_order(both: tuple[Results, Results]) -> None:
    forward, backward = both
    different = [cell for cell in forward if exact(forward[cell]) != exact(backward[cell])]
    assert different == [], (exact(forward[different[0]]), exact(backward[different[0]]))


def test_files_of_the_same_text_are_the_same_on_a_target(both: tuple[Results, Results]) -> None:
    forward, _ = both
    by_text: dict[tuple[str, str], set[str]] = {}
    for (scenario, target), result in forward.items():
        # A stack names the file.
        said = exact({**result, "error": result["error"] and result["error"]["message"]})
        by_text.setdefault((scenario[3:], target), set()).add(json.dumps(said).replace(scenario, "FILE"))
    assert len(by_text) == len(JS) * 9 + len(PY)
    assert {key: len(texts) for key, texts in by_text.items() if len(texts) != 1} == {}


@pytest.mark.parametrize(("scenario", "target"), ALONE)
def test_a_cell_is_the_same_alone(
    scenario: str, target: str, both: tuple[Results, Results], folder: Path, command_line: CommandLine
) -> None:
    found = finished(started(command_line, folder, [scenario], [target], "alone.json"), folder, "alone.json")
    assert exact(found[scenario, target]) == exact(both[0][scenario, target])

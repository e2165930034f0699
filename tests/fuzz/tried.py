"""What a spoilt file is put to: the commands that read it; and what may come of that.

A result, if it is right, or an error that says of which file, and what is wrong with it. Everything else is a finding.
"""

from __future__ import annotations

import io
import json
import random
import re
import traceback
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from click.testing import CliRunner, Result
from seeds import SECRET

from tensorledger.cli import main
from tensorledger.conversion import apart
from tensorledger.conversion.folder import read_tfjs
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.predictions import ask
from tensorledger.predictions.input import Input
from tensorledger.predictions.inputs import read

NO_TENSORFLOW = "TensorFlow is left out of this"
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys, and does not show."""
LONGEST = 100_000
"""Characters that a command may say of one file."""
LOCAL = (SECRET[:16].encode(), b"root:x:0:0")
"""What is in files of this machine that no model may take in."""


@dataclass(frozen=True)
class Found:
    """What was wrong with what a reader did."""

    kind: str
    """In a word or two: the same for all that is alike."""
    said: str


def leave_tensorflow_out() -> None:
    """Have HDF5 given up sooner, and what would ask TensorFlow, which takes seconds, refused at once."""

    def refused(question: Path, answer: Path) -> dict[str, Any]:
        raise ask.TensorFlowBroke(NO_TENSORFLOW)

    ask._run = refused
    apart.SECONDS = 5.0


def tried(kind: str, file: Path, chance: random.Random) -> tuple[str, list[Found]]:
    """Have a file read; return what came of it in a word, and the findings."""
    if kind == "inputs":
        return _inputs(file)
    out = file.parent / chance.choice(["out", "out.keras"] if kind == "tfjs" else ["out"])
    beside = {path.name for path in file.parent.iterdir()}
    arguments = _arguments(kind, file, out, chance)
    ran = CliRunner().invoke(main, arguments, env={"COLUMNS": "100"})
    found = [Found(one, f"{arguments}\n{said}") for one, said in _of_command(ran, file, kind)]
    more = {path.name for path in file.parent.iterdir()} - beside - {"GITHUB_STEP_SUMMARY"}
    if (ran.exit_code and kind != "results" and out.exists()) or more - {out.name, "page.html"}:
        found.append(Found("left behind", f"{arguments}: {sorted(more)}"))
    if ran.exit_code == 0 and out.exists():
        found += [Found(one, f"{arguments}\n{said}") for one, said in _of_output(kind, file, out)]
    return ("read" if ran.exit_code == 0 else f"refused with {ran.exit_code}"), found


def _arguments(kind: str, file: Path, out: Path, chance: random.Random) -> list[str]:
    if kind != "results":
        options = [
            [], ["--format", "layers"], ["--for", "tfjs@1.0.4"], ["--shard", "16"], ["--quantize", "uint8"],
            ["--format", "graph"], ["--format", "layers", "--for", "tfjs@0.9.1"],
        ]  # fmt: skip
        return ["convert", str(file), str(out), *([] if out.suffix else chance.choice(options))]
    report = ["report", str(file), "--format"]
    commands = [
        ["show", str(file)],
        ["show", str(file), chance.choice(["breaks[", "[", "grows[tfjs@4.22.0/cpu]"])],
        ["record", "--from", str(file)],
        [*report, "html", "-o", str(file.parent / "page.html")],
        [*report, "junit"],
        [*report, "markdown"],
        [*report, "github"],
        [*report, "markdown", "--before", str(file)],
    ]
    return chance.choice(commands)


def _of_command(ran: Result, file: Path, kind: str) -> Iterator[tuple[str, str]]:
    said = ran.output
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        frames = traceback.extract_tb(ran.exc_info[2]) if ran.exc_info else []
        ours = [frame for frame in frames if "/tensorledger/" in frame.filename]
        where = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else "?"
        yield (
            f"raised {type(ran.exception).__name__} in {where}",
            "".join(traceback.format_exception(ran.exception))[-4000:],
        )
        return
    if ran.exit_code not in (0, 1, 2):
        yield f"exit status {ran.exit_code}", said
    if raw := RAW.search(said):
        yield "raw control characters", repr(said[max(0, raw.start() - 200) : raw.end() + 50])
    if len(said) > LONGEST:
        yield "endless words", f"{len(said):,} characters: {said[:300]}"
    if re.search(r"Traceback \(most|\w+Warning: ", said):
        yield "a traceback or a warning", said[:3000]
    if any(secret.decode() in said for secret in LOCAL):
        yield "a local file in the words", said[:3000]
    flat = "".join(said.split())
    if ran.exit_code and kind != "results" and file.name not in flat and NO_TENSORFLOW not in said:
        yield "does not say of which file", said[:3000]
    if ran.exit_code and len(flat) < len(str(file)) + 20 and NO_TENSORFLOW not in said:
        yield "says nothing", said
    vague = re.search(
        r"(KeyError|TypeError|AttributeError|IndexError|ValueError|AssertionError|RecursionError)\b", said
    )
    if vague and "is not understood" not in said and "is broken" not in said and kind != "results":
        yield f"an exception for an explanation: {vague[1]}", said[:3000]


def _of_output(kind: str, file: Path, out: Path) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a model that was written."""
    written = b"".join(path.read_bytes() for path in ([out] if out.is_file() else sorted(out.iterdir())))
    if any(secret in written for secret in LOCAL):
        yield "a local file in the model", str(file)
    if out.suffix == ".keras":
        with zipfile.ZipFile(out) as archive:
            _strict(archive.read("config.json"))
        return
    try:
        _strict((out / "model.json").read_bytes())
        model = read_tfjs(out)
        arrays = {weight.name: weight.read() for weight in model.weights}
    except (CannotConvert, ValueError) as error:
        yield "what was written cannot be read", str(error)
        return
    if "quantization" in (out / "model.json").read_text(encoding="utf-8"):
        return
    try:
        there = list(_numbers(kind, file))
    except Exception:  # parts of the file that have nothing to do with the model are broken
        return
    for name, array in arrays.items():
        if not any(_same(array, other) for other in there):
            yield "a weight that the source has not", f"{name} {array.dtype} {array.shape}"


def _strict(content: bytes) -> None:
    def no(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    json.loads(content, parse_constant=no)


def _numbers(kind: str, file: Path) -> Iterator[Any]:
    """Yield every array of a source, read in another way than by what is tried."""
    if kind == "tfjs":
        yield from (weight.read() for weight in read_tfjs(file).weights)
        return
    content = file.read_bytes()
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            content = archive.read("model.weights.h5")
    with h5py.File(io.BytesIO(content), "r") as found:
        arrays: list[Any] = []
        found.visititems(lambda _, one: arrays.append(one[()]) if isinstance(one, h5py.Dataset) else None)
    yield from arrays


def _same(array: Any, other: Any) -> bool:
    other = np.asarray(other)
    if array.shape != other.shape or other.dtype.kind not in "fiub":
        return False
    with np.errstate(all="ignore"):
        return bool(np.array_equal(array, other.astype(array.dtype), equal_nan=array.dtype.kind == "f"))


def _inputs(file: Path) -> tuple[str, list[Found]]:
    try:
        arrays = read(file, [Input("one", (None, 3), "float32")])
    except CannotConvert as error:
        return "refused", [] if file.name in str(error) else [Found("does not say of which file", str(error))]
    assert all(array.dtype == np.float32 for array in arrays)
    return "read", []

"""What a hostile file, version or page could do, and does not. The table of docs/threat-model.md names these tests."""

from __future__ import annotations

import ast
import copy
import ctypes
import io
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result
from reported import ATLASED, CHECKED, RESULTS, ROWS
from rich.table import Table
from rich.text import Text

from tensorledger.checking.checked import SCHEMA as CHECK
from tensorledger.cli import main
from tensorledger.conversion import apart, hdf5
from tensorledger.conversion.refusal import LONGEST, CannotConvert
from tensorledger.environment import packages, releases
from tensorledger.environment.cache import VARIABLE
from tensorledger.environment.tree import tree
from tensorledger.predictions.input import Input
from tensorledger.predictions.inputs import read
from tensorledger.results.result import document
from tensorledger.terminal.console import console, plain
from tensorledger.terminal.visible import visible

PAGE = tree() / "docs" / "threat-model.md"
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
HOSTILE = "\x1b]0;title\x07\x1b[2J\x1b[31m\x9b2J\r\x08\u202etxt"
SECRET = b"a secret of this machine's, that no model may take in"
Json = dict[str, Any]


# --- the page itself


def rows() -> list[list[str]]:
    """Return the table's rows: the threat, who from, what protects, the tests."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines[2:]]


def named_in(file: Path) -> set[str]:
    """Return the names of a file's tests; a test in JavaScript is called by its words."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        return {one.name for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)}
    return {title.replace("\\'", "'") for title in re.findall(r"^test\('((?:[^'\\]|\\.)*)'", text, re.MULTILINE)}


def test_every_threat_names_its_tests_and_all_of_them_are_there() -> None:
    assert len(rows()) > 20
    for threat, *_, named in rows():
        tests = re.findall(r"`([^`]+)::([^`]+)`", named)
        assert tests, f"no test of: {threat}"
        for file, name in tests:
            assert name in named_in(tree() / file), f"{threat}: there is no {name} in {file}"


def test_everything_that_may_be_hostile_has_a_threat_and_the_other_way_round() -> None:
    listed = re.findall(r"^- \*\*(.+?)\*\*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(listed) >= 7
    assert {row[1] for row in rows()} == set(listed)


# --- a model's file


def dense() -> Json:
    config = {"name": "dense", "units": 2, "use_bias": True, "activation": "linear", "batch_input_shape": [None, 3]}
    return {"class_name": "Sequential", "config": {"name": "m", "layers": [{"class_name": "Dense", "config": config}]}}


def hdf5_file(fill: Callable[[Any], object]) -> bytes:
    """Return the weights of a .keras file, with the kernel as ``fill`` makes it in its group."""
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        group = file.create_group("layers/dense/vars")
        group["1"] = np.zeros(2, np.float32)
        fill(group)
    return content.getvalue()


def archive(file: Path, weights: bytes, config: bytes = b"", compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(file, "w", compression) as written:
        written.writestr("metadata.json", json.dumps({"keras_version": "3.15.1"}))
        written.writestr("config.json", config or json.dumps(dense()).encode())
        written.writestr("model.weights.h5", weights)
    return file


def kernel(group: Any) -> None:
    group["0"] = np.ones((3, 2), np.float32)


def convert(file: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["convert", str(file), str(file.parent / "out"), "--format", "layers", *options])


def is_refused(ran: Result, folder: Path, said: str) -> None:
    assert ran.exit_code == 1 and isinstance(ran.exception, SystemExit), ran.output
    assert re.search(said, "".join(ran.output.splitlines())), ran.output
    assert not (folder / "out").exists()


def _virtual(group: Any, path: str) -> None:
    layout = h5py.VirtualLayout((3, 2), "f4")
    layout[:] = h5py.VirtualSource(path, "layers/dense/vars/0", (3, 2))
    group.create_virtual_dataset("0", layout)


ELSEWHERE: dict[str, Callable[[Any, str], object]] = {
    "its numbers": lambda group, path: group.create_dataset("0", (3, 2), "<i4", external=[(path, 0, 24)]),
    "an external link": lambda group, path: group.__setitem__("0", h5py.ExternalLink(path, "/layers/dense/vars/0")),
    "a soft link": lambda group, path: group.__setitem__("0", h5py.SoftLink("/layers/dense/vars/1")),
    "a virtual array": _virtual,
}


@pytest.mark.parametrize("how", ELSEWHERE)
def test_a_weight_that_lies_in_another_file_is_not_read(how: str, tmp_path: Path) -> None:
    other = tmp_path / "other.h5"
    other.write_bytes(SECRET if how == "its numbers" else hdf5_file(kernel))
    file = archive(tmp_path / "m.keras", hdf5_file(lambda group: ELSEWHERE[how](group, str(other))))
    is_refused(convert(file), tmp_path, "not followed")
    assert convert(archive(file, hdf5_file(kernel))).exit_code == 0, "and its twin, in which they are, is converted"


def claims(group: Any) -> None:
    group.create_dataset("0", (2**20, 2**20), "f4", chunks=True)


def nan(group: Any) -> None:
    group["0"] = np.full((3, 2), np.nan, np.float32)


@pytest.mark.parametrize(
    ("weights", "config", "said"),
    [
        (lambda: hdf5_file(kernel) + bytes(2**27), b"", "its weights claim to be 134,"),
        (lambda: hdf5_file(claims), b"", "stores no such"),
        (lambda: hdf5_file(kernel), b" " * 2**28 + b" {}", "larger than any model's"),
        (lambda: hdf5_file(kernel), b'{"a": ' * 5000 + b"1" + b"}" * 5000, "nested deeper than any model"),
    ],
    ids=["an archive's weights", "an array", "a description", "levels"],
)  # fmt: skip
def test_what_claims_to_be_larger_than_it_can_be_takes_no_memory_and_no_time(
    weights: Callable[[], bytes], config: bytes, said: str, tmp_path: Path
) -> None:
    file = archive(tmp_path / "m.keras", weights(), config)
    started = time.monotonic()
    is_refused(convert(file), tmp_path, said)
    assert time.monotonic() - started < 10


def test_a_heap_that_comes_to_no_end_is_refused(tmp_path: Path) -> None:
    def fill(group: Any) -> None:
        kernel(group)
        group.file.attrs["text"] = "in a heap"

    well = hdf5_file(fill)
    assert convert(archive(tmp_path / "m.keras", well)).exit_code == 0
    (tmp_path / "out").rename(tmp_path / "well")
    spoilt = bytearray(well)
    heap = spoilt.index(b"GCOL") + 16
    spoilt[heap : heap + 16] = bytes(16)
    file = archive(tmp_path / "n.keras", bytes(spoilt))
    # In a process of its own, for HDF5 cannot be interrupted.
    program = "from tensorledger.conversion import apart; apart.SECONDS = 2; from tensorledger.cli import main; main()"
    command: list[str] = [sys.executable, "-c", program, "convert", str(file), str(tmp_path / "out")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1 and "HDF5 comes to no end" in " ".join(ran.stdout.split()), ran.stdout + ran.stderr


def test_what_crashes_or_comes_to_no_end_in_c_is_told_by_who_asked(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(apart, "SECONDS", 0.3)
    assert apart.breakdown(lambda: ctypes.string_at(0)) == "crashes"
    assert apart.breakdown(lambda: time.sleep(60)) == "comes to no end within 0.3 s"
    assert apart.breakdown(lambda: 1 // 0) == apart.breakdown(lambda: os.write(1, b"loud")) == ""
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(hdf5, "breakdown", lambda _: "crashes")
    is_refused(convert(archive(tmp_path / "m.keras", hdf5_file(kernel))), tmp_path, "HDF5 crashes as it reads it")


def test_a_group_that_holds_itself_comes_to_an_end(tmp_path: Path) -> None:
    def fill(group: Any) -> None:
        for name in "ab":
            group.file["layers"][name] = group.file["layers"]

    is_refused(convert(archive(tmp_path / "m.keras", hdf5_file(fill))), tmp_path, "holds itself")


def test_a_number_that_json_has_not_is_not_written_into_a_model(tmp_path: Path) -> None:
    described = json.dumps(dense()).replace('"linear"', "NaN").encode()
    is_refused(convert(archive(tmp_path / "m.keras", hdf5_file(kernel), described)), tmp_path, "NaN is no JSON")
    file = archive(tmp_path / "n.keras", hdf5_file(nan))
    is_refused(convert(file, "--quantize", "uint8"), tmp_path, "not finite, which uint8 cannot keep")


def test_a_refusal_is_a_few_lines_whatever_the_file_calls_things() -> None:
    said = str(CannotConvert(f"one\n{'x' * 10**7}"))
    assert said.startswith("one\nxxx") and len(said) < LONGEST + 100 and "9,998,000 characters" in said


@pytest.mark.parametrize("name", ["inputs.npy", "inputs.npz"])
def test_inputs_run_no_code(name: str, tmp_path: Path) -> None:
    class Runs:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "ran"),)

    (np.save if name.endswith("y") else np.savez)(tmp_path / name, np.array([Runs()], dtype=object))
    with pytest.raises(CannotConvert, match=f"{name}: the inputs cannot be read"):
        read(tmp_path / name, [Input("x", (None,), "float32")])
    assert not (tmp_path / "ran").exists()


SAVED = """
import sys
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel
saved = SavedModel()
graph = saved.meta_graphs.add().graph_def
where = graph.library.function.add().node_def if sys.argv[2] == "inside" else graph.node
where.add(name="x", op="WriteFile")
open(sys.argv[1], "wb").write(saved.SerializeToString())
"""


@pytest.mark.parametrize("where", ["inside", "outside"])
def test_a_graph_that_writes_files_is_refused(where: str, tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    folder.mkdir()
    quiet = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run([sys.executable, "-c", SAVED, folder / "saved_model.pb", where], check=True, env=quiet)
    ran = CliRunner().invoke(main, ["convert", str(folder), str(tmp_path / "out")])
    assert ran.exit_code == 1 and "reach beyond the model, WriteFile" in " ".join(ran.output.split()), ran.output
    assert not (tmp_path / "out").exists()


def test_a_graph_of_tensorflow_js_that_reads_files_is_refused(tmp_path: Path) -> None:
    inside = {"function": [{"nodeDef": [{"name": "f", "op": "ReadFile"}]}]}
    described = {"modelTopology": {"node": [], "library": inside}, "weightsManifest": []}
    (tmp_path / "model.json").write_text(json.dumps(described), encoding="utf-8")
    ran = CliRunner().invoke(main, ["convert", str(tmp_path), str(tmp_path / "out"), "--format", "graph"])
    assert ran.exit_code == 1 and "reach beyond the model, ReadFile" in " ".join(ran.output.split()), ran.output


# --- what is shown


MEANT = {
    "schema", "verdict", "language", "of", "target", "kind", "first", "last", "releases", "usage", "recipe", "backend",
}  # fmt: skip
"""What is no text of anybody's, but one of a few words."""


def planted(found: Any, name: str = "") -> Any:
    """Return results with what a terminal obeys in every text of them that is shown as it is."""
    if isinstance(found, dict):
        return {key: planted(value, key) for key, value in found.items()}
    if isinstance(found, list):
        return [planted(one, name) for one in found]
    return found + HOSTILE if isinstance(found, str) and name not in MEANT else found


DOCUMENTS: dict[str, Json] = {
    "run": document(RESULTS, {}),
    "recipes": {"schema": "tensorledger/recipes/1", "rows": msgspec.to_builtins(ROWS)},
    "check": {"schema": CHECK, **msgspec.to_builtins(CHECKED)},
    "atlas": msgspec.to_builtins(ATLASED),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("command", ["show", "show one", "markdown", "github", "junit"])
def test_nothing_in_a_file_of_results_moves_the_cursor(kind: str, command: str, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    content = planted(copy.deepcopy(DOCUMENTS[kind]))
    file.write_text(json.dumps(content), encoding="utf-8")
    arguments = {"show": ["show", str(file)], "show one": ["show", str(file), "grows"]}
    ran = CliRunner().invoke(main, arguments.get(command, ["report", str(file), "--format", command]))
    assert ran.exception is None or isinstance(ran.exception, SystemExit)
    assert command == "github" or len(ran.output) > 20
    assert not (raw := RAW.search(ran.output)), repr(ran.output[max(0, raw.start() - 80) :][:120])


def test_a_name_in_a_model_moves_no_cursor(tmp_path: Path) -> None:
    described = json.dumps(dense()).replace('"name": "dense"', f'"name": {json.dumps("dense" + HOSTILE)}').encode()
    ran = convert(archive(tmp_path / "m.keras", hdf5_file(kernel), described))
    assert ran.exit_code == 1 and "TensorFlow.js takes no weight of the name" in ran.output
    assert not RAW.search(ran.output)


def test_a_console_shows_what_a_terminal_would_obey_and_keeps_its_colours() -> None:
    table = Table(HOSTILE)
    table.add_row(Text(HOSTILE, style="red"))
    said = plain([HOSTILE, Text(HOSTILE), table])
    assert not RAW.search(said) and said.count("␛]0;title") >= 3
    assert visible("a\nb\tc é 日本 ✓") == "a\nb\tc é 日本 ✓"
    with console().capture() as captured:
        console().print("[red]x[/]")
    assert captured.get() is not None


# --- where it is shown


@pytest.fixture
def results(tmp_path: Path) -> Path:
    file = tmp_path / "r.json"
    file.write_text(json.dumps(document(RESULTS, {})), encoding="utf-8")
    return file


@pytest.mark.parametrize("command", ["show", "report --format markdown"])
@pytest.mark.parametrize(
    ("redirection", "status", "said"),
    [
        (">&-", 2, "stdout is closed"),
        (">/dev/full", 2, "stdout could not be written: No space left on device"),
        ("2>&-", 0, ""),
    ],
)
def test_a_stdout_that_is_closed_or_full_is_told(
    results: Path, command: str, redirection: str, status: int, said: str
) -> None:
    ran = _run(results, command, redirection)
    assert ran.returncode == status, ran.stderr
    assert said in ran.stderr and "Traceback" not in ran.stderr
    assert "✓" in ran.stdout or status


def _run(file: Path, command: str, redirection: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = f"{sys.executable} -c 'from tensorledger.cli import main; main()'"
    name, *options = command.split(" ", 1)
    line = f"{program} {name} {file} {' '.join(options)} {redirection}"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env={**os.environ, **environment})


def test_a_reader_that_goes_away_is_no_traceback(results: Path) -> None:
    ran = _run(results, "show", "| head -1")
    assert "Traceback" not in ran.stderr and "Exception ignored" not in ran.stderr


def test_a_terminal_of_ascii_alone_tells_the_verdicts_apart(results: Path) -> None:
    ran = _run(results, "show", "", PYTHONIOENCODING="ascii", COLUMNS="200")
    assert ran.returncode == 0 and ran.stdout.isascii(), ran.stderr
    for sign, verdict in (("+", "pass"), ("~", "deviates"), ("x", "fail"), ("!", "error"), ("o", "caught")):
        assert re.search(rf"{re.escape(sign)} \d+ {verdict}", " ".join(ran.stdout.split())), verdict


# --- a version, and what npm is told

VERSIONS = [
    "--prefix=/tmp/x", "-g", "4.22.0 evil", "4.22.0;touch ran", "$(touch ran)", "`touch ran`", "file:..", "git+ssh:x",
    "latest", "npm:evil@1", "..", "4.22.0\n--script-shell=x", "4.22.0\x00", "https:x", "*;x", "4.22.0&&touch ran", "",
]  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_is_one_that_was_published_or_never_reaches_npm(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []

    def run(command: list[str], **options: Any) -> Any:
        called.append(list(command))
        raise subprocess.SubprocessError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(subprocess, "run", run)
    ran = CliRunner().invoke(main, ["install", f"tfjs@{version}"])
    assert ran.exit_code == 2, ran.output
    assert all("install" not in command and version not in command for command in called)
    assert not (tmp_path / "ran").exists()


def test_no_script_of_a_package_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []

    def run(command: list[str], **options: Any) -> Any:
        assert not options.get("shell")
        called.append(list(command))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(releases, "npm", lambda: ["npm"])
    monkeypatch.setattr(subprocess, "run", run)
    releases._install(tmp_path, ["@tensorflow/tfjs@4.22.0"])
    (command,) = called
    assert "--ignore-scripts" in command and command[-1] == "@tensorflow/tfjs@4.22.0"
    assert '"--ignore-scripts"' in Path(packages.__file__).read_text(encoding="utf-8")


# --- a name


@pytest.mark.parametrize("name", ["../../../secret", "/secret", "a/../../../secret"])
def test_a_name_of_a_scenario_in_a_file_leads_to_no_other_file(name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.toml"
    secret.write_bytes(SECRET)
    content = copy.deepcopy(DOCUMENTS["atlas"])
    relative = os.path.relpath(secret.with_suffix(""), tree() / "harness" / "expectations")
    for written in (name, relative, str(secret.with_suffix(""))):
        content["scenarios"] = dict.fromkeys([written], next(iter(DOCUMENTS["atlas"]["scenarios"].values())))
        file = tmp_path / "a.json"
        file.write_text(json.dumps(content), encoding="utf-8")
        for arguments in (["record", "--from", str(file)], ["report", str(file), "-o", str(tmp_path / "page.html")]):
            ran = CliRunner().invoke(main, arguments)
            assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
            assert SECRET[:12].decode() not in ran.output
            page = tmp_path / "page.html"
            assert not page.exists() or SECRET[:12] not in page.read_bytes()

"""Which kind of model a path stands for goes by what is there, not by its name."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tensorledger.conversion.convert import convert
from tensorledger.conversion.refusal import CannotConvert
from tensorledger.conversion.sources import KINDS, Given, given
from tensorledger.models.saved import saved_models


@pytest.fixture(scope="module")
def archive() -> Path:
    return saved_models() / "keras" / "classifier" / "model.keras"


@pytest.fixture(scope="module")
def hdf5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import h5py

    file = tmp_path_factory.mktemp("hdf5") / "model.h5"
    with h5py.File(file, "w") as opened:
        opened.attrs["keras_version"] = "2.19.0"
    return file


def layers(folder: Path) -> Path:
    shutil.copytree(saved_models() / "keras" / "classifier" / "tfjs", folder)
    return folder


def graph(folder: Path) -> Path:
    folder.mkdir()
    (folder / "model.json").write_text(json.dumps({"modelTopology": {"node": []}, "weightsManifest": []}))
    return folder


def saved_model(folder: Path, name: str = "saved_model.pb") -> Path:
    folder.mkdir()
    (folder / name).write_bytes(b"")
    return folder


@pytest.mark.parametrize("name", ["model.keras", "model.h5", "model", "model.hdf5", "mein Modell ü.zip", "a:b"])
def test_an_archive_is_one_by_any_name(archive: Path, tmp_path: Path, name: str) -> None:
    shutil.copyfile(archive, tmp_path / name)
    assert given(tmp_path / name) == given(str(tmp_path / name)) == Given(tmp_path / name, "keras")


@pytest.mark.parametrize("name", ["model.h5", "model.keras", "model", "ein Modell é.bin"])
def test_an_hdf5_file_is_one_by_any_name(hdf5: Path, tmp_path: Path, name: str) -> None:
    shutil.copyfile(hdf5, tmp_path / name)
    assert given(tmp_path / name) == Given(tmp_path / name, "h5")


@pytest.mark.parametrize("name", ["model", "ein Ordner ü", "model.keras", "model.h5", "model.json"])
def test_a_folder_is_what_lies_in_it(tmp_path: Path, name: str) -> None:
    for make, kind in ((layers, "tfjs-layers"), (graph, "tfjs-graph"), (saved_model, "saved-model")):
        folder = make(tmp_path / name)
        assert given(folder) == given(f"{folder}/") and given(folder).kind == kind
        assert given(folder).path == folder
        shutil.rmtree(folder)


def test_a_saved_model_may_be_text(tmp_path: Path) -> None:
    assert given(saved_model(tmp_path / "text", "saved_model.pbtxt")).kind == "saved-model"


@pytest.mark.parametrize("name", ["model.json", "ein Modell ü.json"])
def test_a_description_by_itself_is_its_folder(tmp_path: Path, name: str) -> None:
    for make, kind in ((layers, "tfjs-layers"), (graph, "tfjs-graph")):
        file = make(tmp_path / kind) / "model.json"
        file = file.rename(file.with_name(name))
        assert given(file) == Given(file, kind)  # type: ignore[arg-type]


def test_a_python_file_names_a_function(tmp_path: Path) -> None:
    file = tmp_path / "mein modell.py"
    file.write_text("raise SystemExit('it ran')")
    assert given(file) == given(f"{file}:model") == Given(file, "python", "model")
    assert given(f"{file}:make") == Given(file, "python", "make")
    assert str(given(f"{file}:make")) == f"{file}:make" and str(given(tmp_path / "mein modell.py")) == f"{file}:model"


def test_what_is_relative_stays_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layers(tmp_path / "model")
    (tmp_path / "model.py").touch()
    monkeypatch.chdir(tmp_path)
    assert str(given("model")) == "model" and str(given("model.py:make")) == "model.py:make"


def text(file: Path) -> Path:
    file.write_text("not a model")
    return file


def nothing(file: Path) -> Path:
    file.touch()
    return file


def empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


def with_broken(folder: Path) -> Path:
    folder.mkdir()
    (folder / "model.json").write_text("{")
    return folder


def with_a_folder(folder: Path) -> Path:
    (folder / "model.json").mkdir(parents=True)
    return folder


WRONG: dict[str, tuple[Callable[[Path], Path], str]] = {
    "text.keras": (text, "neither a .keras nor an .h5 file. A model is " + KINDS),
    "text.h5": (text, "neither a .keras nor an .h5 file"),
    "text.json": (text, "is broken"),
    "saved_model.pb": (text, "neither a .keras nor an .h5 file. A model is " + KINDS),
    "empty.h5": (nothing, "neither a .keras nor an .h5 file"),
    "nothing.keras": (lambda file: file, "there is no such file"),
    "nothing.py": (lambda file: file, "there is no such file"),
    "nothing.py:make": (lambda file: file, "there is no such file"),
    "nothing": (lambda file: file, "there is no such file"),
    "folder.py": (empty, "there is no such file"),
    "an empty folder": (empty, "the folder has neither a model.json nor a saved_model.pb"),
    "a folder with half a model.json": (with_broken, "model.json is broken"),
    "a folder with a folder": (with_a_folder, "the folder has neither a model.json nor a saved_model.pb"),
    "a folder/model.json": (lambda file: with_a_folder(file.parent) / "model.json", "neither a model.json nor a saved"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_model_is_refused_by_name(tmp_path: Path, name: str) -> None:
    make, said = WRONG[name]
    path = make(tmp_path / name)
    for written in (path, str(path)):
        with pytest.raises(CannotConvert) as raised:
            given(written)
        assert said in str(raised.value) and str(path).removesuffix(":make") in str(raised.value)
        assert not raised.value.of_format


def a_zip(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as opened:
        opened.writestr("readme.txt", "not a model")


@pytest.mark.parametrize(("make", "said"), [(a_zip, "is not whole: it has no"), (None, "holds weights only")])
def test_what_only_looks_like_a_model_is_refused_when_it_is_converted(
    hdf5: Path, tmp_path: Path, make: Callable[[Path], None] | None, said: str
) -> None:
    file = tmp_path / "model.keras"
    if make:
        make(file)
    else:
        shutil.copyfile(hdf5, file)
    with pytest.raises(CannotConvert, match=said) as raised:
        convert(file, tmp_path / "out")
    assert str(file) in str(raised.value) and [one.name for one in tmp_path.iterdir()] == ["model.keras"]

"""`tensorledger install` fetches ahead, says of each target what became of it, and goes on where one fails."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tensorledger.cli import main
from tensorledger.environment import packages, releases
from tensorledger.environment.cache import VARIABLE
from tensorledger.models.zoo import KERASES

# In the place of npm: installs the packages that it is asked for, empty, but for the release that is in BROKEN.
NPM = """
import pathlib, sys
if sys.argv[1] == "view":
    sys.exit(1)
wanted = [word for word in sys.argv[2:] if not word.startswith("-")]
with open({calls!r}, "a") as calls:
    calls.write(" ".join(wanted) + chr(10))
for word in wanted:
    name, _, version = word.rpartition("@")
    if version in {broken!r}:
        print("npm ERR! code ENOTFOUND [the registry]", file=sys.stderr)
        sys.exit(7)
    home = pathlib.Path("node_modules", name)
    home.mkdir(parents=True)
    (home / "package.json").touch()
"""


class Machine:
    """An empty cache, and an npm that fetches nothing from anywhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        self.calls_file = folder / "calls"
        self.program = folder / "npm.py"

    def break_releases(self, *versions: str) -> None:
        text = NPM.format(calls=str(self.calls_file), broken=versions)
        self.program.write_text(text, encoding="utf-8")

    @property
    def calls(self) -> list[str]:
        return self.calls_file.read_text(encoding="utf-8").splitlines() if self.calls_file.is_file() else []

    def install(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, ["install", *arguments], terminal_width=200)

    def told(self, *arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
        """Install, and return the exit status with what the results say of each target."""
        file = self.folder / "out.json"
        done = self.install(*arguments, "--json", str(file))
        assert "Traceback" not in done.output, done.output
        document = json.loads(file.read_text(encoding="utf-8"))
        assert document["schema"] == "tensorledger/install/1"
        return done.exit_code, {found["target"]: found for found in document["targets"]}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    made.break_releases()
    monkeypatch.setenv(VARIABLE, str(made.cache))
    monkeypatch.setattr(releases, "npm", lambda: [sys.executable, str(made.program)])
    # What the lock file pins is of another test: it takes a real npm.
    monkeypatch.setattr(packages, "installed", lambda: True)
    monkeypatch.setattr(packages, "modules", lambda: made.folder / "node_modules")
    monkeypatch.setattr(releases, "modules", lambda: made.folder / "node_modules")
    return made


def test_a_release_is_fetched_once_and_then_there_already(machine: Machine) -> None:
    status, found = machine.told("tfjs@0.12.0")
    assert (status, found["tfjs@0.12.0/cpu"]["state"]) == (0, "fetched")
    (folder,) = found["tfjs@0.12.0/cpu"]["folders"]
    assert Path(folder).is_dir() and Path(folder).is_relative_to(machine.cache)
    status, found = machine.told("tfjs@0.12.0")
    assert (status, found["tfjs@0.12.0/cpu"]["state"]) == (0, "there")
    assert found["tfjs@0.12.0/cpu"]["folders"] == [folder]
    assert machine.calls == ["@tensorflow/tfjs@0.12.0"]


def test_it_says_where_each_target_is_and_whether_it_was_there(machine: Machine) -> None:
    machine.install("tfjs@0.12.0")
    said = machine.install("tfjs@0.12.0", "tfjs@0.12.1").output.splitlines()
    home = machine.cache / "releases"
    assert said == [
        f"✓ tfjs@0.12.0/cpu there already: {home}/0.12.0/node_modules/@tensorflow/tfjs",
        f"✓ tfjs@0.12.1/cpu fetched: {home}/0.12.1/node_modules/@tensorflow/tfjs",
    ]


def test_a_backend_of_its_own_package_comes_along(machine: Machine) -> None:
    status, found = machine.told("tfjs@3.9.0/wasm")
    assert status == 0
    assert machine.calls == ["@tensorflow/tfjs@3.9.0 @tensorflow/tfjs-backend-wasm@3.9.0"]
    names = [Path(folder).name for folder in found["tfjs@3.9.0/wasm"]["folders"]]
    assert names == ["tfjs", "tfjs-backend-wasm"]


def test_what_the_lock_file_pins_is_not_fetched_apart(machine: Machine) -> None:
    status, found = machine.told("tfjs")
    assert (status, found["tfjs@4.22.0/cpu"]["state"]) == (0, "there")
    assert machine.calls == []


def test_a_range_means_every_release_in_it(machine: Machine) -> None:
    status, found = machine.told("tfjs@>=0.12.0,<0.12.4")
    assert status == 0
    assert set(found) == {f"tfjs@0.12.{number}/cpu" for number in range(4)}


def test_all_published_releases_are_meant_by_a_star(machine: Machine) -> None:
    status, found = machine.told("tfjs@*")
    assert status == 0
    assert {target["version"] for target in found.values()} == set(releases.published())


def test_a_release_that_npm_cannot_fetch_is_told_and_the_others_go_on(machine: Machine) -> None:
    machine.break_releases("0.12.1")
    status, found = machine.told("tfjs@>=0.12.0,<0.12.4")
    assert status == 1
    assert [target["state"] for target in found.values()] == ["fetched", "failed", "fetched", "fetched"]
    broken = found["tfjs@0.12.1/cpu"]
    assert "npm could not fetch @tensorflow/tfjs@0.12.1 (status 7)" in broken["reason"]
    assert "ENOTFOUND [the registry]" in broken["reason"]
    assert broken["folders"] == []
    assert not (machine.cache / "releases" / "0.12.1").exists()
    assert "✗ tfjs@0.12.1/cpu not fetched: npm could not fetch" in machine.install("tfjs@0.12.1").output


def test_what_failed_is_fetched_once_npm_works(machine: Machine) -> None:
    machine.break_releases("0.12.1")
    assert machine.told("tfjs@0.12.1")[0] == 1
    machine.break_releases()
    status, found = machine.told("tfjs@0.12.1")
    assert (status, found["tfjs@0.12.1/cpu"]["state"]) == (0, "fetched")


def test_the_lock_files_packages_are_tried_once_however_many_targets_need_them(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def fail() -> Path:
        tries.append("npm ci")
        raise packages.PackagesMissing("npm ci failed with status 7")

    monkeypatch.setattr(packages, "modules", fail)
    status, found = machine.told("tfjs@>=0.12.0,<0.12.4")
    assert status == 1
    assert {target["reason"] for target in found.values()} == {"npm ci failed with status 7"}
    assert tries == ["npm ci"]


def test_a_cache_that_cannot_be_written_is_told(machine: Machine) -> None:
    machine.cache.write_text("a file", encoding="utf-8")
    status, found = machine.told("tfjs@0.12.0", "keras")
    assert status == 1
    assert "cannot write to the cache folder" in found["tfjs@0.12.0/cpu"]["reason"]
    assert found["keras"]["state"] == "there"


def test_an_unknown_version_names_the_nearest(machine: Machine) -> None:
    done = machine.install("tfjs@0.12.99")
    assert done.exit_code == 2
    assert "the nearest are 0.12.7 and 0.13.0" in " ".join(done.output.split())
    assert machine.calls == []


def test_without_a_target_nothing_is_installed(machine: Machine) -> None:
    done = machine.install()
    assert done.exit_code == 2
    assert "Missing argument 'TARGET...'" in done.output


@pytest.mark.parametrize("name", ["keras", "tf-keras"])
def test_a_python_target_says_its_version(machine: Machine, name: str) -> None:
    done = machine.install(name)
    assert done.exit_code == 0
    assert done.output.startswith(f"✓ {name} {version(name)} there already: ")


def test_a_python_target_that_is_missing_says_how_to_install_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KERASES, "keras", "a_keras_that_is_not_there")
    status, found = machine.told("keras")
    assert status == 2
    assert found["keras"]["state"] == "lacking"
    assert found["keras"]["reason"].startswith("not installed: a_keras_that_is_not_there; pip install ")

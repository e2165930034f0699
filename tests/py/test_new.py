"""What `tensorledger new` writes passes as written, in a checkout and elsewhere, and takes the place of nothing.

So does the scenario that docs/scenarios.md shows, and the code that it quotes is the project's.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import indent

import pytest
from click.testing import CliRunner, Result
from outcomes import CHECKOUT, copy_of_the_checkout, definitions_at, pytest_harness

from tensorledger.cli import main


def new(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["new", *arguments])


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


# --- elsewhere


def test_elsewhere_each_language_has_its_expectation_beside_it_and_the_command_that_is_told_passes(
    elsewhere: Path,
) -> None:
    done = new("my-walk")
    assert done.exit_code == 0, done.output
    assert files(elsewhere) == {"my-walk.mjs", "my-walk.toml", "my_walk.py", "my_walk.toml"}
    assert all(f"wrote {name}\n" in done.output for name in files(elsewhere))
    command = done.output.splitlines()[-1].split()
    assert command == ["tensorledger", "run", "my-walk.mjs", "my_walk.py", "--target", "tfjs", "--target", "keras"]
    run = [sys.executable, "-m", *command, "--cycles", "1", "--json", "out.json"]
    ran = subprocess.run(run, cwd=elsewhere, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "✓ 2 pass" in ran.stdout


@pytest.mark.parametrize("stem", ["my-walk", "my_walk"])
def test_the_expectation_elsewhere_is_held_to(elsewhere: Path, stem: str) -> None:
    suffix, target = (".mjs", "tfjs") if "-" in stem else (".py", "keras")
    assert new("my-walk").exit_code == 0
    path = elsewhere / f"{stem}.toml"
    path.write_text(path.read_text(encoding="utf-8").replace('tensors = "weights', 'tensors = "1 + weights', 1))
    run = [sys.executable, "-m", "tensorledger", "run", f"{stem}{suffix}", "--target", target, "--cycles", "1"]
    ran = subprocess.run(run, cwd=elsewhere, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert f"{stem}.toml: created tensors: expected 5" in ran.stdout


def test_a_folder_can_be_given_by_its_whole_path(elsewhere: Path) -> None:
    assert new("walk", "--into", str(elsewhere / "made")).exit_code == 0
    assert files(elsewhere) == {f"made/walk{suffix}" for suffix in (".mjs", ".py", ".toml")}


def test_one_expectation_is_of_both_where_the_name_has_no_dash(elsewhere: Path) -> None:
    assert new("walk", "--into", "made/for it").exit_code == 0
    assert files(elsewhere) == {f"made/for it/walk{suffix}" for suffix in (".mjs", ".py", ".toml")}


@pytest.mark.parametrize(
    ("option", "written"),
    [("--js", {"my-walk.mjs", "my-walk.toml"}), ("--py", {"my_walk.py", "my_walk.toml"})],
)
def test_one_language_is_written_where_it_is_asked_for(elsewhere: Path, option: str, written: set[str]) -> None:
    assert new("my-walk", option).exit_code == 0
    assert files(elsewhere) == written


def test_the_files_say_their_names(elsewhere: Path) -> None:
    assert new("my-walk").exit_code == 0
    assert (elsewhere / "my-walk.mjs").read_text(encoding="utf-8").startswith("// my-walk: ")
    assert (elsewhere / "my_walk.py").read_text(encoding="utf-8").startswith('"""my-walk: ')
    for name in files(elsewhere):
        text = (elsewhere / name).read_text(encoding="utf-8")
        assert "{name}" not in text and "{expectation}" not in text
    assert tomllib.loads((elsewhere / "my_walk.toml").read_text(encoding="utf-8"))["model"] == "classifier"


# --- in a checkout


def test_in_a_checkout_it_is_one_of_the_projects_and_the_suite_passes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = copy_of_the_checkout(tmp_path)
    before = files(checkout / "js") | files(checkout / "py") | files(checkout / "harness")
    monkeypatch.chdir(checkout / "harness")
    with definitions_at(checkout):
        done = new("my-new-walk")
        again = new("my-new-walk", "--py")
    assert done.exit_code == 0, done.output
    assert f"pytest {checkout / 'harness'} -k my-new-walk" in done.output or "pytest . -k my-new-walk" in done.output
    after = files(checkout / "js") | files(checkout / "py") | files(checkout / "harness")
    assert after - before == {
        "scenarios/my-new-walk.mjs",
        "scenarios/my_new_walk.py",
        "expectations/my-new-walk.toml",
        "deviations/my-new-walk.toml",
    }
    assert again.exit_code == 2
    assert "there is a scenario my-new-walk already" in again.output
    ran = pytest_harness(checkout, "-k", "my-new-walk", "--cycles", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "skipped" not in ran.stdout


def test_the_projects_own_folders_are_not_written_into_by_a_folder(elsewhere: Path) -> None:
    checkout = elsewhere / "checkout"
    (checkout / "js" / "scenarios").mkdir(parents=True)
    with definitions_at(checkout):
        done = new("walk", "--into", "checkout/js/scenarios/mine")
    assert done.exit_code == 2
    assert "leave --into out" in done.output
    assert not files(checkout)


# --- what is refused


@pytest.mark.parametrize("name", ["My-walk", "my_walk", "my walk", "../walk", "walk.mjs", "my--walk", "walk-", "ä", ""])
def test_a_name_that_is_none_is_refused(elsewhere: Path, name: str) -> None:
    done = new("--", name)
    assert done.exit_code == 2
    assert "a name is lower-case letters and digits" in done.output
    assert not files(elsewhere)


@pytest.mark.parametrize("there", ["my-walk.mjs", "my_walk.py", "my-walk.toml", "my_walk.toml"])
def test_a_file_that_is_there_stays_and_nothing_is_written(elsewhere: Path, there: str) -> None:
    (elsewhere / there).write_text("mine", encoding="utf-8")
    done = new("my-walk")
    assert done.exit_code == 2
    assert f"nothing was written: {there}: there already" in done.output
    assert files(elsewhere) == {there}
    assert (elsewhere / there).read_text(encoding="utf-8") == "mine"


def test_a_folder_that_cannot_be_made_is_told(elsewhere: Path) -> None:
    (elsewhere / "file").write_text("", encoding="utf-8")
    done = new("walk", "--into", "file/below")
    assert done.exit_code == 2
    assert "file/below/walk.mjs could not be written" in done.output
    assert "Traceback" not in done.output


# --- docs/scenarios.md


@pytest.fixture(scope="module")
def blocks() -> list[str]:
    """The page's blocks of code."""
    page = CHECKOUT / "docs" / "scenarios.md"
    if not page.is_file():
        pytest.skip("the page is in a checkout")
    return re.findall(r"^```\w+\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


NAMED = re.compile(r"(?:#|//) (?P<file>\S+/\S+\.(?:mjs|py|toml))\n")


def test_the_scenario_that_the_page_shows_passes_as_it_is_shown(blocks: list[str], tmp_path: Path) -> None:
    checkout = copy_of_the_checkout(tmp_path)
    shown = {match["file"]: block[match.end() :] for block in blocks if (match := NAMED.match(block))}
    assert set(shown) == {
        "js/scenarios/two-models.mjs",
        "py/scenarios/two_models.py",
        "harness/expectations/two-models.toml",
        "harness/deviations/two-models.toml",
    }
    for name, text in shown.items():
        (checkout / name).write_text(text, encoding="utf-8")
    ran = pytest_harness(checkout, "-k", "two-models", "--cycles", "1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "skipped" not in ran.stdout


@pytest.mark.parametrize(
    ("begins", "file", "by"),
    [
        ("'walk-values': {", "js/lifecycle/recipes.mjs", "  "),
        ("def _del_collect(", "py/tensorledger/runtime/recipes.py", ""),
        ("# Dense 10 relu, Dropout 0.5", "harness/models/dropout.toml", ""),
        ('"tfjs-4.22.0": ', "package.json", "    "),
    ],
)
def test_what_the_page_quotes_is_there(blocks: list[str], begins: str, file: str, by: str) -> None:
    (block,) = [block for block in blocks if block.startswith(begins)]
    assert indent(block, by).rstrip() in (CHECKOUT / file).read_text(encoding="utf-8")

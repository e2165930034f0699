"""Releases of TensorFlow.js: fetched on demand, whole or not at all, and what goes wrong with that is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import psutil
import pytest

from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.environment import node as nodes
from tensorledger.environment import releases
from tensorledger.environment.cache import VARIABLE, CacheUnusable
from tensorledger.environment.node import NodeMissing, npm
from tensorledger.environment.releases import BACKENDS, LIBRARY, ReleaseMissing, fetched, is_here, packages, published
from tensorledger.environment.tree import tree
from tensorledger.scenarios.catalogue import all_scenarios
from tensorledger.targets.catalogue import default, lacking, resolve
from tensorledger.targets.target import BadTarget, Target
from tensorledger.workers.errors import WorkerNotStarted
from tensorledger.workers.pool import Workers
from tensorledger.workers.start import Starter

SMALL, OTHER, BROKEN = "0.8.0", "0.6.1", "0.9.0"
"""Releases of four packages and a few megabytes, each fetched within 2 s; the last with two copies of its core."""

NOBODY = "http://127.0.0.1:9"
"""A registry that refuses connections."""

TFJS = [target for target in default() if target.language == "js"]

Fake = Callable[[str], Path]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder


@pytest.fixture
def fake_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Make npm a Python script; return a file to which each call appends its arguments."""

    def make(script: str) -> Path:
        called = tmp_path / "called"
        called.touch()
        file = tmp_path / "npm.py"
        told = f"import sys\nwith open({str(called)!r}, 'a') as calls: calls.write(' '.join(sys.argv[1:]) + '\\n')\n"
        file.write_text(told + dedent(script), encoding="utf-8")
        monkeypatch.setattr(releases, "npm", lambda: [sys.executable, "-S", str(file)])
        return called

    return make


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache that has the small releases; skip where npm cannot be reached."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder))
        for version in (SMALL, BROKEN):
            _fetched_or_skip(version)
    return folder


def _fetched_or_skip(version: str) -> Path:
    try:
        return fetched(version, "cpu")
    except ReleaseMissing as error:
        if any(code in str(error) for code in ("ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT", "ENETUNREACH")):
            pytest.skip(f"npm cannot be reached: {str(error).splitlines()[1]}")
        raise


def calls(called: Path) -> list[str]:
    return called.read_text(encoding="utf-8").splitlines()


def entries(cache: Path) -> list[str]:
    """Return what is in the cache's folder of releases, but for the locks."""
    return sorted(path.name for path in (cache / "releases").iterdir() if path.suffix != ".lock")


# npm install, as far as this side sees it: the packages asked for, each a folder with its package.json.
INSTALLS = """
import json, pathlib, sys
for asked in sys.argv[1:]:
    if asked.startswith("@"):
        name, _, version = asked.rpartition("@")
        home = pathlib.Path("node_modules", name)
        home.mkdir(parents=True)
        (home / "package.json").write_text(json.dumps({"name": name, "version": version}))
"""


# --- fetched on demand


def test_a_release_is_fetched_whole_when_it_is_first_asked_for(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_here(SMALL, "cpu")
    _fetched_or_skip(SMALL)
    assert is_here(SMALL, "cpu") and not is_here(SMALL, "wasm") and entries(cache) == [SMALL]
    monkeypatch.setattr(releases, "npm", lambda: pytest.fail("npm is not needed any more"))
    found = packages(SMALL, "cpu")
    assert found.library == cache / "releases" / SMALL / "node_modules" / "@tensorflow" / "tfjs"
    assert found.backend is None
    assert json.loads((found.library / "package.json").read_text(encoding="utf-8"))["version"] == SMALL
    for part in ("tfjs-core", "tfjs-layers"):
        assert (found.library.parent / part / "package.json").is_file()


@pytest.mark.parametrize("left", ["nothing", "half", "a file", "a dangling link"])
def test_what_is_no_whole_release_any_more_is_fetched_again(cache: Path, fake_npm: Fake, left: str) -> None:
    fake_npm(INSTALLS)
    home = cache / "releases" / "3.3.0"
    home.parent.mkdir(parents=True)
    if left == "a file":
        home.write_text("", encoding="utf-8")
    elif left == "a dangling link":
        home.symlink_to(cache / "nowhere")
    else:
        (home / ("node_modules" if left == "half" else "")).mkdir(parents=True)
    assert not is_here("3.3.0", "cpu")
    assert (packages("3.3.0", "cpu").library / "package.json").is_file()
    assert is_here("3.3.0", "cpu")


def test_the_first_release_that_has_wasm_runs_on_it(cache: Path) -> None:
    try:
        packages("1.7.0", "wasm")
    except ReleaseMissing as error:
        pytest.skip(f"npm cannot be reached: {error}")
    (target,) = resolve(["tfjs@1.7.0/wasm"])
    with Workers() as workers:
        ran = run_cell(Cell(all_scenarios()["predict-dispose"], target), workers, Settings(cycles=1))
    assert ran.result.verdict == "pass", ran.result.reason


def test_a_second_asking_fetches_nothing(cache: Path, fake_npm: Fake) -> None:
    called = fake_npm(INSTALLS)
    first = packages("3.3.0", "cpu")
    assert packages("3.3.0", "cpu") == first
    (call,) = calls(called)
    assert call.startswith("install --ignore-scripts ") and call.endswith(f" {LIBRARY}@3.3.0")
    assert entries(cache) == ["3.3.0"]


def test_a_release_with_wasm_is_another_folder_with_both_packages(cache: Path, fake_npm: Fake) -> None:
    called = fake_npm(INSTALLS)
    packages("3.3.0", "cpu")
    found = packages("3.3.0", "wasm")
    assert found.backend is not None and found.backend.parent == found.library.parent
    assert found.backend.name == "tfjs-backend-wasm"
    assert entries(cache) == ["3.3.0", "3.3.0+wasm"]
    assert calls(called)[1].endswith(f" {LIBRARY}@3.3.0 {BACKENDS['wasm']}@3.3.0")


@pytest.mark.parametrize("target", TFJS, ids=str)
def test_a_pinned_release_is_where_the_lock_file_puts_it(
    target: Target, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "npm", lambda: pytest.fail("it is not fetched"))
    assert target.version is not None and target.backend is not None and is_here(target.version, target.backend)
    found = packages(target.version, target.backend)
    assert found.library == tree() / "node_modules" / f"tfjs-{target.version}"
    assert json.loads((found.library / "package.json").read_text(encoding="utf-8"))["version"] == target.version
    if target.backend == "wasm":
        assert found.backend == tree() / "node_modules" / f"tfjs-backend-wasm-{target.version}"


FETCH = """
import sys
from tensorledger.environment import releases
npm = [sys.executable, "-S", sys.argv[1]]
releases.npm = lambda: npm
print(releases.fetched("3.3.0", "cpu"))
"""


def fetching(npm_script: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", FETCH, npm_script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_of_processes_that_ask_at_once_one_fetches_and_the_others_wait(cache: Path, fake_npm: Fake) -> None:
    called = fake_npm(f"import time\ntime.sleep(0.7)\n{INSTALLS}")
    asked = [fetching(called.with_name("npm.py")) for _ in range(3)]
    outputs = [process.communicate(timeout=60) for process in asked]
    assert [process.returncode for process in asked] == [0, 0, 0], outputs
    assert {out.strip() for out, _ in outputs} == {str(cache / "releases" / "3.3.0")}
    assert len(calls(called)) == 1


def test_a_fetch_that_was_killed_is_not_taken_for_whole_and_the_next_one_sweeps_it_away(
    cache: Path, fake_npm: Fake
) -> None:
    # Installs, and then hangs before it ends: as much as there can be of a fetch that is not one.
    called = fake_npm(f"{INSTALLS}\nimport time\nprint('there', file=open('node_modules/there', 'w'))\ntime.sleep(60)")
    killed = fetching(called.with_name("npm.py"))
    deadline = time.monotonic() + 30
    while not list(cache.glob("releases/.3.3.0.*/3.3.0/node_modules/there")):
        assert time.monotonic() < deadline and killed.poll() is None
        time.sleep(0.02)
    children = psutil.Process(killed.pid).children()
    killed.kill()
    killed.wait()
    assert not is_here("3.3.0", "cpu")
    assert [name.startswith(".3.3.0.") for name in entries(cache)] == [True]

    fake_npm(INSTALLS)
    home = fetched("3.3.0", "cpu")
    assert (home / "node_modules" / LIBRARY / "package.json").is_file()
    assert not (home / "node_modules" / "there").exists()
    assert entries(cache) == ["3.3.0"]
    for child in children:
        child.kill()


def test_a_fetch_that_failed_leaves_nothing_and_the_next_one_succeeds(cache: Path, fake_npm: Fake) -> None:
    fake_npm(f"{INSTALLS}\nsys.exit(1)")
    with pytest.raises(ReleaseMissing):
        fetched("3.3.0", "cpu")
    assert entries(cache) == []
    fake_npm(INSTALLS)
    assert fetched("3.3.0", "cpu").is_dir()


# --- npm does not do it


def test_a_registry_that_is_not_reached_is_told_with_what_to_do(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", NOBODY)
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    with pytest.raises(ReleaseMissing) as told:
        packages(SMALL, "cpu")
    message = str(told.value)
    assert message.startswith(f"npm could not fetch {LIBRARY}@{SMALL} (status 1):\n")
    assert "ECONNREFUSED" in message and "127.0.0.1:9" in message
    assert message.endswith("Once npm works: tensorledger install TARGET")
    assert "    at " not in message, "npm's own stack helps nobody"
    assert entries(cache) == []


def test_npm_tries_again_but_not_for_long(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", NOBODY)
    monkeypatch.setenv("npm_config_fetch_retries", "1")
    started = time.monotonic()
    with pytest.raises(ReleaseMissing, match="ECONNREFUSED"):
        fetched(SMALL, "cpu")
    assert 0.9 < time.monotonic() - started < 9, "npm itself waits for 10 s"


@pytest.mark.parametrize(
    "said",
    [
        "npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.npmjs.org/@tensorflow%2ftfjs",
        "npm ERR! code E500\nnpm ERR! 500 Internal Server Error - GET https://registry.npmjs.org/@tensorflow%2ftfjs",
        "npm ERR! code ENOSPC\nnpm ERR! nospc ENOSPC: no space left on device, write",
    ],
    ids=["not found", "server error", "disk full"],
)
def test_an_error_of_npm_is_told_in_its_words(said: str, cache: Path, fake_npm: Fake) -> None:
    fake_npm(f"{INSTALLS}\nsys.stderr.write({said!r}); sys.exit(228)")
    with pytest.raises(ReleaseMissing) as told:
        packages("3.3.0", "cpu")
    assert f"(status 228):\n{said}\n" in str(told.value)
    assert entries(cache) == []


def test_an_npm_that_never_ends_is_ended(cache: Path, fake_npm: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "SECONDS", 0.3)
    fake_npm("import time\ntime.sleep(60)")
    with pytest.raises(ReleaseMissing, match=r"npm did not fetch .* within 0\.3 s; is the registry reached\?"):
        packages("3.3.0", "cpu")
    assert entries(cache) == []


# --- the cache does not do it


@pytest.fixture(params=["below a file", "below /proc"])
def unusable(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "cache" if request.param == "below a file" else Path("/proc/tensorledger")
    monkeypatch.setenv(VARIABLE, str(folder))
    return str(folder)


def test_a_cache_that_cannot_be_written_is_told(unusable: str) -> None:
    with pytest.raises(CacheUnusable) as told:
        packages(SMALL, "cpu")
    assert str(told.value).startswith(f"cannot write to the cache folder {unusable}: ")
    assert str(told.value).endswith(f"Set {VARIABLE} to a folder that can be written.")


def test_without_a_cache_the_releases_are_those_that_are_known(unusable: str) -> None:
    assert published() == known()
    assert resolve(["tfjs@<0.8"])[-1] == Target("tfjs", "0.7.0", "cpu")


def test_a_cache_that_is_full_is_told(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_folder: Path, _what: list[str]) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(releases, "_install", full)
        with pytest.raises(CacheUnusable, match=f"{cache}/releases: No space left on device"):
            packages("3.3.0", "cpu")
    assert entries(cache) == []


# --- what was published


def known(package: str = LIBRARY) -> list[str]:
    found: list[str] = json.loads((tree() / "js" / "releases.json").read_text(encoding="utf-8"))[package]
    return found


@pytest.mark.parametrize("package", [LIBRARY, *BACKENDS.values()])
def test_the_known_releases_are_all_that_npm_has_today(package: str) -> None:
    command = [*npm(), "view", package, "versions", "--json", "--fetch-retries=0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        pytest.skip("npm did not answer within 60 s")
    if done.returncode != 0:
        pytest.skip(f"npm cannot be asked: {(done.stderr or done.stdout).strip().splitlines()[0]}")
    stable = {version for version in json.loads(done.stdout) if version.replace(".", "").isdigit()}
    assert stable == set(known(package))
    if package == LIBRARY:
        assert {target.version for target in resolve(["tfjs@*"])} == stable


def test_npm_is_asked_once_a_day_and_what_it_says_is_added(cache: Path, fake_npm: Fake) -> None:
    called = fake_npm("""print('["4.21.0", "5.0.0-rc.1", "5.0.0", "no version"]')""")
    assert published() == [*known(), "5.0.0"]
    assert published() == [*known(), "5.0.0"]
    assert [call.split()[:3] for call in calls(called)] == [["view", LIBRARY, "versions"]]
    (kept,) = (cache / "published").iterdir()
    os.utime(kept, (0, 0))
    published()
    assert len(calls(called)) == 2


@pytest.mark.parametrize(
    "script",
    [
        "print('garbage')",
        "print('{\"error\": {}}')",
        "print('3')",
        "print('null')",
        "print('[]')",
        "print('[[], {}, 1, null]')",
        "print('\"1.0.0\"')",
        "print('[\"9.9.9\"]'); sys.exit(1)",
        "sys.exit(1)",
        "pass",
    ],
)
def test_what_npm_says_amiss_about_releases_changes_nothing(script: str, cache: Path, fake_npm: Fake) -> None:
    called = fake_npm(script)
    assert published() == known()
    assert len(calls(called)) == 1


def test_a_release_that_is_known_is_not_asked_for(cache: Path, fake_npm: Fake) -> None:
    called = fake_npm("print('[]')")
    assert resolve([f"tfjs@{SMALL}", "tfjs@3.3.0/wasm", "tfjs@3.3"]) == [
        Target("tfjs", SMALL, "cpu"),
        Target("tfjs", "3.3.0", "wasm"),
        Target("tfjs", "3.3.0", "cpu"),
    ]
    assert calls(called) == []
    resolve(["tfjs@>=0.8,<0.9"])
    assert len(calls(called)) == 1


def test_a_release_that_came_out_since_is_a_target(cache: Path, fake_npm: Fake) -> None:
    fake_npm("""print('["5.0.0"]')""")
    assert resolve(["tfjs@5.0.0"]) == [Target("tfjs", "5.0.0", "cpu")]
    assert resolve(["tfjs@*"])[-1] == Target("tfjs", "5.0.0", "cpu")


def test_a_range_means_the_releases_in_it_oldest_first(cache: Path, fake_npm: Fake) -> None:
    fake_npm("sys.exit(1)")
    found = resolve(["tfjs@>=0.12.5,<0.13.2/cpu"])
    assert [target.version for target in found] == ["0.12.5", "0.12.6", "0.12.7", "0.13.0", "0.13.1"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tfjs@0.9.7", "no release of this version was published; the nearest are 0.9.1 and 0.10.0"),
        ("tfjs@9.9.9", "the nearest are 4.22.0. Pinned"),
        ("tfjs@0.0.1", "the nearest are 0.6.1. Pinned"),
        ("tfjs@>=7", "the nearest are 0.6.1 and 4.22.0"),
        ("tfjs@1.0.4/wasm", "no release of TensorFlow.js with the backend wasm of this version was published; "),
        ("tfjs@1.0.4/wasm", "the nearest are 1.7.0"),
    ],
)
def test_a_version_that_is_none_is_refused_with_the_nearest(text: str, said: str, cache: Path, fake_npm: Fake) -> None:
    fake_npm("sys.exit(1)")
    with pytest.raises(BadTarget) as refused:
        resolve([text])
    assert str(refused.value).startswith(f"no target '{text}': ")
    assert said in str(refused.value)
    assert str(refused.value).endswith(f"Pinned: {', '.join(map(str, default()))}")


# --- node does not do it


@pytest.fixture
def node_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str | None], Path]]:
    """Make Node.js a script of this text, or a file that is not there."""

    def make(script: str | None) -> Path:
        file = tmp_path / "node"
        if script is not None:
            file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            file.chmod(0o755)
        monkeypatch.setenv("TENSORLEDGER_NODE", str(file))
        nodes.node.cache_clear()
        return file

    yield make
    nodes.node.cache_clear()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "Node.js at NODE cannot be run: .*No such file"),
        ("echo v16.20.2", "Node.js 16.20.2 at NODE is older than 18.4; "),
        ("echo v18.3.0", "Node.js 18.3.0 at NODE is older than 18.4; "),
        ("echo hello", "NODE is not Node.js: asked for its version it says 'hello'; "),
        ("exit 3", "Node.js at NODE cannot be run: .*exit status 3"),
    ],
    ids=["missing", "old", "a little too old", "not node", "fails"],
)
def test_a_node_that_will_not_do_is_told_with_what_to_do(
    script: str | None, said: str, node_at: Callable[[str | None], Path], cache: Path
) -> None:
    file = node_at(script)
    with pytest.raises(NodeMissing, match=said.replace("NODE", str(file))) as told:
        packages(SMALL, "cpu")
    assert str(told.value).endswith("pip install nodejs-bin==18.4.0a4, and leave TENSORLEDGER_NODE unset")
    assert lacking(Target("tfjs", SMALL, "cpu")) == str(told.value)
    assert published() == known(), "what is known needs no Node.js"


def test_a_node_that_is_new_enough_is_taken(node_at: Callable[[str | None], Path]) -> None:
    file = node_at("echo v18.4.0")
    assert nodes.node() == file


# --- the releases themselves


@pytest.mark.parametrize("target", TFJS, ids=str)
def test_the_worker_of_each_default_target_is_of_the_release_that_was_asked_for(target: Target) -> None:
    starter = Starter()
    worker = starter.start(target)
    worker.stop()
    assert worker.versions["tfjs"] == target.version


def test_a_release_from_the_cache_is_what_its_worker_says(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(filled))
    worker = Starter().start(Target("tfjs", SMALL, "cpu"))
    worker.stop()
    assert worker.versions["tfjs"] == SMALL


def test_a_release_whose_packages_do_not_fit_together_is_told_with_how(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(filled))
    with pytest.raises(WorkerNotStarted) as told:
        Starter().start(Target("tfjs", BROKEN, "cpu"))
    assert "cpu backend was already registered as global" in str(told.value)
    brought = "the packages of this release do not fit together: they bring tfjs-core 0.6.1 and 0.7.1"
    assert brought in str(told.value)


def test_such_a_release_is_an_error_in_a_run_and_the_others_go_on(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command_line: Callable[..., subprocess.Popen[str]]
) -> None:
    monkeypatch.setenv(VARIABLE, str(filled))
    (tmp_path / "one.mjs").write_text("export default ({tf}) => tf.scalar(1).dispose();\n", encoding="utf-8")
    targets = ["-t", f"tfjs@{BROKEN}", "-t", f"tfjs@{SMALL}"]
    run = command_line(tmp_path, "run", "one.mjs", *targets, "--cycles", "1", "--json", "out.json")
    output, _ = run.communicate(timeout=60)
    assert run.returncode == 1, output
    results = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["results"]
    assert [result["verdict"] for result in results] == ["error", "pass"]
    assert results[0]["error"]["type"] == "WorkerNotStarted"
    assert "they bring tfjs-core 0.6.1 and 0.7.1" in results[0]["reason"]
    assert "they bring tfjs-core 0.6.1 and 0.7.1" in output

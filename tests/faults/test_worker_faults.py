"""Workers that break: killed, stopped, starved, flooded; each at a cycle and a point that chance decides."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from place import Ended

Between = Callable[..., Ended]

JS = """\
import fs from 'node:fs';
import v8 from 'node:v8';
let cycle = -1;
export default async function* ({{tf}}) {{
  cycle++;
  if (cycle === {cycle} && {point} === 0) {{ {fault} }}
  const x = tf.ones([4]);
  yield 'made';
  if (cycle === {cycle} && {point} === 1) {{ {fault} }}
  x.dispose();
  yield 'gone';
  if (cycle === {cycle} && {point} === 2) {{ {fault} }}
}}
"""
PY = """\
import ctypes, os, resource, signal, sys, time
cycle = -1
def scenario(context):
    global cycle
    cycle += 1
    if cycle == {cycle} and {point} == 0:
        {fault}
    x = context.tf.ones([4])
    yield "made"
    if cycle == {cycle} and {point} == 1:
        {fault}
    del x
    yield "gone"
    if cycle == {cycle} and {point} == 2:
        {fault}
"""


def planted(chance: random.Random, template: str, fault: str) -> str:
    return template.format(cycle=chance.randrange(4), point=chance.randrange(3), fault=fault)


def broke(ended: Ended, name: str, *says: str) -> None:
    """Check that the scenario is an error that says one of these, and the command's status tells it."""
    result = ended.results[name]
    assert (result["verdict"], ended.status) == ("error", 1), ended.output
    assert any(said in result["reason"] for said in says), result["reason"]


def test_a_javascript_worker_is_killed(between: Between, chance: random.Random) -> None:
    name = chance.choice(["SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT", "SIGBUS"])
    broke(between("mjs", planted(chance, JS, f"process.kill(process.pid, '{name}'); for (;;);")), "bad.mjs", name)


def test_a_javascript_worker_is_stopped(between: Between, chance: random.Random) -> None:
    text = planted(chance, JS, "process.kill(process.pid, 'SIGSTOP');")
    broke(between("mjs", text, "--timeout", "3"), "bad.mjs", "no answer within 3 s")


def test_a_javascript_worker_exits(between: Between, chance: random.Random) -> None:
    status = chance.randrange(256)
    broke(between("mjs", planted(chance, JS, f"process.exit({status});")), "bad.mjs", f"status {status}")


def test_a_javascript_worker_computes_for_ever(between: Between, chance: random.Random) -> None:
    body = chance.choice(["for (;;);", "await new Promise(() => {});", "for (;;) await null;"])
    ended = between("mjs", planted(chance, JS, body), "--timeout", "3")
    broke(ended, "bad.mjs", "no answer within 3 s", "waits for a promise that nothing is left to settle")


def test_a_javascript_worker_is_starved_of_memory(between: Between, chance: random.Random) -> None:
    size = chance.choice([10_000, 100_000, 1_000_000])
    body = f"const all = []; for (;;) all.push(new Array({size}).fill(1.5));"
    fault = f"v8.setFlagsFromString('--max-old-space-size=64'); {body}"
    broke(
        between("mjs", planted(chance, JS, fault), "--timeout", "60"),
        "bad.mjs",
        "SIGABRT",
        "SIGTRAP",
        "out of memory",
        "heap",
    )


def test_a_javascript_worker_floods_its_output(between: Between, chance: random.Random) -> None:
    stream, size = chance.choice(["1", "2"]), chance.choice([1, 80, 65536])
    fault = f"const line = 'x'.repeat({size}) + '\\\\n'; for (;;) fs.writeSync({stream}, line);"
    broke(between("mjs", planted(chance, JS, fault), "--timeout", "60"), "bad.mjs", "it printed without end")


def test_a_javascript_worker_writes_into_the_protocol(between: Between, chance: random.Random) -> None:
    garbage = chance.choice(
        ["Buffer.from([255, 254, 10])", "'{\\\\n'", "'{}\\\\n'", "'[1, 2]\\\\n'", "'null\\\\n'", "'\\\\n'.repeat(9)"]
    )
    ended = between("mjs", planted(chance, JS, f"fs.writeSync(3, {garbage});"))
    broke(ended, "bad.mjs", "protocol", "JSON", "message")


def test_a_python_worker_is_killed(between: Between, chance: random.Random) -> None:
    name = chance.choice(["SIGKILL", "SIGTERM", "SIGSEGV", "SIGABRT", "SIGBUS"])
    broke(between("py", planted(chance, PY, f"os.kill(os.getpid(), signal.{name}); time.sleep(99)")), "bad.py", name)


def test_a_python_worker_is_stopped(between: Between, chance: random.Random) -> None:
    text = planted(chance, PY, "os.kill(os.getpid(), signal.SIGSTOP)")
    broke(between("py", text, "--timeout", "3"), "bad.py", "no answer within 3 s")


def test_a_python_worker_is_starved_of_memory(between: Between, chance: random.Random) -> None:
    room = chance.choice([2**24, 2**26, 2**28])
    fault = (
        "used = int(open('/proc/self/statm').read().split()[0]) * 4096; "
        f"resource.setrlimit(resource.RLIMIT_AS, (used + {room}, used + {room})); [bytes(2**22) for _ in range(10**6)]"
    )
    broke(between("py", planted(chance, PY, fault), "--timeout", "60"), "bad.py", "MemoryError", "SIG", "memory")


def test_the_process_that_python_workers_are_forked_from_is_killed(between: Between, chance: random.Random) -> None:
    name = chance.choice(["SIGKILL", "SIGTERM"])
    fault = f"os.kill(os.getppid(), signal.{name}); time.sleep(99)"
    result = between("py", planted(chance, PY, fault)).results["bad.py"]
    assert result["verdict"] == "error" and result["reason"], result


@pytest.mark.parametrize("suffix", ["mjs", "py"])
def test_a_worker_throws_what_nobody_expects(between: Between, chance: random.Random, suffix: str) -> None:
    """Not one of the 20: what is thrown is a value of any kind, and it is told."""
    js = ["throw null;", "throw undefined;", "throw {get message() { throw 1; }};", "throw '\\\\ud800';", "throw 3n;"]
    py = [
        "raise BaseException('x')",
        "raise SystemExit(3)",
        "raise KeyboardInterrupt",
        "raise RecursionError",
        "raise StopIteration",
    ]
    template, choices = (JS, js) if suffix == "mjs" else (PY, py)
    result = between(suffix, planted(chance, template, chance.choice(choices))).results[f"bad.{suffix}"]
    assert result["verdict"] == "error" and result["reason"], result

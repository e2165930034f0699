"""Workers that misbehave on purpose: each becomes an error that says what is known, and none is left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import psutil
import pytest
from msgspec.structs import replace

from tensorledger.environment.node import node
from tensorledger.environment.packages import modules
from tensorledger.environment.tree import tree
from tensorledger.protocol.messages import (
    PROTOCOL,
    CheckpointReading,
    Cycle,
    Hello,
    Outcome,
    Reading,
    RunScenario,
    SavedModel,
    Thrown,
)
from tensorledger.targets.target import Target
from tensorledger.workers import log as logs
from tensorledger.workers import worker as workers
from tensorledger.workers.errors import (
    WorkerBroken,
    WorkerDied,
    WorkerFailed,
    WorkerFlooded,
    WorkerHung,
    WorkerNotStarted,
    ending,
)
from tensorledger.workers.pool import Workers, is_clean
from tensorledger.workers.process import Forked, Started, stop
from tensorledger.workers.worker import Watch, Worker

HELLO = Hello(protocol=PROTOCOL, name="keras", version=None, backend=None, package=None, backend_package=None)
RUN = RunScenario(scenario="walk.py", model="classifier", recipe="", cycles=1, throws=False, params={})
EMPTY = Outcome(recipe="del", cycles=[], agreements=[], not_applicable=None, running=[], error=None)

# What a miniature worker has to hand. `shake` and `run` do what is right.
MINIATURE = """
import json, os, signal, socket, subprocess, sys, time

channel = socket.socket(fileno=3)
lines = channel.makefile("r")

def receive():
    line = lines.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)

def send(**message):
    channel.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")

def shake():
    send(id=receive()["id"], result={"protocol": PROTOCOL, "versions": {"miniature": "1"}})

def reach(name, cycle=0):
    send(method="reached", params={"cycle": cycle, "name": name})

EMPTY = {"recipe": "del", "cycles": [], "agreements": [], "not_applicable": None, "running": [], "error": None}

def answer(request, **instead):
    send(id=request["id"], result={**EMPTY, **instead})

def forever():
    while True:
        time.sleep(1)

def child():
    '''Start a process that lives on by itself, and tell its number as a checkpoint.'''
    reach(str(subprocess.Popen(["sleep", "1000"]).pid))
"""

Start = Callable[..., Started]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a miniature worker of a script; whatever is left of it ends with the test."""
    started: list[Started] = []

    def begin(script: str, **options: Any) -> Started:
        file = tmp_path / f"worker_{len(started)}.py"
        file.write_text(MINIATURE.replace("PROTOCOL", str(PROTOCOL)) + dedent(script), encoding="utf-8")
        started.append(Started([sys.executable, "-I", "-S", str(file)], {}, **options))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.status(5)


class Seen:
    """A watch that remembers."""

    def __init__(self) -> None:
        self.reached: list[tuple[int, str]] = []
        self.watch = Watch(
            reached=lambda cycle, name: self.reached.append((cycle, name)),
            saved_model=lambda model, source, _: SavedModel(
                keras=model, tfjs=source, graph="", predictions=[], bound=0.0
            ),
        )


def run_in(process: Started | Forked, limit: float = 20.0, seen: Seen | None = None) -> Outcome:
    worker = Worker(process, HELLO)
    return worker.run(RUN, (seen or Seen()).watch, limit)


def test_cycles_are_told_as_they_end_and_the_harness_says_when_it_has_seen_enough(start: Start) -> None:
    process = start("""
        shake()
        request, number = receive(), 0
        reading = {name: 1 for name in ("tensors", "bytes", "buffers", "buffer_bytes")}
        reading |= {"backend": {}, "heap": {}, "process": {}}
        while True:
            reading["tensors"] = number
            end = {"name": "end", "reading": reading}
            cycle = {"baseline": reading, "checkpoints": [end], "thrown": None, "leaks": []}
            send(id=f"w{number}", method="ended", params={"number": number, "cycle": cycle})
            if not receive()["result"]["go_on"]:
                break
            number += 1
        answer(request)
        forever()
        """)
    watch = Watch(
        reached=Seen().watch.reached, saved_model=Seen().watch.saved_model, enough=lambda cycles: len(cycles) == 3
    )
    outcome = Worker(process, HELLO).run(replace(RUN, cycles=5), watch, 20.0)
    assert [cycle.baseline.tensors for cycle in outcome.cycles] == [0, 1, 2]


def is_gone(pid: int, within: float = 5.0) -> bool:
    """Say whether a process ends; one that nobody has waited for yet has ended too."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


# --- what a good one does


def test_a_worker_answers_tells_its_checkpoints_and_asks_back(start: Start) -> None:
    process = start(
        """
        shake()
        request = receive()
        assert request["params"]["scenario"] == "walk.py"
        reach("made")
        send(id="w1", method="saved_model", params={"model": "classifier", "source": "keras", "release": None})
        saved = receive()
        reach("loaded", 1)
        answer(request, recipe=saved["result"]["keras"] + "/" + saved["result"]["tfjs"])
        receive()
        """
    )
    seen = Seen()
    worker = Worker(process, HELLO)
    assert worker.versions == {"miniature": "1"}
    assert worker.run(RUN, seen.watch, 20).recipe == "classifier/keras"
    assert seen.reached == [(0, "made"), (1, "loaded")]
    worker.stop()
    assert process.status(0) == 0, "a worker whose channel closes ends by itself"


def test_what_a_worker_prints_never_reaches_the_protocol(start: Start) -> None:
    process = start(
        """
        like_an_answer = json.dumps({"jsonrpc": "2.0", "id": 2, "result": {**EMPTY, "recipe": "forged"}})
        like_garbage = "\\0\\xff}{"
        for stream in (sys.stdout, sys.stderr):
            print(like_an_answer, like_garbage, sep="\\n", file=stream, flush=True)
        shake()
        request = receive()
        reach("made")
        for stream in (sys.stdout, sys.stderr):
            print(like_an_answer, like_garbage, sep="\\n", file=stream, flush=True)
        answer(request, recipe="real")
        forever()
        """
    )
    seen = Seen()
    assert run_in(process, seen=seen).recipe == "real"
    assert seen.reached == [(0, "made")]


# --- handshake


def test_a_worker_that_never_answers_the_handshake_is_ended(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "HANDSHAKE", 0.5)
    process = start("print('loading', flush=True); forever()")
    with pytest.raises(WorkerHung, match=r"no answer within 0.5 s") as caught:
        Worker(process, HELLO)
    assert caught.value.log == "loading\n" and caught.value.checkpoint is None
    assert process.status(0) == -signal.SIGKILL


def test_a_worker_that_exits_during_the_handshake_did_not_start(start: Start) -> None:
    process = start("receive(); print('no such library', file=sys.stderr); sys.exit(4)")
    with pytest.raises(WorkerNotStarted) as caught:
        Worker(process, HELLO)
    assert str(caught.value).splitlines() == [
        "the worker is gone: it exited with status 4",
        "it printed last:",
        "no such library",
    ]


def test_a_command_that_cannot_be_started_did_not_start() -> None:
    process = Started(["/nowhere/node"], {})
    with pytest.raises(WorkerNotStarted, match=r"exited with status 1(?s:.*)No such file.*") as caught:
        Worker(process, HELLO)
    assert "/nowhere/node" in str(caught.value) or "execv" in str(caught.value)


def test_a_worker_of_another_protocol_version_is_refused(start: Start) -> None:
    process = start(f"send(id=receive()['id'], result={{'protocol': {PROTOCOL + 1}, 'versions': {{}}}}); forever()")
    with pytest.raises(WorkerNotStarted, match=f"it speaks protocol {PROTOCOL + 1}, the harness {PROTOCOL}"):
        Worker(process, HELLO)
    assert process.status(0) == -signal.SIGKILL


def test_a_real_worker_refuses_a_harness_of_another_protocol_version() -> None:
    command = [str(node()), "--expose-gc", str(tree() / "js" / "worker" / "node.mjs"), str(modules())]
    process = Started(command, os.environ)
    newer = replace(HELLO, protocol=PROTOCOL + 1)
    with pytest.raises(WorkerNotStarted, match=f"this worker speaks protocol {PROTOCOL}, the harness {PROTOCOL + 1}"):
        Worker(process, newer)
    assert process.status(0) is not None


# --- dying


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os._exit(3)", "it exited with status 3"),
        ("os._exit(0)", "it exited with status 0"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "it was ended by SIGKILL"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "it was ended by SIGSEGV"),
        ("os.abort()", "it was ended by SIGABRT"),
        ('channel.sendall(b\'{"jsonrpc": "2.\'); os._exit(5)', "it exited with status 5"),
    ],
)
def test_a_worker_that_dies_names_how_the_last_checkpoint_and_the_end_of_its_log(
    start: Start, end: str, said: str
) -> None:
    process = start(
        f"""
        print("of the start")
        shake()
        receive()
        for number in range(30):
            print("line", number)
        reach("made")
        reach("trained", 1)
        sys.stdout.flush()
        {end}
        """
    )
    with pytest.raises(WorkerDied) as caught:
        run_in(process)
    first, *rest = str(caught.value).splitlines()
    assert first == f"the worker is gone: {said} after checkpoint 'trained'"
    assert rest == ["it printed last:", *(f"line {number}" for number in range(18, 30))]
    assert caught.value.checkpoint == "trained"
    assert process.status(0) is not None


def test_the_log_that_is_shown_is_of_the_scenario_that_broke(start: Start) -> None:
    process = start(
        """
        print("of the start", flush=True)
        shake()
        request = receive()
        print("of the first scenario", "x" * 60000, flush=True)
        answer(request)
        request = receive()
        print("of the second", flush=True)
        os._exit(1)
        """
    )
    worker = Worker(process, HELLO)
    assert worker.run(RUN, Seen().watch, 20) == EMPTY
    with pytest.raises(WorkerDied) as caught:
        worker.run(RUN, Seen().watch, 20)
    assert caught.value.log == "of the second\n"


def test_a_checkpoint_of_an_earlier_scenario_is_not_taken_for_the_last(start: Start) -> None:
    process = start("shake(); request = receive(); reach('earlier'); answer(request); receive(); os._exit(1)")
    worker = Worker(process, HELLO)
    worker.run(RUN, Seen().watch, 20)
    with pytest.raises(WorkerDied) as caught:
        worker.run(RUN, Seen().watch, 20)
    assert caught.value.checkpoint is None and "earlier" not in str(caught.value)


def test_the_words_for_an_ending() -> None:
    assert ending(-15) == "it was ended by SIGTERM"
    assert ending(-99) == "it was ended by signal 99"
    assert ending(None) == "it ended, nobody knows how"


# --- hanging


@pytest.mark.parametrize(
    "hang",
    [
        "forever()",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); forever()",
        "channel.sendall(b'{'); forever()",
        "[reach('made') for _ in iter(int, 1)]",
    ],
)
def test_a_worker_that_hangs_is_killed_within_the_limit(start: Start, hang: str) -> None:
    process = start(f"shake(); receive(); reach('made'); {hang}")
    worker = Worker(process, HELLO)
    started = time.monotonic()
    with pytest.raises(WorkerHung, match=r"no answer within 0.5 s after checkpoint 'made'"):
        worker.run(RUN, Seen().watch, 0.5)
    assert 0.5 <= time.monotonic() - started < 4
    assert process.status(0) == -signal.SIGKILL


def test_a_worker_that_stays_when_it_is_hung_up_on_is_killed(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensorledger.workers.process.GRACE", 0.3)
    process = start("shake(); forever()")
    Worker(process, HELLO).stop()
    assert process.status(0) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("end", "failure"),
    [("forever()", WorkerHung), ("os._exit(1)", WorkerDied), ("channel.sendall(b'?\\n'); forever()", WorkerBroken)],
)
def test_what_a_worker_started_ends_with_it(start: Start, end: str, failure: type[WorkerFailed]) -> None:
    process = start(f"shake(); receive(); child(); {end}")
    with pytest.raises(failure) as caught:
        run_in(process, 1.0)
    assert caught.value.checkpoint is not None and is_gone(int(caught.value.checkpoint))


def test_what_a_clean_worker_started_ends_with_it_too(start: Start) -> None:
    process = start("shake(); request = receive(); child(); answer(request); receive()")
    seen = Seen()
    worker = Worker(process, HELLO)
    worker.run(RUN, seen.watch, 20)
    child = int(seen.reached[0][1])
    assert psutil.pid_exists(child)
    worker.stop()
    assert process.status(0) == 0
    assert is_gone(child)


def test_what_is_asked_back_and_interrupts_ends_the_worker(start: Start) -> None:
    process = start("shake(); receive(); reach('made'); forever()")

    def interrupted(cycle: int, name: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Worker(process, HELLO).run(RUN, Watch(interrupted, Seen().watch.saved_model), 20)
    assert process.status(0) == -signal.SIGKILL


# --- talking too much, or nonsense


def test_a_worker_that_prints_without_end_is_stopped(start: Start) -> None:
    process = start("shake(); receive(); reach('made')\nwhile True: print('x' * 1000)", flood=2**20)
    started = time.monotonic()
    with pytest.raises(WorkerFlooded, match="it printed without end and was stopped after checkpoint 'made'") as caught:
        run_in(process, 60)
    assert time.monotonic() - started < 20
    assert process.status(0) == -signal.SIGKILL
    assert 1000 < len(caught.value.log) <= logs.KEPT
    assert len(str(caught.value)) < 20_000


def test_a_worker_may_print_up_to_the_limit(start: Start) -> None:
    process = start(
        """
        shake()
        request = receive()
        print("x" * (2**20 - 1), flush=True)
        time.sleep(0.3)
        answer(request)
        receive()
        """,
        flood=2**20,
    )
    worker = Worker(process, HELLO)
    assert worker.run(RUN, Seen().watch, 20) == EMPTY
    worker.stop()
    assert not process.log.flooded and process.log.count == 2**20
    assert process.status(0) == 0


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("channel.sendall(b'what?\\n')", "not a message.*what?"),
        ("channel.sendall(b'\\x00' * 100 + b'\\n')", "not a message"),
        ("send(id=99, result=EMPTY)", "an answer to 99, where 2 was asked"),
        ("answer(request, more=1)", "result of 'run' are not as agreed.*unknown field `more`"),
        ("answer(request, cycles=None)", "result of 'run' are not as agreed.*Expected `array`"),
        ("send(id=request['id'], result={})", "result of 'run' are not as agreed.*missing"),
        ("send(id=request['id'], error={'code': -32603, 'message': 'Error: out of luck'})", "Error: out of luck"),
        ("send(method='vanished', params={})", "no method 'vanished'"),
        ("reach(12)", "reached.*Expected `str`"),
    ],
)
def test_a_worker_that_does_not_keep_to_the_protocol_is_ended(start: Start, sent: str, said: str) -> None:
    process = start(f"shake(); request = receive(); reach('made'); {sent}; forever()")
    with pytest.raises(WorkerBroken, match=f"{said}.*after checkpoint 'made'"):
        run_in(process)
    assert process.status(0) == -signal.SIGKILL


# --- the stem that Python workers are forked from: the real one, with something small in place of TensorFlow

STEM = """
import os, signal, socket, subprocess, sys, time, types
from tensorledger.protocol.channel import Channel
from tensorledger.protocol.messages import Outcome, Reached, Welcome
from tensorledger.runtime.stem import Stem

EMPTY = Outcome(recipe="del", cycles=[], agreements=[], not_applicable=None, running=[], error=None)

def serve(channel, keras):
    def reach(name):
        channel.notify("reached", Reached(cycle=0, name=name))

    def run(asked):
        print("running", flush=True)
        reach(str(os.getpid()))
        END
        return EMPTY

    channel.serve({"hello": lambda asked: Welcome(protocol=asked.protocol, versions={}), "run": run})

sys.modules["tensorledger.runtime.serve"] = types.SimpleNamespace(serve=serve)
channel = Channel(socket.socket(fileno=3))
stem = Stem(channel, None)
channel.serve({"fork": stem.fork, "wait": stem.wait})
"""


@pytest.fixture
def stem(tmp_path: Path) -> Iterator[Callable[[str], Started]]:
    started: list[Started] = []

    def begin(end: str) -> Started:
        file = tmp_path / "stem.py"
        file.write_text(STEM.replace("END", end), encoding="utf-8")
        started.append(Started([sys.executable, str(file)], os.environ))  # it imports the package that is tested
        return started[-1]

    yield begin
    for process in started:
        stop(process)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os._exit(6)", "it exited with status 6"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "it was ended by SIGSEGV"),
        ("raise SystemError('the worker itself is broken')", None),
        ("raise GeneratorExit('nothing that is caught')", "it exited with status 1"),
    ],
)
def test_a_forked_worker_that_breaks_is_told_like_any_other(
    stem: Callable[[str], Started], end: str, said: str | None
) -> None:
    process = Forked(stem(end).channel)
    seen = Seen()
    with pytest.raises(WorkerFailed) as caught:
        run_in(process, seen=seen)
    if said is None:
        assert isinstance(caught.value, WorkerBroken) and "the worker itself is broken" in str(caught.value)
    else:
        assert isinstance(caught.value, WorkerDied) and said in str(caught.value)
    assert caught.value.log.startswith("running\n")
    assert ("GeneratorExit: nothing that is caught" in caught.value.log) == ("GeneratorExit" in end)
    assert is_gone(int(seen.reached[0][1]))


@pytest.mark.parametrize("end", ["time.sleep(1000)", "os._exit(1)"])
def test_a_forked_worker_ends_with_all_that_it_started(stem: Callable[[str], Started], end: str) -> None:
    process = Forked(stem(f"reach(str(subprocess.Popen(['sleep', '1000']).pid)); {end}").channel)
    seen = Seen()
    with pytest.raises(WorkerFailed):
        run_in(process, 1.0, seen)
    worker, child = (int(name) for _, name in seen.reached)
    assert is_gone(worker)
    assert is_gone(child)


def test_a_stem_forks_again_after_a_worker_broke(stem: Callable[[str], Started]) -> None:
    process = stem("os._exit(asked.cycles)")
    for _ in range(3):
        with pytest.raises(WorkerDied, match="exited with status 1"):
            run_in(Forked(process.channel))


def test_a_worker_whose_warm_up_went_otherwise_is_not_kept() -> None:
    def walked(made: int) -> Cycle:
        return replace(
            cycle(reading(5), reading(5)),
            checkpoints=[CheckpointReading(name=name, reading=reading(5 + n)) for name, n in (("a", made), ("end", 0))],
        )

    assert is_clean(outcome(walked(4), walked(4), walked(4)))
    assert not is_clean(outcome(walked(5), walked(4), walked(4))), (
        "the next scenario's warm-up would not make the fifth"
    )


# --- the harness itself killed

HARNESS = """
import sys, time
from tensorledger.workers.process import Forked, Started

started = Started([sys.executable, "-I", "-S", "-c", "while True: pass"], {})
stem = Started([sys.executable, sys.argv[1]], {})
forked = Forked(stem.channel)
print(started._process.pid, stem._process.pid, forked._pid, flush=True)
time.sleep(1000)
"""


def test_a_harness_that_is_killed_leaves_no_worker_behind(tmp_path: Path) -> None:
    busy = tmp_path / "stem.py"
    busy.write_text(re.sub(r"(?m)^    channel\.serve.*", "    while True: pass", STEM), encoding="utf-8")
    harness = subprocess.Popen([sys.executable, "-c", HARNESS, busy], stdout=subprocess.PIPE, text=True)
    assert harness.stdout is not None
    pids = [int(word) for word in harness.stdout.readline().split()]
    assert len(pids) == 3
    time.sleep(0.3)
    for pid in pids:
        assert psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    harness.kill()
    harness.wait()
    for pid in pids:
        assert is_gone(pid)


# --- the pool: which worker runs what

KERAS, TF_KERAS = Target("keras"), Target("tf-keras")


def reading(tensors: int = 0, size: int = 0, buffers: int = 0) -> Reading:
    return Reading(
        tensors=tensors, bytes=size, buffers=buffers, buffer_bytes=size, backend={}, heap={"used": 1.0}, process={}
    )


def cycle(baseline: Reading, end: Reading, thrown: Thrown | None = None) -> Cycle:
    return Cycle(baseline=baseline, checkpoints=[CheckpointReading(name="end", reading=end)], thrown=thrown, leaks=[])


def outcome(
    *cycles: Cycle, error: Thrown | None = None, not_applicable: str | None = None, running: str = ""
) -> Outcome:
    return Outcome(
        recipe="del",
        cycles=list(cycles),
        agreements=[],
        not_applicable=not_applicable,
        running=[running] if running else [],
        error=error,
    )


THROWN = Thrown(type="ValueError", message="boom", checkpoint=None, stack=[])
ZERO = reading()
CLEAN = outcome(cycle(ZERO, ZERO), cycle(ZERO, ZERO))


class FakeWorker:
    """Plays back outcomes, or raises."""

    def __init__(self, plays: list[Outcome | WorkerFailed]) -> None:
        self.versions = {"fake": "1"}
        self._plays = plays
        self.stopped = False
        self.quiet = True
        self.ran = 0

    def run(self, scenario: RunScenario, watch: Watch, limit: float) -> Outcome:
        assert not self.stopped
        self.ran += 1
        played = self._plays.pop(0)
        if isinstance(played, WorkerFailed):
            raise played
        return played

    def printed(self) -> str:
        return ""

    def is_quiet(self) -> bool:
        return self.quiet

    def stop(self) -> None:
        self.stopped = True


class FakeStarter:
    """Starts workers that share one list of what is to happen."""

    def __init__(self, *plays: Outcome | WorkerFailed) -> None:
        self.plays = list(plays)
        self.started: list[tuple[Target, FakeWorker]] = []
        self.stopped = False

    def prepare(self, target: Target, allocator: str) -> None:
        pass

    def start(self, target: Target, allocator: str) -> Worker:
        worker = FakeWorker(self.plays)
        self.started.append((target, worker))
        return worker  # type: ignore[return-value]

    def stop(self) -> None:
        self.stopped = True


def run_all(starter: FakeStarter, *targets: Target) -> list[FakeWorker]:
    """Run once on each target named; return the workers started, while the pool still holds those that are clean."""
    pool = Workers(starter)
    for target in targets:
        try:
            pool.run(target, RUN, Seen().watch, 1.0)
        except WorkerFailed:
            continue
    return [worker for _, worker in starter.started]


def test_a_clean_worker_runs_the_next_scenario_too() -> None:
    starter = FakeStarter(CLEAN, CLEAN, outcome(not_applicable="not here"), CLEAN)
    (worker,) = run_all(starter, KERAS, KERAS, KERAS, KERAS)
    assert worker.ran == 4 and not worker.stopped


@pytest.mark.parametrize(
    "dirty",
    [
        pytest.param(outcome(cycle(ZERO, ZERO), cycle(ZERO, reading(tensors=1))), id="left a tensor"),
        pytest.param(outcome(cycle(ZERO, ZERO), cycle(ZERO, reading(size=4))), id="left bytes"),
        pytest.param(outcome(cycle(ZERO, ZERO), cycle(ZERO, reading(buffers=1))), id="left a buffer"),
        pytest.param(outcome(cycle(ZERO, reading(1)), cycle(reading(1), reading(2))), id="leaves one each cycle"),
        pytest.param(outcome(cycle(ZERO, reading(1)), cycle(reading(1), reading(0))), id="took away what was there"),
        pytest.param(outcome(cycle(ZERO, ZERO), cycle(reading(1), reading(1))), id="grew between two cycles"),
        pytest.param(outcome(cycle(ZERO, reading(1)), cycle(ZERO, reading(1))), id="leaves as much each time"),
        pytest.param(outcome(cycle(ZERO, ZERO), cycle(ZERO, ZERO, THROWN)), id="threw"),
        pytest.param(outcome(cycle(ZERO, ZERO, THROWN), cycle(ZERO, ZERO)), id="threw in the warm-up"),
        pytest.param(outcome(error=THROWN), id="could not be loaded"),
        pytest.param(outcome(cycle(ZERO, ZERO), cycle(ZERO, ZERO), running="Timeout"), id="left a timer running"),
        pytest.param(outcome(cycle(ZERO, reading(tensors=1))), id="left a tensor in its only cycle"),
        pytest.param(outcome(cycle(ZERO, reading(2)), cycle(reading(2), reading(2))), id="its warm-up left something"),
        pytest.param(outcome(cycle(reading(2), ZERO), cycle(ZERO, ZERO)), id="its warm-up took something away"),
    ],
)
def test_a_worker_that_is_not_clean_is_ended_and_the_next_scenario_gets_a_fresh_one(dirty: Outcome) -> None:
    first, second = run_all(FakeStarter(dirty, CLEAN), KERAS, KERAS)
    assert first.ran == 1 and first.stopped
    assert second.ran == 1 and not second.stopped


def test_a_worker_that_goes_on_talking_after_its_answer_is_ended_and_the_next_scenario_gets_a_fresh_one() -> None:
    starter = FakeStarter(CLEAN, CLEAN)
    with Workers(starter) as pool:
        pool.run(KERAS, RUN, Seen().watch, 1.0)
        starter.started[0][1].quiet = False
        pool.run(KERAS, RUN, Seen().watch, 1.0)
    assert [worker.ran for _, worker in starter.started] == [1, 1]


@pytest.mark.parametrize("failure", [WorkerHung("no answer"), WorkerDied("gone"), WorkerBroken("what?")])
def test_a_worker_that_failed_is_not_used_again(failure: WorkerFailed) -> None:
    starter = FakeStarter(CLEAN, failure, CLEAN)
    first, second = run_all(starter, KERAS, KERAS, KERAS)
    assert first.ran == 2
    assert second.ran == 1


def test_each_target_has_a_worker_of_its_own() -> None:
    starter = FakeStarter(CLEAN, CLEAN, CLEAN)
    keras, tf_keras = run_all(starter, KERAS, TF_KERAS, KERAS)
    assert (keras.ran, tf_keras.ran) == (2, 1)
    assert [target for target, _ in starter.started] == [KERAS, TF_KERAS]


def test_leaving_the_pool_ends_every_worker_and_the_starter() -> None:
    starter = FakeStarter(CLEAN, CLEAN)
    with pytest.raises(KeyboardInterrupt), Workers(starter) as pool:
        pool.run(KERAS, RUN, Seen().watch, 1.0)
        pool.run(TF_KERAS, RUN, Seen().watch, 1.0)
        assert pool.versions == {KERAS: {"fake": "1"}, TF_KERAS: {"fake": "1"}}
        raise KeyboardInterrupt
    assert [worker.stopped for _, worker in starter.started] == [True, True]
    assert starter.stopped

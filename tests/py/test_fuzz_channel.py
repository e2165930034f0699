"""Whatever a worker says, its cell ends: with the right verdict, or with an error that says what is wrong.

The channel, the handshake, the pool and the verdict are the real ones; only the process is not: its half of the
conversation is written beforehand.
"""

from __future__ import annotations

import json
import random
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec
import pytest
from fuzzing import damaged, deep, examples, mutated
from hypothesis import example, given
from hypothesis import strategies as st

from tensorledger.cells.cell import Cell, Settings, run_cell
from tensorledger.protocol import channel as channels
from tensorledger.protocol.channel import Channel
from tensorledger.protocol.messages import METHODS, PROTOCOL, Ended, Hello
from tensorledger.report.files import Results
from tensorledger.results.result import Result, document
from tensorledger.scenarios.catalogue import Scenario
from tensorledger.targets.target import Target
from tensorledger.terminal.cell import details
from tensorledger.terminal.console import plain
from tensorledger.workers import told as cycles_told
from tensorledger.workers import worker as workers
from tensorledger.workers.pool import Workers
from tensorledger.workers.worker import Worker

Json = dict[str, Any]
TARGET = Target("tfjs", "4.22.0", "cpu")
HELLO = Hello(protocol=PROTOCOL, name="tfjs", version="4.22.0", backend="cpu", package=None, backend_package=None)
CYCLES = 2
LIMIT = 0.3
SLACK = 5.0
"""Seconds beyond the limit that a cell may take on a busy machine."""
SAID = ("pass", "fail", "skip", "error")


@contextmanager
def planted(place: Any, name: str, value: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, name, value)
        yield


# --- a worker that has said everything already


class NoLog:
    """What a worker prints: nothing."""

    flooded = False
    count = 0

    def text(self, wait: float = 0.0, since: int = 0) -> str:
        return ""

    def settled(self, since: int) -> str:
        return ""


class Scripted:
    """A process whose half of the conversation is there from the beginning, whatever it is asked."""

    def __init__(self, content: bytes, *, ends: bool) -> None:
        mine, self._theirs = socket.socketpair()
        self.channel, self.log = Channel(mine), NoLog()
        self._writer = threading.Thread(target=self._write, args=(content, ends), daemon=True)
        self._writer.start()

    def _write(self, content: bytes, ends: bool) -> None:
        with suppress(OSError):
            self._theirs.sendall(content)
            if ends:
                self._theirs.shutdown(socket.SHUT_WR)

    def ended(self, wait: float) -> str:
        return "it exited with status 0"

    def kill(self) -> None:
        with suppress(OSError):
            self._theirs.shutdown(socket.SHUT_RDWR)
        self._writer.join(10)
        assert not self._writer.is_alive()
        self._theirs.close()


class Starter:
    """Starts one scripted worker after the other."""

    def __init__(self, *contents: bytes, ends: bool = True) -> None:
        self._contents, self._ends = list(contents), ends

    def prepare(self, target: Target, allocator: str) -> None: ...

    def start(self, target: Target, allocator: str) -> Worker:
        return Worker(Scripted(self._contents.pop(0), ends=self._ends), HELLO)  # type: ignore[arg-type]

    def stop(self) -> None: ...


@pytest.fixture(scope="module", autouse=True)
def impatient() -> Iterator[None]:
    with planted(workers, "HANDSHAKE", LIMIT):
        yield


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    file = tmp_path_factory.mktemp("fuzz") / "walk.mjs"
    file.write_text("export default () => {};\n", encoding="utf-8")
    return Scenario(str(file), {"js": file})


def judged(scenario: Scenario, content: bytes, *more: bytes, ends: bool = True, cycles: int = CYCLES) -> Result:
    """Run a cell in which the workers say this, and see that its result can be written, read and shown."""
    started = time.monotonic()
    with Workers(Starter(content, *more, ends=ends)) as pool:
        found = run_cell(Cell(scenario, TARGET), pool, Settings(cycles=cycles, limit=LIMIT)).result
    assert time.monotonic() - started < LIMIT + SLACK, "it hung"
    written = json.loads(json.dumps(document([found], {}), allow_nan=False))
    assert msgspec.convert(written, Results).results == [found]
    assert found.verdict in SAID
    if found.verdict != "pass":
        assert found.reason.strip(), "an error that says nothing"
    assert "Traceback" not in plain(details(found))
    return found


# --- what a good one says, and what is right


def reading(tensors: int = 3) -> Json:
    exact = {"tensors": tensors, "bytes": 4 * tensors, "buffers": tensors, "buffer_bytes": 4 * tensors}
    return {**exact, "backend": {}, "heap": {"used": 1e6}, "process": {"resident": 5e7}}


def cycle(number: int, *, left: int = 0) -> Json:
    checkpoints = [{"name": "made", "reading": reading(5)}, {"name": "end", "reading": reading(3 + left)}]
    return {"baseline": reading(), "checkpoints": checkpoints, "thrown": None, "leaks": []}


def good(*, left: int = 0, cycles: int = CYCLES) -> list[Json]:
    """Return what a worker says of a scenario that leaves so many tensors in each cycle after the warm-up."""
    said: list[Json] = [{"id": 1, "result": {"protocol": PROTOCOL, "versions": {"tfjs": "4.22.0"}}}]
    for number in range(cycles + 1):
        said.append({"method": "reached", "params": {"cycle": number, "name": "made"}})
        told = cycle(number, left=left if number else 0)
        said.append({"id": f"w{number}", "method": "ended", "params": {"number": number, "cycle": told}})
    outcome: Json = {
        "recipe": "dispose",
        "cycles": [],
        "agreements": [],
        "not_applicable": None,
        "running": [],
        "error": None,
    }
    said.append({"id": 2, "result": outcome})
    return [{"jsonrpc": "2.0", **message} for message in said]


def lines(messages: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(message).encode("utf-8", "surrogatepass") + b"\n" for message in messages)


def is_right(content: bytes, cycles: int = CYCLES) -> bool:
    """Say whether a worker that says this has shown that every cycle came back to where it began.

    Worked out by itself, of the bytes: not by what is tested.
    """
    seen: list[Json] = []
    welcome = False
    for line in content.split(b"\n"):
        try:
            message = json.loads(line)
        except ValueError:
            return False
        if message.get("method") == "ended":
            if welcome and _is_readable(message):
                seen.append(message["params"])
        elif "method" not in message and message.get("id") == 1:
            welcome = True
        elif "method" not in message and message.get("id") == 2:
            break
    else:
        return False
    outcome = message["result"]
    return (
        [told["number"] for told in seen] == list(range(cycles + 1))
        and outcome["error"] is outcome["not_applicable"] is None
        and outcome["cycles"] == []
        and all(_ends(told["cycle"]) for told in seen)
        and all(after >= before for before, after in zip(*_both(seen[0]["cycle"]), strict=True))
        and all(_both(told["cycle"])[0] == _both(told["cycle"])[1] for told in seen[1:])
        and _both(seen[0]["cycle"])[1] == _both(seen[-1]["cycle"])[1]
    )


def _is_readable(message: Json) -> bool:
    """Say whether a cycle has the form of one; what has not is refused, and may be told again."""
    try:
        return msgspec.json.decode(json.dumps(message["params"]), type=Ended) is not None
    except (KeyError, msgspec.DecodeError):
        return False


def _ends(told: Json) -> bool:
    return told["thrown"] is None and bool(told["checkpoints"]) and told["checkpoints"][-1]["name"] == "end"


def _both(told: Json) -> tuple[list[int], list[int]]:
    """Return the counts before a cycle and after it; what the warm-up leaves is there before the next."""
    readings = told["baseline"], told["checkpoints"][-1]["reading"]
    before, after = ([found[name] for name in ("tensors", "bytes", "buffers")] for found in readings)
    return before, after


def holds(scenario: Scenario, content: bytes, *, ends: bool = True) -> Result:
    """Judge, and see that nothing is as expected that is not."""
    found = judged(scenario, content, ends=ends)
    if found.verdict == "pass":
        assert is_right(content), "what was never shown is taken to be as expected"
        assert found.cycles == CYCLES and found.growth is not None
    return found


def test_a_worker_that_keeps_to_the_protocol_has_its_verdict(scenario: Scenario) -> None:
    assert holds(scenario, lines(good())).verdict == "pass"
    leaks = holds(scenario, lines(good(left=1)))
    assert leaks.verdict == "fail" and "end tensors: expected 0, measured 1" in leaks.reason
    assert not is_right(lines(good(left=1)))


# --- bytes


@given(content=st.one_of(st.binary(max_size=400), st.text(max_size=200).map(lambda text: text.encode() + b"\n")))
@example(content=b"")
@example(content=b"\n\n\n")
@example(content=b"\xff\xfe\n")
@example(content=b"\xed\xa0\x80\n")
@example(content=b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n")
@example(content=b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":' + b'{"a":' * 99_999 + b"\n")
@example(content=b'{"jsonrpc":"2.0","id":1,"result":{"protocol":NaN,"versions":{}}}\n')
@example(content=b'{"jsonrpc":"2.0","id":1,"result":{"protocol":1e999,"versions":{}}}\n')
@example(content=b'{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"\\u001b[2J"}}\n')
@examples(150)
def test_any_bytes_at_all_are_an_error_that_is_told(scenario: Scenario, content: bytes) -> None:
    assert holds(scenario, content).verdict in ("error", "skip")


@given(seed=st.integers(0, 2**32))
@examples(300)
def test_a_conversation_with_damaged_bytes(scenario: Scenario, seed: int) -> None:
    chance = random.Random(seed)
    holds(scenario, damaged(lines(good(left=chance.choice([0, 0, 1]))), chance))


@pytest.mark.parametrize("ends", [True, False])
def test_a_conversation_that_is_cut_off_anywhere_is_an_error(scenario: Scenario, ends: bool) -> None:
    whole = lines(good())
    chance = random.Random(1)
    places = sorted({*chance.sample(range(len(whole) - 1), 60 if ends else 6), 0, len(whole) - 1})
    for place in places:
        found = holds(scenario, whole[:place], ends=ends)
        assert found.verdict == "error"
        assert ("is gone" in found.reason) if ends else (f"no answer within {LIMIT:g} s" in found.reason), place


# --- messages

ALIEN: list[Json] = [
    {"method": "fork", "params": {}, "id": 9},
    {"method": "wait", "params": {"pid": 1, "seconds": 1e9}, "id": "w1"},
    {"method": "saved_model", "params": {"model": "../../etc/passwd", "source": "keras", "release": None}, "id": "w0"},
    {"method": "open_page", "params": {"modules": "/"}, "id": 1},
    {"method": "reached", "params": {"cycle": -7, "name": "\u001b[2J"}},
    {"method": "reached", "params": {"cycle": 0, "name": ""}, "id": 4},
    {"method": "hello", "params": {}, "id": 5},
    {"method": "run", "id": 6},
    {"method": "__class__", "params": [], "id": 7},
    {"id": 1, "result": {"protocol": PROTOCOL, "versions": {}}},
    {"id": 2, "result": {"protocol": PROTOCOL, "versions": {}}},
    {"id": 2, "error": {"code": -32001, "message": "this machine has not what it takes"}},
    {"id": 2, "error": {"code": 0, "message": ""}},
    {"id": None, "error": {"code": -32700, "message": "what?"}},
    {"id": 3, "result": None},
    {"id": 2},
]
"""Right in form, and out of place."""


def rearranged(chance: random.Random) -> list[Any]:
    """Return a conversation in which messages are changed, lost, doubled, swapped, or joined by others."""
    said: list[Any] = list(good(left=chance.choice([0, 0, 0, 1])))
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        if not said:
            break
        at = chance.randrange(len(said))
        match chance.randrange(8):
            case 0 | 1 | 2:
                said[at] = mutated(said[at], chance, chance.choice([1, 1, 3]))
            case 3:
                del said[at]
            case 4:
                said.insert(chance.randrange(len(said) + 1), said[at])
            case 5:
                other = chance.randrange(len(said))
                said[at], said[other] = said[other], said[at]
            case 6:
                said.insert(at, {"jsonrpc": "2.0", **chance.choice(ALIEN)})
            case 7:
                said.append(chance.choice([said[at], {"jsonrpc": "2.0", **chance.choice(ALIEN)}]))
    return said


@given(seed=st.integers(0, 2**32), ends=st.booleans())
@examples(900)
def test_a_conversation_with_messages_changed_lost_doubled_or_out_of_order(
    scenario: Scenario, seed: int, ends: bool
) -> None:
    content = lines(rearranged(random.Random(seed)))
    if not ends and b'"id": 2' not in content:
        ends = True  # it would be waited for until the limit, each time
    holds(scenario, content, ends=ends)


def _takes_all(self: cycles_told.Told, it: Any) -> None:
    self.cycles.append(it.cycle)


def _decodes_without_a_look(method: str, side: str, raw: Any) -> Any:
    return msgspec.json.decode(raw, type=METHODS[method][0 if side == "params" else 1], strict=False)


HOLES: dict[str, tuple[Any, str, Any]] = {
    "any cycle is taken": (cycles_told.Told, "take", _takes_all),
    "any outcome is taken": (cycles_told.Told, "breach", lambda self, outcome: None),
    "what is wrong is not told": (channels, "ProtocolBroken", ZeroDivisionError),
    "a message may be of another type": (channels, "_decode", _decodes_without_a_look),
    "what the channel raises is not seen to": (workers, "ChannelClosed", ZeroDivisionError),
}


@pytest.mark.parametrize("hole", HOLES)
def test_a_hole_in_the_channel_is_found(scenario: Scenario, hole: str) -> None:
    @given(seed=st.integers(0, 2**32))
    @examples(900, shrink=False)
    def look(seed: int) -> None:
        holds(scenario, lines(rearranged(random.Random(seed))))

    with planted(*HOLES[hole]), pytest.raises(BaseException) as found:  # noqa: PT011
        look()
    assert not isinstance(found.value, KeyboardInterrupt | SystemExit)


@given(seed=st.integers(0, 2**32))
@examples(60)
def test_what_a_worker_says_after_its_answer_is_not_taken_for_the_next_scenarios(scenario: Scenario, seed: int) -> None:
    chance = random.Random(seed)
    more = [{"jsonrpc": "2.0", **chance.choice([*ALIEN, *good()[1:]])} for _ in range(chance.choice([1, 2, 5]))]
    first, second = lines([*good(), *more]), lines(good(left=1))
    with Workers(Starter(first, second, ends=False)) as pool:
        settings = Settings(cycles=CYCLES, limit=LIMIT)
        found = [run_cell(Cell(scenario, TARGET), pool, settings).result for _ in range(2)]
    assert [one.verdict for one in found] == ["pass", "fail"], "the second is judged by what its own worker says"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ([*good()[:-1], good()[-1] | {"error": {"code": -32001, "message": "no"}}], "no"),
        (good()[:1] + good()[5:], "cycle 2, where 0 was next"),
        (good()[:3] + good()[-1:], "it answered after 1 of 3 cycles"),
        (good()[:5] + good()[-1:], "it answered after 2 of 3 cycles"),
        (good()[:1] + good()[-1:], "no cycle ran after the warm-up"),
        (good()[:-1] + good(cycles=3)[-2:], "after the last one that was wanted"),
        (good()[:4] + good()[2:], "cycle 0, where 1 was next"),
        ([good()[0], {**good()[1], "params": deep(900)}, *good()[2:]], "not as agreed"),
        ([{**good()[0], "result": {"protocol": PROTOCOL + 1, "versions": {}}}], "it speaks protocol"),
    ],
)
def test_a_conversation_that_is_not_as_agreed_says_in_what(scenario: Scenario, said: list[Any], reason: str) -> None:
    found = holds(scenario, lines(said))
    assert found.verdict == "error" and reason in found.reason


def test_growth_is_not_settled_by_a_worker_that_ran_nothing(scenario: Scenario) -> None:
    rising = good(cycles=12)
    for number, message in enumerate(one for one in rising if one.get("method") == "ended"):
        for moment in (
            message["params"]["cycle"]["baseline"],
            message["params"]["cycle"]["checkpoints"][-1]["reading"],
        ):
            moment["heap"]["used"] += 1e6 * number
    second = [good()[0], good()[-1]]
    found = judged(scenario, lines(rising), lines(second), cycles=12)
    assert found.verdict == "error" and "growth was to be settled, ran no cycle" in found.reason


# --- a worker that asks and does not listen


@pytest.mark.parametrize(
    "asked",
    [
        {"id": "w0", "method": "saved_model", "params": {"model": "x" * 900, "source": "keras", "release": None}},
        {"id": "w" * 900, "method": "fork", "params": {}},
        {"method": "reached", "params": {"cycle": 0, "name": "again"}},
    ],
)
def test_a_worker_that_asks_without_end_and_does_not_listen_is_ended_at_the_limit(
    scenario: Scenario, asked: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def write(self: Scripted, content: bytes, ends: bool) -> None:
        with suppress(OSError):
            self._theirs.sendall(content)
            while not over.is_set():
                self._theirs.sendall(lines([{"jsonrpc": "2.0", **asked}] * 50))

    monkeypatch.setattr(Scripted, "_write", write)
    ended: list[Result] = []
    cell = threading.Thread(target=lambda: ended.append(judged(scenario, lines(good()[:1]))), daemon=True)
    cell.start()
    cell.join(LIMIT + 4 * SLACK)
    over.set()
    assert ended, "it hung"
    (found,) = ended
    assert found.verdict == "error" and found.error is not None and found.error.type == "WorkerHung"


def test_an_answer_without_end_is_an_error(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "LONGEST_LINE", 2**20)
    found = judged(scenario, lines(good()[:1]) + b'{"jsonrpc": "2.0", "id": 2, "result": "' + b"x" * 2**22)
    assert found.verdict == "error" and "a line of more than 1048576 bytes" in found.reason

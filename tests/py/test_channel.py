"""The channel: what is agreed passes, in the order agreed; what is not is refused, by whichever side it reaches."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from typing import Any

import pytest
from msgspec.structs import replace

from tensorledger.environment.node import node
from tensorledger.environment.packages import modules
from tensorledger.environment.tree import tree
from tensorledger.protocol import channel as channels
from tensorledger.protocol.channel import (
    INTERNAL,
    INVALID_PARAMS,
    UNKNOWN_METHOD,
    CallFailed,
    Channel,
    ChannelClosed,
    ChannelTimeout,
    Methods,
    ProtocolBroken,
)
from tensorledger.protocol.messages import (
    PROTOCOL,
    Fork,
    Forked,
    Hello,
    Message,
    Nothing,
    Reached,
    SavedModel,
    SavedModelRequest,
    Wait,
    Waited,
    Welcome,
)
from tensorledger.workers.process import Started, stop

HELLO = Hello(protocol=1, name="keras", version=None, backend=None, package=None, backend_package=None)
WELCOME = {"protocol": 1, "versions": {}}
SAVED = SavedModel(keras="model.keras", tfjs="tfjs", graph="graph", predictions=[0.5], bound=1e-6)
ASK = SavedModelRequest(model="classifier", source="keras", release=None)


def soon(seconds: float = 10.0) -> float:
    return time.monotonic() + seconds


@contextmanager
def answered_by(methods: Callable[[Channel], Methods]) -> Iterator[Channel]:
    """Give one end; at the other, a thread serves the methods until this end is closed."""
    mine, theirs = socket.socketpair()
    other = Channel(theirs)
    failed: list[BaseException] = []

    def serve() -> None:
        try:
            other.serve(methods(other))
        except BaseException as error:
            failed.append(error)
        other.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield Channel(mine)
    finally:
        mine.close()
        thread.join(10)
    assert not thread.is_alive(), "serve did not end when the other side hung up"
    for error in failed:
        raise error


@pytest.fixture
def ends() -> Iterator[tuple[Channel, socket.socket]]:
    """Give a channel, and the bare socket at its other end."""
    mine, theirs = socket.socketpair()
    theirs.settimeout(10)
    with closing(mine), closing(theirs):
        yield Channel(mine), theirs


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def answer_to_raw(methods: Methods, sent: bytes) -> dict[str, Any]:
    """Send bytes to a serving channel; return the one line that it answers."""
    with answered_by(lambda _: methods) as mine, socket.socket(fileno=os.dup(mine.fileno())) as raw:
        raw.settimeout(10)
        raw.sendall(sent)
        answer: dict[str, Any] = json.loads(raw.makefile().readline())
    return answer


# --- what is agreed


def test_a_request_is_answered_with_the_agreed_type() -> None:
    def hello(asked: Hello) -> Welcome:
        return Welcome(protocol=asked.protocol, versions={"name": asked.name})

    with answered_by(lambda _: {"hello": hello}) as mine:
        for _ in range(3):
            answer = mine.call("hello", HELLO, deadline=soon())
            assert answer == Welcome(protocol=1, versions={"name": "keras"})


def test_a_side_that_has_said_nothing_unasked_is_quiet_also_after_a_call_with_a_deadline() -> None:
    def hello(asked: Hello) -> Welcome:
        return Welcome(protocol=asked.protocol, versions={})

    # The socket has the deadline's timeout then: who waits for that would find nothing, and take it for an end.
    with answered_by(lambda _: {"hello": hello}) as mine:
        assert mine.is_quiet()
        mine.call("hello", HELLO, deadline=soon(1))
        assert mine.is_quiet()


@pytest.mark.parametrize("said", [b"more\n", b"m", b""])
def test_a_side_that_talks_on_or_is_gone_is_not_quiet(ends: tuple[Channel, socket.socket], said: bytes) -> None:
    mine, theirs = ends
    assert mine.is_quiet()
    if said:
        theirs.sendall(said)
    else:
        theirs.close()
    assert not mine.is_quiet()


def test_text_of_any_kind_arrives_as_it_was_sent() -> None:
    text = 'line\nbreak\r\n\0 "quoted" é 漢 \U0001f642'
    with answered_by(lambda _: {"hello": lambda asked: Welcome(protocol=1, versions={"name": asked.name})}) as mine:
        sent = Hello(protocol=1, name=text, version=None, backend=None, package=None, backend_package=None)
        assert mine.call("hello", sent, deadline=soon()).versions == {"name": text}


def test_lines_are_put_together_from_pieces_and_taken_apart(ends: tuple[Channel, socket.socket]) -> None:
    mine, theirs = ends
    whole = line(id=1, result=WELCOME) + line(id=2, result={**WELCOME, "versions": {"second": "yes"}})

    def send() -> None:
        for start in range(0, 40, 7):
            theirs.sendall(whole[start : min(start + 7, 40)])
            time.sleep(0.005)
        theirs.sendall(whole[40:])

    sender = threading.Thread(target=send)
    sender.start()
    assert mine.call("hello", HELLO, deadline=soon()).versions == {}
    assert mine.call("hello", HELLO, deadline=soon()).versions == {"second": "yes"}
    sender.join()


def test_a_notification_is_told_and_not_answered() -> None:
    told: list[Reached] = []

    def reached(it: Reached) -> None:
        told.append(it)

    methods: Methods = {"reached": reached, "hello": lambda _: Welcome(protocol=1, versions={})}
    request = line(id=7, method="hello", params={**WELCOME_PARAMS})
    answer = answer_to_raw(methods, line(method="reached", params={"cycle": 2, "name": "made"}) + request)
    assert answer["id"] == 7, "the first line to come back is the answer to the request"
    assert told == [Reached(cycle=2, name="made")]


def test_the_asked_side_may_tell_and_ask_back_before_it_answers() -> None:
    heard: list[object] = []

    def methods(other: Channel) -> Methods:
        def hello(_: Hello) -> Welcome:
            other.notify("reached", Reached(cycle=0, name="first"))
            saved = other.call("saved_model", ASK)
            other.notify("reached", Reached(cycle=0, name="second"))
            return Welcome(protocol=1, versions={"saved": saved.keras})

        return {"hello": hello}

    def saved_model(asked: SavedModelRequest) -> SavedModel:
        heard.append(asked)
        return SAVED

    with answered_by(methods) as mine:
        answering: Methods = {"reached": heard.append, "saved_model": saved_model}
        answer = mine.call("hello", HELLO, deadline=soon(), answering=answering)
    assert answer.versions == {"saved": "model.keras"}
    assert heard == [Reached(cycle=0, name="first"), ASK, Reached(cycle=0, name="second")]


def test_what_is_asked_back_and_fails_is_the_asking_sides_error() -> None:
    def methods(other: Channel) -> Methods:
        def hello(_: Hello) -> Welcome:
            try:
                other.call("saved_model", ASK)
            except CallFailed as error:
                return Welcome(protocol=1, versions={"error": str(error)})
            raise AssertionError

        return {"hello": hello}

    def saved_model(_: SavedModelRequest) -> SavedModel:
        raise LookupError("not built")

    with answered_by(methods) as mine:
        answer = mine.call("hello", HELLO, deadline=soon(), answering={"saved_model": saved_model})
        assert answer.versions == {"error": "LookupError: not built"}
        assert mine.call("hello", HELLO, deadline=soon()).versions == {"error": "no method 'saved_model' here"}


def test_descriptors_come_along_in_order() -> None:
    def methods(other: Channel) -> Methods:
        def fork(_: Fork) -> Forked:
            first, second = other.descriptors
            other.descriptors.clear()
            for descriptor, text in ((first, b"first"), (second, b"second")):
                os.write(descriptor, text)
                os.close(descriptor)
            return Forked(pid=1)

        return {"fork": fork}

    with answered_by(methods) as mine:
        for _ in range(2):
            pipes = [os.pipe(), os.pipe()]
            mine.call("fork", Fork(), descriptors=[writing for _, writing in pipes], deadline=soon())
            for (reading, writing), text in zip(pipes, (b"first", b"second"), strict=True):
                os.close(writing)
                assert os.read(reading, 100) == text
                assert os.read(reading, 100) == b"", "nobody else holds the writing end"
                os.close(reading)


# --- what is not

WELCOME_PARAMS = {
    **dict.fromkeys(("version", "backend", "package", "backend_package")),
    "protocol": 1,
    "name": "keras",
}


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"Hello, world\n", "not a message.*Hello, world"),
        (b"\n", "not a message"),
        (b"\xff\xfe\x00\n", "not a message"),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {\n', "not a message"),
        (b"[]\n", "not a message"),
        (b"{}\n", "not a message.*jsonrpc"),
        (b'{"id": 1, "result": {"protocol": 1, "versions": {}}}\n', "not a message.*jsonrpc"),
        (b'{"jsonrpc": "1.0", "id": 1, "result": {"protocol": 1, "versions": {}}}\n', "not JSON-RPC 2.0"),
        (line(id=1, result=WELCOME, extra=1), "not a message.*extra"),
        (line(id=[1], result=WELCOME), "not a message.*id"),
        (line(id=2, result=WELCOME), "an answer to 2, where 1 was asked"),
        (line(id="1", result=WELCOME), "an answer to '1', where 1 was asked"),
        (line(id=None, error={"code": -32700, "message": "?"}), "an answer to None"),
        (line(result=WELCOME), "an answer to None"),
        (line(id=1), "result of 'hello' are not as agreed"),
        (line(id=1, result=None), "result of 'hello' are not as agreed"),
        (line(id=1, result={}), "not as agreed.*missing required field `protocol`"),
        (line(id=1, result={**WELCOME, "more": 1}), "not as agreed.*unknown field `more`"),
        (line(id=1, result={**WELCOME, "protocol": "1"}), r"not as agreed.*Expected `int`.*\$.protocol"),
        (line(id=1, result={**WELCOME, "versions": {"tf": 2}}), r"not as agreed.*Expected `str`"),
        (line(id=1, error={"message": "no code"}), "not a message.*code"),
        (line(method="reached", params={"cycle": 0}) + line(id=1, result=WELCOME), "reached.*missing.*name"),
        (line(method="vanished", params={}) + line(id=1, result=WELCOME), "no method 'vanished'"),
    ],
)
def test_an_answer_that_is_not_as_agreed_is_refused(
    ends: tuple[Channel, socket.socket], sent: bytes, said: str
) -> None:
    mine, theirs = ends
    theirs.sendall(sent)
    with pytest.raises(ProtocolBroken, match=f"(?s){said}"):
        mine.call("hello", HELLO, deadline=soon(), answering={"reached": lambda _: None})


@pytest.mark.parametrize(
    ("method", "params", "code", "said"),
    [
        ("hello", {**WELCOME_PARAMS, "more": 1}, INVALID_PARAMS, "unknown field `more`"),
        ("hello", {**WELCOME_PARAMS, "protocol": "1"}, INVALID_PARAMS, "Expected `int`"),
        ("hello", {**WELCOME_PARAMS, "version": 4}, INVALID_PARAMS, "Expected `str | null`"),
        ("hello", {"protocol": 1}, INVALID_PARAMS, "missing required field `name`"),
        ("hello", [], INVALID_PARAMS, "not as agreed"),
        ("hello", None, INVALID_PARAMS, "not as agreed"),
        ("vanish", {}, UNKNOWN_METHOD, "no method 'vanish'"),
        ("wait", {"pid": 1, "seconds": 1}, UNKNOWN_METHOD, "no method 'wait' here"),
        ("hello", {**WELCOME_PARAMS, "name": "breaks"}, INTERNAL, "ZeroDivisionError: integer division"),
    ],
)
def test_a_request_that_is_not_as_agreed_is_answered_with_an_error(
    method: str, params: object, code: int, said: str
) -> None:
    def hello(asked: Hello) -> Welcome:
        return Welcome(protocol=1 // (asked.name != "breaks"), versions={})

    answer = answer_to_raw({"hello": hello}, line(id="w1", method=method, params=params))
    assert answer["id"] == "w1" and "result" not in answer
    assert answer["error"]["code"] == code
    assert said in answer["error"]["message"]


def test_a_side_goes_on_serving_after_a_request_that_it_refused() -> None:
    with answered_by(lambda _: {"hello": lambda _: Welcome(protocol=1, versions={})}) as mine:
        with pytest.raises(CallFailed, match="missing required field `protocol`"):
            mine.call("hello", Nothing(), deadline=soon())
        assert mine.call("hello", HELLO, deadline=soon()).protocol == 1


def test_a_result_of_the_wrong_type_is_refused_where_it_arrives() -> None:
    with (
        answered_by(lambda _: {"hello": lambda _: Forked(pid=1)}) as mine,
        pytest.raises(ProtocolBroken, match="result of 'hello' are not as agreed"),
    ):
        mine.call("hello", HELLO, deadline=soon())


@pytest.mark.parametrize(
    "sent",
    [
        b"garbage\n",
        line(method="reached", params={"cycle": "none"}),
        line(method="vanished"),
    ],
)
def test_who_serves_stops_at_what_cannot_be_answered(ends: tuple[Channel, socket.socket], sent: bytes) -> None:
    mine, theirs = ends
    theirs.sendall(sent)
    with pytest.raises(ProtocolBroken):
        mine.serve({"reached": lambda _: None})


def test_a_line_without_end_is_refused(ends: tuple[Channel, socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "LONGEST_LINE", 2**20)
    mine, theirs = ends

    def send() -> None:
        with suppress(OSError):
            while True:
                theirs.sendall(b"x" * 2**16)

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(ProtocolBroken, match="a line of more than 1048576 bytes"):
        mine.call("hello", HELLO, deadline=soon())
    mine.close()
    sender.join(10)
    assert not sender.is_alive()


def test_a_long_line_that_is_allowed_arrives() -> None:
    versions = {str(number): "x" * 1000 for number in range(2000)}
    with answered_by(lambda _: {"hello": lambda _: Welcome(protocol=1, versions=versions)}) as mine:
        assert mine.call("hello", HELLO, deadline=soon()).versions == versions


# --- time


def test_no_answer_by_the_deadline_is_a_timeout(ends: tuple[Channel, socket.socket]) -> None:
    mine, theirs = ends
    started = time.monotonic()
    with pytest.raises(ChannelTimeout):
        mine.call("hello", HELLO, deadline=soon(0.2))
    assert 0.2 <= time.monotonic() - started < 2
    assert json.loads(theirs.makefile().readline())["method"] == "hello"


def test_half_an_answer_by_the_deadline_is_a_timeout(ends: tuple[Channel, socket.socket]) -> None:
    mine, theirs = ends
    theirs.sendall(line(id=1, result=WELCOME)[:-1])
    with pytest.raises(ChannelTimeout):
        mine.call("hello", HELLO, deadline=soon(0.2))


def test_threads_that_ask_at_once_take_turns_and_each_gets_its_answer() -> None:
    def wait(asked: Wait) -> Waited:
        time.sleep(0.05)
        return Waited(status=asked.pid)

    with answered_by(lambda _: {"wait": wait}) as channel, ThreadPoolExecutor(8) as threads:
        asked = [
            threads.submit(channel.call, "wait", Wait(pid=number, seconds=0), deadline=soon()) for number in range(8)
        ]
        assert [found.result().status for found in asked] == list(range(8))


def test_who_waits_for_a_turn_past_the_deadline_is_told(ends: tuple[Channel, socket.socket]) -> None:
    channel, _ = ends
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(channel.call, "fork", Fork(), deadline=soon(1.0))
        while not channel._calling.locked():
            time.sleep(0.01)
        started = time.monotonic()
        with pytest.raises(ChannelTimeout):
            channel.call("fork", Fork(), deadline=soon(0.2))
        assert time.monotonic() - started < 0.9
        with pytest.raises(ChannelTimeout):
            first.result()


def test_who_tells_without_end_does_not_put_the_deadline_off(ends: tuple[Channel, socket.socket]) -> None:
    mine, theirs = ends
    over = threading.Event()

    def send() -> None:
        with suppress(OSError):
            while not over.is_set():
                theirs.sendall(line(method="reached", params={"cycle": 0, "name": "again"}))

    sender = threading.Thread(target=send)
    sender.start()
    started = time.monotonic()
    with pytest.raises(ChannelTimeout):
        mine.call("hello", HELLO, deadline=soon(0.3), answering={"reached": lambda _: None})
    over.set()
    mine.close()
    sender.join(10)
    assert time.monotonic() - started < 5


def test_the_time_spent_on_what_is_asked_back_does_not_count() -> None:
    def methods(other: Channel) -> Methods:
        def hello(_: Hello) -> Welcome:
            other.call("saved_model", ASK)
            time.sleep(0.1)
            return Welcome(protocol=1, versions={})

        return {"hello": hello}

    def slow(_: SavedModelRequest) -> SavedModel:
        time.sleep(0.8)
        return SAVED

    with answered_by(methods) as mine:
        assert mine.call("hello", HELLO, deadline=soon(0.5), answering={"saved_model": slow}).protocol == 1


def test_the_time_after_what_was_asked_back_counts() -> None:
    going_on = threading.Event()

    def methods(other: Channel) -> Methods:
        def hello(_: Hello) -> Welcome:
            other.call("saved_model", ASK)
            going_on.wait(10)
            return Welcome(protocol=1, versions={})

        return {"hello": hello}

    with suppress(ChannelClosed), answered_by(methods) as mine:
        try:
            with pytest.raises(ChannelTimeout):
                mine.call("hello", HELLO, deadline=soon(0.3), answering={"saved_model": lambda _: SAVED})
        finally:
            going_on.set()


# --- the end


@pytest.mark.parametrize("last_words", [b"", line(id=1, result=WELCOME)[:-1]])
def test_the_other_side_closing_is_told(ends: tuple[Channel, socket.socket], last_words: bytes) -> None:
    mine, theirs = ends
    theirs.sendall(last_words)
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(ChannelClosed):
        mine.call("hello", HELLO, deadline=soon())


def test_sending_to_who_has_gone_is_told(ends: tuple[Channel, socket.socket]) -> None:
    mine, theirs = ends
    theirs.close()
    with pytest.raises(ChannelClosed):
        mine.call("hello", HELLO, deadline=soon())
    with pytest.raises(ChannelClosed):
        mine.notify("reached", Reached(cycle=0, name="made"))


def test_an_answer_that_came_before_the_other_side_closed_counts(ends: tuple[Channel, socket.socket]) -> None:
    mine, theirs = ends
    theirs.sendall(line(id=1, result={"status": 3}))
    theirs.shutdown(socket.SHUT_WR)
    assert mine.call("wait", Wait(pid=1, seconds=0), deadline=soon()) == Waited(status=3)


# --- the JavaScript side


class Wrong(Message, frozen=True):
    """A hello that is not as agreed."""

    protocol: str
    name: str = "tfjs"
    version: str | None = None
    backend: str | None = None
    package: str | None = None
    backend_package: str | None = None
    more: int = 1


@pytest.fixture(scope="module")
def javascript() -> Iterator[Started]:
    command = [str(node()), "--expose-gc", str(tree() / "js" / "worker" / "node.mjs"), str(modules())]
    worker = Started(command, os.environ)
    yield worker
    stop(worker)


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        ("hello", Wrong(protocol="1"), 'protocol: the params of "hello" are not as agreed'),
        ("hello", Nothing(), 'the params of "hello" are not as agreed.*required property "backend_package"'),
        ("run", HELLO, 'the params of "run" are not as agreed'),
        ("fork", Fork(), 'no method "fork"'),
        ("toString", Nothing(), 'no method "toString"'),
    ],
)
def test_the_javascript_worker_refuses_what_is_not_as_agreed_and_goes_on(
    javascript: Started, method: str, params: Message, said: str
) -> None:
    with pytest.raises(CallFailed, match=said):
        javascript.channel.call(method, params, deadline=soon(30))
    other_version = replace(HELLO, protocol=PROTOCOL + 1)
    with pytest.raises(CallFailed, match=f"speaks protocol {PROTOCOL}, the harness {PROTOCOL + 1}"):
        javascript.channel.call("hello", other_version, deadline=soon(30))

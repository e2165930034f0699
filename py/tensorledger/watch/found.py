"""What watching a page has found: the object that ``--json`` writes, schema ``tensorledger/watch/1``."""

from __future__ import annotations

from typing import Literal

import msgspec

from tensorledger.protocol.messages import Frame, LiveTensor, Thrown

SCHEMA = "tensorledger/watch/1"
Verdict = Literal["pass", "fail", "error"]


class Realm(msgspec.Struct, frozen=True, kw_only=True):
    """Where an engine is."""

    kind: str
    """page, frame, worker, shared worker, service worker."""
    url: str
    count: int
    """How many there are like it: a page may have several workers of one script."""


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """What there is after a round; after round 0, which is not judged, what growth is measured from."""

    round: int
    tensors: int
    bytes: int
    gpu: int | None
    """Bytes that tensors have on the GPU; null where the backend has none or does not tell."""
    gpu_allocated: int | None
    """With those that the backend keeps for the next tensors."""
    heap: int | None
    """Bytes of the JavaScript heap of its process or worker, with what arrays have outside of it."""


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """Per round; null where it was not read."""

    tensors: float
    bytes: float
    gpu: float | None


class Leak(LiveTensor, frozen=True, kw_only=True):
    """Like tensors that rounds have left, made in one place."""

    rounds: dict[str, int]
    """How many of them each round made."""
    source: str
    """The line of source that the first frame of the stack is at; empty where it is not known."""
    bundled: bool = False
    """The whole stack is in one script without a source map, in which nothing says whose a line is."""


class Engine(msgspec.Struct, frozen=True, kw_only=True):
    """One engine of TensorFlow.js, or those of several like realms."""

    realm: Realm
    release: str | None
    """Null where its script does not say, or says several."""
    backend: str | None
    rounds: list[Level]
    growth: Growth | None
    """Null where fewer than one round was judged."""
    grows: list[str]
    """Of "tensors", "bytes", "gpu" and "realms", those that rounds leave more of for good."""
    leaks: list[Leak]
    notes: list[str]


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What kept a page from being judged."""

    type: str
    message: str
    round: int | None
    """In which; 0 is the warm-up, null before that."""
    step: str
    """load, setup, action, back, settle."""
    stack: list[Frame]
    source: str
    """The line of the action file."""


class PageError(msgspec.Struct, frozen=True, kw_only=True):
    """What the page itself has thrown and not caught."""

    message: str
    url: str
    line: int | None


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """All of it."""

    url: str
    action: str
    browser: str
    rounds: int
    """That were judged."""
    verdict: Verdict
    reason: str
    seconds: float
    engines: list[Engine]
    error: Failure | None
    page_errors: list[PageError]
    notes: list[str]
    log: str = ""
    """The end of what the action printed, where it failed."""


def document(found: Watched) -> dict[str, object]:
    """Return the object as plain values."""
    return {"schema": SCHEMA, **msgspec.to_builtins(found)}


def failure(thrown: Thrown, round: int | None, step: str, source: str) -> Failure:
    """Return what an action has thrown."""
    return Failure(type=thrown.type, message=thrown.message, round=round, step=step, stack=thrown.stack, source=source)

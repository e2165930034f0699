"""The windows and workers of a page: each is given the observer before its own scripts, and asked from then on."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tensorledger.environment.tree import tree
from tensorledger.watch.devtools import DevTools, DevToolsError, Event, Gone, Unanswered, answered

KINDS = {
    "page": "page",
    "iframe": "frame",
    "worker": "worker",
    "shared_worker": "shared worker",
    "service_worker": "service worker",
}
"""The kinds of targets that run a page's scripts, as they are told to people."""

ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
FOUND = "tensorledger:found"
"""What the observer calls when there is an engine."""
OBSERVER = "globalThis[Symbol.for('tensorledger/watch')]"
BUSY = 2.0
"""Seconds after which a realm in which no engine was seen is not waited for: a thread of WebAssembly never answers."""


@cache
def observer() -> str:
    """Return the script that is put into each."""
    return (tree() / "js" / "watch" / "observer.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Realm:
    """One global object: a window, or a worker's."""

    session: str
    context: str
    """The unique id of its execution context."""
    kind: str
    """As in KINDS; a frame of a page's own process is a "frame" too."""
    frame: str = ""


@dataclass
class Target:
    """What a session is attached to."""

    session: str
    kind: str
    id: str
    url: str
    parent: str
    realms: dict[int, Realm] = field(default_factory=dict)
    ready: Future[Event] | None = None
    """Is done once all that it was told first is done. A page that goes elsewhere before may not have been told."""


@dataclass(frozen=True)
class PageError:
    """What a page has thrown and not caught."""

    message: str
    url: str
    line: int | None


class RealmHung(Exception):
    """A realm that has an engine does not answer; the message says which."""


class Realms:
    """All realms of all pages and workers in a browser, as they come and go."""

    def __init__(self) -> None:
        self.targets: dict[str, Target] = {}
        self.errors: list[PageError] = []
        self.crashed: list[str] = []
        self.found: set[str] = set()
        """The kinds of realms in which there ever was an engine, those too that have ended."""
        self.main = ""
        """The session of the first page."""
        self.answers_dialogs = True
        """Until something else does."""
        self._devtools: DevTools | None = None
        self._changed = threading.Condition()
        self._with_engine: set[Realm] = set()
        self._pending: dict[Realm, Future[Event]] = {}
        self._urls: dict[Realm, str] = {}

    def start(self, devtools: DevTools) -> None:
        """Attach to all that there is and will be."""
        self._devtools = devtools
        devtools.send("Target.setAutoAttach", ATTACH)

    @property
    def devtools(self) -> DevTools:
        assert self._devtools is not None, "start comes first"
        return self._devtools

    # --- what the browser tells

    def heard(self, session: str, method: str, params: Event) -> None:
        """Take note of an event."""
        handler = getattr(self, f"_{method.replace('.', '_')}", None)
        if handler is not None:
            with self._changed:
                handler(session, params)
                self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until something is told, or so many seconds."""
        with self._changed:
            self._changed.wait(max(0.0, seconds))

    def _Target_attachedToTarget(self, parent: str, params: Event) -> None:
        session, info, devtools = params["sessionId"], params["targetInfo"], self.devtools
        kind = KINDS.get(info["type"])
        if kind is None or any(target.id == info["targetId"] for target in self.targets.values()):
            devtools.send("Runtime.runIfWaitingForDebugger", {}, session)  # not the page's, or attached to already
            return
        self.targets[session] = Target(session, kind, info["targetId"], info["url"], parent)
        if kind == "page" and not self.main:
            self.main = session
        devtools.send("Runtime.enable", {}, session)
        devtools.send("Runtime.addBinding", {"name": FOUND}, session)
        if kind in ("page", "frame"):
            devtools.send("Page.enable", {}, session)
            # At once too: a window that a page opens may have its context before that, and keep it for its document.
            now = {"source": observer(), "runImmediately": True}
            devtools.send("Page.addScriptToEvaluateOnNewDocument", now, session)
        else:
            devtools.send("Runtime.evaluate", {"expression": observer()}, session)
        devtools.send("Inspector.enable", {}, session)
        devtools.send("Target.setAutoAttach", ATTACH, session)
        self.targets[session].ready = devtools.send("Runtime.runIfWaitingForDebugger", {}, session)

    def _Target_detachedFromTarget(self, _: str, params: Event) -> None:
        self.targets.pop(params["sessionId"], None)

    def _Target_targetInfoChanged(self, _: str, params: Event) -> None:
        for target in self.targets.values():
            if target.id == params["targetInfo"]["targetId"]:
                target.url = params["targetInfo"]["url"]

    def _Runtime_executionContextCreated(self, session: str, params: Event) -> None:
        target, context = self.targets.get(session), params["context"]
        data = context.get("auxData") or {}
        if target is None or data.get("isDefault") is False:
            return
        frame = data.get("frameId", "")
        kind = "frame" if target.kind == "page" and frame and frame != target.id else target.kind
        target.realms[context["id"]] = Realm(session, context["uniqueId"], kind, frame)

    def _Runtime_executionContextDestroyed(self, session: str, params: Event) -> None:
        if session in self.targets:
            self.targets[session].realms.pop(params["executionContextId"], None)

    def _Runtime_executionContextsCleared(self, session: str, _: Event) -> None:
        if session in self.targets:
            self.targets[session].realms.clear()

    def _Runtime_bindingCalled(self, session: str, params: Event) -> None:
        if params["name"] == FOUND and session in self.targets:
            self.found.add(self.targets[session].kind)

    def _Runtime_exceptionThrown(self, _: str, params: Event) -> None:
        details = params["exceptionDetails"]
        thrown = details.get("exception", {}).get("description") or details.get("text", "")
        line = details.get("lineNumber")
        self.errors.append(
            PageError(
                thrown.splitlines()[0] if thrown else "", details.get("url", ""), None if line is None else line + 1
            )
        )

    def _Page_javascriptDialogOpening(self, session: str, _: Event) -> None:
        if self.answers_dialogs:
            self.devtools.send("Page.handleJavaScriptDialog", {"accept": False}, session)

    def _Inspector_targetCrashed(self, session: str, _: Event) -> None:
        target = self.targets.get(session)
        self.crashed.append(target.url if target else "")

    # --- what they are asked

    def all(self) -> list[Realm]:
        """Return those that there are now, the page's first."""
        with self._changed:
            return [realm for target in self.targets.values() for realm in target.realms.values()]

    def ready(self, limit: float) -> None:
        """Wait for the first page, until it is ready to go somewhere. Raises DevToolsError."""
        deadline = time.monotonic() + limit
        while not self.main and time.monotonic() < deadline:
            self.wait(0.1)
        with self._changed:  # what is told when it is attached is told as a whole
            ready = self.targets[self.main].ready if self.main in self.targets else None
        if ready is None:
            raise Unanswered(f"the browser opened no page within {limit:g} s")
        answered(ready, deadline - time.monotonic(), "what a page is told first")

    def window(self) -> Realm | None:
        """Return the page's own window, which is another one for each document; None between two."""
        with self._changed:
            target = self.targets.get(self.main)
            realms = target.realms.values() if target else []
            return next((realm for realm in realms if realm.kind == "page"), None)

    def tell(self, realm: Realm, expression: str, limit: float) -> Any:
        """Return the value of an expression; None where the realm has gone. Raises RealmHung or Gone."""
        params = {"expression": expression, "uniqueContextId": realm.context, "returnByValue": True}
        asked = {realm: self.devtools.send("Runtime.evaluate", params, realm.session)}
        return next((value for _, value in self._answers(asked, limit)), None)

    def url(self, realm: Realm) -> str:
        """Return where a realm is, as it has said when it was read last."""
        return self._urls.get(realm, "")

    def pulse(self, limit: float) -> dict[Realm, Any]:
        """Return what changes in each realm with an engine when a tensor is made or disposed of. Raises RealmHung."""
        found = self.ask("pulse()", limit)
        self._with_engine |= {realm for realm, engines in found.items() if engines}
        return {realm: engines for realm, engines in found.items() if engines}

    def read(self, limit: float) -> dict[Realm, list[dict[str, Any]]]:
        """Return the readings of each realm's engines. Raises RealmHung."""
        found = self.ask("read()", limit)
        self._urls |= {realm: said["url"] for realm, said in found.items()}
        return {realm: said["engines"] for realm, said in found.items() if said["engines"]}

    def mark(self, name: str, limit: float, *, first: bool = False) -> None:
        """Say that a round begins. Raises RealmHung."""
        self.ask(f"mark({json.dumps(name)}, {json.dumps(first)})", limit)

    def left(self, limit: float) -> dict[Realm, list[dict[str, Any]]]:
        """Return the tensors that are left of the rounds, by engine. Raises RealmHung."""
        return self.ask("left()", limit)

    def ask(self, what: str, limit: float) -> dict[Realm, Any]:
        """Return what all realms' observers answer; one that is gone by then answers nothing. Raises RealmHung."""
        expression = f"{OBSERVER}?.{what}"
        asked = {}
        for realm in self.all():
            busy = self._pending.get(realm)
            if busy is not None and not busy.done():
                continue
            params = {"expression": expression, "uniqueContextId": realm.context, "returnByValue": True}
            asked[realm] = self._pending[realm] = self.devtools.send("Runtime.evaluate", params, realm.session)
        return dict(self._answers(asked, limit))

    def _answers(self, asked: Mapping[Realm, Future[Event]], limit: float) -> Iterator[tuple[Realm, Any]]:
        began = time.monotonic()
        for realm, answer in asked.items():
            must = realm in self._with_engine or realm.session == self.main
            try:
                said = answer.result(max(0.0, began + (limit if must else min(limit, BUSY)) - time.monotonic()))
            except NotInTime:
                if must:
                    raise RealmHung(
                        f"the {realm.kind} {self.url(realm)} does not answer within {limit:g} s: its script is busy"
                    ) from None
                continue
            except Gone:
                raise
            except DevToolsError:
                continue  # it has gone meanwhile
            if "exceptionDetails" in said:
                details = said["exceptionDetails"]
                raise RealmHung(
                    f"the {realm.kind} {self.url(realm)} cannot be read: "
                    f"{details.get('exception', {}).get('description') or details.get('text')}"
                )
            if "value" in said.get("result", {}):
                yield realm, said["result"]["value"]

    def collect(self, limit: float) -> None:
        """Force a garbage collection wherever there is an engine."""
        sessions = {realm.session for realm in self.all() if realm in self._with_engine}
        asked = [self.devtools.send("HeapProfiler.collectGarbage", {}, session) for session in sessions]
        began = time.monotonic()
        for answer in asked:
            try:
                answer.result(max(0.0, began + limit - time.monotonic()))
            except NotInTime:
                raise RealmHung(f"garbage could not be collected within {limit:g} s: a script is busy") from None
            except Gone:
                raise
            except DevToolsError:
                continue

    def heaps(self, limit: float) -> dict[str, int]:
        """Return the bytes of each session's JavaScript heap, with what arrays have outside of it."""
        sessions = {realm.session for realm in self.all() if realm in self._with_engine}
        asked = {session: self.devtools.send("Runtime.getHeapUsage", {}, session) for session in sessions}
        found, began = {}, time.monotonic()
        for session, answer in asked.items():
            try:
                said = answer.result(max(0.0, began + limit - time.monotonic()))
            except (NotInTime, DevToolsError):
                continue
            found[session] = int(said["usedSize"] + said.get("backingStorageSize", 0))
        return found

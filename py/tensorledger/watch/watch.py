"""The course of a watch: the page is loaded, the action repeated, what each round has left is read and judged."""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import msgspec

from tensorledger.protocol.messages import Thrown
from tensorledger.watch import engines, growth
from tensorledger.watch.action import Action, ActionFailed
from tensorledger.watch.devtools import DevToolsError, Unanswered
from tensorledger.watch.engines import Key, Reading
from tensorledger.watch.found import Engine, Failure, PageError, Realm, Verdict, Watched, failure
from tensorledger.watch.leaks import Left, leaks
from tensorledger.watch.realms import Realm as Seen
from tensorledger.watch.realms import RealmHung, Realms
from tensorledger.watch.scripts import Parsed, scripts
from tensorledger.watch.started import Chromium
from tensorledger.watch.trace import Place, Traced, TraceFailed, trace, untraced, urls

POLL = 0.05
"""Seconds between two looks at whether tensors still come and go."""
QUIET = 2
"""Looks one after the other that have to see the same."""
SETTLE = 3.0
"""Seconds after which a page that never gets quiet is read all the same."""
LOOKS = 10
"""Readings that are then taken, of which the least counts: between two frames there may be more."""
STATE = "[document.readyState, location.href, performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0]"
ENDED = {"page": "closed", "frame": "removed"}
LOOKED_FOR = "an engine on the global object (_tfengine, or ENV up to release 1.0), of windows, frames and workers"


@dataclass(frozen=True)
class Asked:
    """What is to be watched, and how."""

    url: str
    action: Path
    rounds: int = 5
    warm_up: int = 2
    timeout: float = 30.0
    """Seconds that each step may take."""
    headed: bool = False
    told: Callable[[str], None] = lambda _: None
    """Is told what is being done."""


class _Stopped(Exception):
    """The watch cannot go on; it has a Failure."""

    def __init__(self, failed: Failure, log: str = "") -> None:
        super().__init__(failed.message)
        self.failure = failed
        self.log = log


def watch(asked: Asked) -> Watched:
    """Watch a page. Raises ChromiumMissing or BadAction; what is wrong with the page is in what it returns."""
    began = time.monotonic()
    realms, parsed = Realms(), Parsed()

    def heard(session: str, method: str, params: dict[str, object]) -> None:
        realms.heard(session, method, params)
        parsed.heard(session, method, params)

    with Action(asked.action, asked.timeout) as action, Chromium(heard, headed=asked.headed) as chromium:
        realms.start(chromium.devtools)
        action.load()
        course = _Course(asked, realms, parsed, action)
        failed, log = None, ""
        try:
            course.run(chromium.endpoint)
        except _Stopped as stopped:
            failed, log = stopped.failure, stopped.log
        except (RealmHung, DevToolsError) as error:
            failed = course.failure(type(error).__name__, course.why(error))
        found = course.found(failed)
    return msgspec.structs.replace(found, browser=chromium.version, seconds=round(time.monotonic() - began, 3), log=log)


@dataclass
class _Course:
    asked: Asked
    realms: Realms
    parsed: Parsed
    action: Action
    step: str = "load"
    round: int | None = None
    readings: list[Reading] = field(default_factory=list)
    born: dict[Seen, int] = field(default_factory=dict)
    """The round after which a realm was first seen with an engine."""
    notes: list[str] = field(default_factory=list)
    _document: Seen | None = None
    """The window that is watched, from where on it has to stay the same."""
    _busy: bool = False

    # --- the course

    def run(self, endpoint: str) -> None:
        with ThreadPoolExecutor(1) as beside:
            opening = beside.submit(self.action.open, endpoint)
            self.realms.ready(self.asked.timeout)
            try:
                opening.result()
            except ActionFailed as failed:
                raise self._threw(failed) from failed
        # Not before: of two that attach to a page while it goes somewhere, one may lose it.
        self._load()
        self.realms.answers_dialogs = False
        self._settle()
        self._stayed()
        self._step("setup")
        self._settle()
        self._document = self._window()
        self.round = 0
        for number in range(self.asked.warm_up):
            self.asked.told(f"warming up, {number + 1} of {self.asked.warm_up}")
            self._round()
        self._read()
        if not self.realms.found:
            raise _Stopped(self.failure("NoTensorFlow", self._no_engine()))
        self._rounds(1, self.asked.rounds)
        if engines.uneven(engines.alike(self.readings)):
            # What differs from round to round is looked at for as long again.
            self._rounds(self.asked.rounds + 1, 2 * self.asked.rounds)

    def _rounds(self, first: int, last: int) -> None:
        for number in range(first, last + 1):
            self.asked.told(f"round {number} of {last}")
            self.round = number
            self.realms.mark(str(number), self.asked.timeout, first=number == 1)
            self._round()
            self._read()

    def _round(self) -> None:
        for step in ("action", "back"):
            self._step(step)
        self._settle()
        self._stayed()

    def _load(self) -> None:
        self.asked.told("loading the page")
        deadline = time.monotonic() + self.asked.timeout
        try:
            said = self.realms.devtools.call(
                "Page.navigate", {"url": self.asked.url}, self.realms.main, limit=self.asked.timeout
            )
        except Unanswered:
            raise _Stopped(self.failure("NeverLoads", self._late("the server did not answer"))) from None
        if said.get("errorText"):
            raise _Stopped(self.failure("NotLoaded", f"{self.asked.url} cannot be loaded: {said['errorText']}"))
        while (state := self._state()) is None or state[0] != "complete" or state[1] == "about:blank":
            if time.monotonic() > deadline:
                raise _Stopped(self.failure("NeverLoads", self._late("something that it loads did not come")))
            self._alive()
            self.realms.wait(POLL)
        if state[2] >= 400:
            answer = f"{self.asked.url} cannot be loaded: the server answered {state[2]}"
            raise _Stopped(self.failure("NotLoaded", answer))

    def _state(self) -> tuple[str, str, int] | None:
        """Return how far the page's document is, its URL, and the status that it was sent with; None between two."""
        window = self.realms.window()
        value = self.realms.tell(window, STATE, self.asked.timeout) if window else None
        return None if value is None else (value[0], value[1], value[2])

    def _window(self) -> Seen | None:
        """Return the page's window, once there is one."""
        deadline = time.monotonic() + self.asked.timeout
        while self.realms.window() is None and time.monotonic() < deadline:
            self._alive()
            self.realms.wait(POLL)
        return self.realms.window()

    def _late(self, why: str) -> str:
        return f"the page did not load within {self.asked.timeout:g} s: {why} (--timeout says how long is waited)"

    def _step(self, step: str) -> None:
        if step not in self.action.steps:
            return
        self.step = step
        try:
            self.action.run(step)
        except ActionFailed as failed:
            self._alive()
            if step != "setup":
                self._stayed()
            raise self._threw(failed) from failed
        self._alive()
        if step != "setup":
            self._stayed()

    def _settle(self) -> None:
        """Wait until no tensor comes or goes any more, and collect garbage."""
        last, seen, deadline = None, 0, time.monotonic() + SETTLE
        while seen < QUIET and time.monotonic() < deadline:
            pulse = self.realms.pulse(self.asked.timeout)
            seen = seen + 1 if pulse == last else 0
            last = pulse
            if seen < QUIET:
                time.sleep(POLL)
        self._busy = seen < QUIET
        self.realms.collect(self.asked.timeout)
        self._alive()

    def _read(self) -> None:
        self.realms.pulse(self.asked.timeout)  # what a collection has brought about is done before
        looks = [self.realms.read(self.asked.timeout)]
        if self._busy:
            note = "the page never got quiet: of each round, the least of several readings counts"
            self.notes += [] if note in self.notes else [note]
            for _ in range(LOOKS - 1):
                time.sleep(POLL / 2)
                looks.append(self.realms.read(self.asked.timeout))
        least = {
            realm: [min(engine, key=lambda one: one["tensors"]) for engine in zip(*(look[realm] for look in looks))]  # noqa: B905
            for realm in looks[0]
            if all(realm in look for look in looks)
        }
        places = {realm: self._place(realm) for realm in least}
        self.readings.append(Reading(least, places, self.realms.heaps(self.asked.timeout)))
        for realm in least:
            self.born.setdefault(realm, self.round or 0)

    def _place(self, realm: Seen) -> str:
        # A page of one document is the same wherever its router goes.
        first = next((reading.urls[realm] for reading in self.readings if realm in reading.urls), None)
        own = self.asked.url if realm.session == self.realms.main and realm.kind == "page" else None
        return own or first or self.realms.url(realm)

    # --- what can go wrong

    def _alive(self) -> None:
        if self.realms.crashed:
            raise _Stopped(self.failure("PageCrashed", f"the page crashed: {self.realms.crashed[0]}"))
        if self.realms.main not in self.realms.targets:
            raise _Stopped(self.failure("PageClosed", "the page was closed"))

    def _stayed(self) -> None:
        """Hold the page to being there still. Raises _Stopped where it is another document."""
        if self._document is not None and self._window() == self._document:
            return
        state = self._state()
        url = state[1] if state else ""
        if self._document is not None:
            where = "it was loaded anew" if url == self.asked.url else f"it went to {url}"
            why = "a document that is gone has given back its memory, so that nothing can be compared"
            message = f"the page is no longer the document that is watched: {where}; {why}. An action stays on the page"
            raise _Stopped(self.failure("NavigatedAway", message))
        if urlsplit(url).netloc != urlsplit(self.asked.url).netloc:
            raise _Stopped(
                self.failure(
                    "NavigatedAway", f"the page went away by itself, to {url}; {self.asked.url} alone is watched"
                )
            )

    def _no_engine(self) -> str:
        kinds = [realm.kind for realm in self.realms.all()]
        looked = ", ".join(f"{kinds.count(kind)} of kind {kind}" for kind in dict.fromkeys(kinds))
        return f"there is no TensorFlow.js on the page: looked for {LOOKED_FOR}, in {looked}"

    def failure(self, kind: str, message: str) -> Failure:
        thrown = Thrown(type=kind, message=message, checkpoint=None, stack=[])
        return failure(thrown, self.round, self.step, "")

    def why(self, error: Exception) -> str:
        if self.realms.crashed:
            return f"the page crashed: {self.realms.crashed[0]}"
        return str(error)

    def _threw(self, failed: ActionFailed) -> _Stopped:
        stack = failed.thrown.stack
        line = linecache.getline(stack[0].file, stack[0].line or 0).strip() if stack else ""
        return _Stopped(failure(failed.thrown, self.round, self.step, line), failed.log)

    # --- what is told

    def found(self, failed: Failure | None) -> Watched:
        """Return all that was found, in the seconds and the browser of nobody."""
        self.asked.told("tracing the lines")
        judged = max(0, len(self.readings) - 1)
        found = self._engines(judged) if self.readings else []
        verdict: Verdict = "fail" if any(engine.grows for engine in found) else "pass"
        return Watched(
            url=self.asked.url,
            action=str(self.asked.action),
            browser="",
            rounds=judged,
            verdict="error" if failed else verdict,
            reason=_failed(failed) if failed else _reason(found, judged, self.realms.found),
            seconds=0.0,
            engines=found,
            error=failed,
            page_errors=[PageError(message=one.message, url=one.url, line=one.line) for one in self.realms.errors],
            notes=self.notes,
        )

    def _engines(self, judged: int) -> list[Engine]:
        readings = engines.alike(self.readings)
        last = readings[-1]
        all_keys = engines.keys(readings)
        growing = {key: engines.grows(readings, key) for key in all_keys} if judged else {}
        try:
            told = self.realms.left(self.asked.timeout)
        except (RealmHung, DevToolsError):
            told = {}
        left: dict[Key, list[Left]] = {}
        libraries: dict[Key, str] = {}
        for key in all_keys:
            for realm in last.realms(key):
                said = told.get(realm, [])
                if key.index < len(said):
                    libraries.setdefault(key, said[key.index]["library"])
                    if growing.get(key):
                        groups = (Left.told(group, self.born[realm]) for group in said[key.index]["left"])
                        left.setdefault(key, []).extend(groups)
        stacks = list(dict.fromkeys(one.stack for groups in left.values() for one in groups if one.stack))
        traced = self._traced(stacks, list(libraries.values()))
        places = dict(zip(stacks, traced.stacks, strict=True))
        releases = dict(zip(libraries, traced.releases, strict=True))
        numbers = list(range(1, judged + 1))
        return [
            self._engine(readings, key, growing.get(key, []), releases.get(key), left.get(key, []), places, numbers)
            for key in all_keys
        ]

    def _traced(self, stacks: list[str], libraries: list[str]) -> Traced:
        try:
            found = scripts(self.realms, self.parsed, urls([*stacks, *libraries]))
            return trace(self.asked.url, found, stacks, libraries)
        except TraceFailed as error:
            self.notes.append(str(error))
            return Traced([untraced(stack) for stack in stacks], [None for _ in libraries])

    def _engine(
        self,
        readings: Sequence[Reading],
        key: Key,
        growing: list[str],
        release: str | None,
        left: Sequence[Left],
        places: dict[str, Place],
        rounds: Sequence[int],
    ) -> Engine:
        found = engines.levels(readings, key)
        said = [engine for reading in readings for engine in reading.of(key)]
        places_of = {reading.urls.get(realm, "") for reading in readings for realm in reading.realms(key)}
        url = urldefrag(places_of.pop()).url if len(places_of) == 1 else key.url
        pool = engines.series(found, "gpu_allocated")
        notes = list(dict.fromkeys(engine["disagreement"] for engine in said if engine["disagreement"]))
        if pool is not None and growth.grows(pool) and not growing:
            notes.append(
                f"the backend keeps {growth.each(pool):,} bytes of the GPU more each round for tensors to come: "
                "a pool that rises where shapes are ever new"
            )
        return Engine(
            realm=Realm(kind=key.kind, url=url, count=max(len(reading.realms(key)) for reading in readings)),
            release=release,
            backend=next((engine["backend"] for engine in reversed(said) if engine["backend"]), None),
            rounds=found,
            growth=engines.grown(found),
            grows=growing,
            leaks=leaks(left, places, rounds) if growing else [],
            notes=notes,
        )


def _failed(failed: Failure) -> str:
    message = failed.message.splitlines()[0] if failed.message else failed.type
    if failed.type == "NoTensorFlow" or (failed.round is None and failed.step == "load"):
        return message
    when = {None: "", 0: "warming up"}.get(failed.round, f"round {failed.round}")
    return f"{', '.join(filter(None, [failed.step, when]))}: {message}"


def _reason(found: Sequence[Engine], rounds: int, kinds: Collection[str]) -> str:
    if not found:
        ended = " and ".join(sorted(kinds))
        return f"{rounds} rounds left nothing: each {ended} with TensorFlow.js had ended, and gave back all that it had"
    if not any(engine.grows for engine in found):
        kept = _kept(found)
        return (
            f"did not keep growing over {rounds} rounds: {kept} left in all"
            if kept
            else f"{rounds} rounds left nothing"
        )
    return "; ".join(_grown(engine) for engine in found if engine.grows)


def _kept(found: Sequence[Engine]) -> str:
    """Return what there is more of than before the first round, though it does not go on growing; empty for nothing."""
    for quantity, one, several in (
        ("tensors", "tensor was", "tensors were"),
        ("bytes", "byte was", "bytes were"),
        ("gpu", "byte on the GPU was", "bytes on the GPU were"),
    ):
        ends = [(getattr(engine.rounds[0], quantity), getattr(engine.rounds[-1], quantity)) for engine in found]
        more = sum(max(0, last - first) for first, last in ends if None not in (first, last))
        if more:
            return f"{more:,} {one if more == 1 else several}"
    return ""


def _grown(engine: Engine) -> str:
    assert engine.growth is not None, "what grows was measured"
    told: list[str] = []
    if "tensors" in engine.grows:
        told = [f"{engine.growth.tensors:,} tensor{'' if engine.growth.tensors == 1 else 's'}"]
    if engine.growth.bytes:
        told.append(f"{engine.growth.bytes:,} bytes")
    if engine.growth.gpu:
        told.append(f"{engine.growth.gpu:,} bytes on the GPU")
    kind = engine.realm.kind
    if "realms" in engine.grows:
        told.insert(0, f"a {kind} that is not {ENDED.get(kind, 'ended')}")
        return f"each round leaves {', '.join(told)}"
    return f"each round leaves {', '.join(told)} in the {kind}"

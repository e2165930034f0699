"""The scripts that a page has run, as the browser has them, and their source maps, from the page's own sites."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Collection, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from contextlib import suppress
from urllib.parse import urljoin, urlsplit

import msgspec

from tensorledger.watch.devtools import DevToolsError, Event
from tensorledger.watch.realms import Realms, Target

LARGEST = 128 * 2**20
"""Bytes of a map that are read; a larger one is not used."""
CHUNK = 4 * 2**20
LIBRARY = re.compile(r"/@tensorflow/tfjs|/tfjs@|/tf(?:[-.][\w-]+)*\.js$")
"""TensorFlow.js's own builds, whose maps tell nothing that a user could change."""
QUICK = 10.0
"""Seconds that one of these commands may take."""


class Script(msgspec.Struct, frozen=True, kw_only=True):
    """As js/watch/trace.mjs takes it; lines are from 0, in the document that the script is in."""

    url: str
    line: int
    last: int
    text: str | None
    where: str
    """The URL that it says its map has; empty where it says none."""
    map: str | None


class Parsed:
    """What the debugger of every session tells of the scripts it has; it is on only while this is asked."""

    def __init__(self) -> None:
        self.found: list[tuple[str, Event]] = []

    def heard(self, session: str, method: str, params: Event) -> None:
        """Take note of an event."""
        if method == "Debugger.scriptParsed":
            self.found.append((session, params))


def scripts(realms: Realms, parsed: Parsed, urls: Collection[str]) -> list[Script]:
    """Return the scripts at some URLs, with their maps. What cannot be had is left out."""
    sessions = list(realms.targets)
    enabled = [realms.devtools.send("Debugger.enable", {}, session) for session in sessions]
    for answer in enabled:
        _said(answer)
    seen: set[tuple[str, int]] = set()
    found = []
    sites = {_site(params["url"]) for _, params in parsed.found}
    for session, params in list(parsed.found):
        key = (params["url"], params["startLine"])
        if params["url"] not in urls or key in seen:
            continue
        seen.add(key)
        text = _said(realms.devtools.send("Debugger.getScriptSource", {"scriptId": params["scriptId"]}, session))
        where = params.get("sourceMapURL", "")
        found.append(
            Script(
                url=params["url"],
                line=params["startLine"],
                last=params["endLine"],
                text=text.get("scriptSource") if text else None,
                where=where,
                map=_map(realms, session, urljoin(params["url"], where), sites)
                if where and not LIBRARY.search(urlsplit(params["url"]).path)
                else None,
            )
        )
    for session in sessions:
        realms.devtools.send("Debugger.disable", {}, session)
    return found


def _map(realms: Realms, session: str, url: str, sites: Collection[str]) -> str | None:
    """Return the text of a map that is a file of its own, on a site that the page has a script from."""
    target = _window(realms, session)
    if target is None or urlsplit(url).scheme not in ("http", "https") or _site(url) not in sites:
        return None
    options = {"disableCache": False, "includeCredentials": True}
    params: Event = {"url": url, "options": options, "frameId": target.id}
    said = _said(realms.devtools.send("Network.loadNetworkResource", params, target.session))
    resource = said["resource"] if said else {}
    if not resource.get("success"):
        return None
    with suppress(UnicodeDecodeError):
        return b"".join(_chunks(realms, target, resource["stream"])).decode()
    return None


def _window(realms: Realms, session: str) -> Target | None:
    """Return the window of a session, or the one that has started its worker: the browser loads for windows alone."""
    target = realms.targets.get(session)
    while target is not None and target.kind not in ("page", "frame"):
        target = realms.targets.get(target.parent or realms.main)  # a worker that several pages share has no parent
    return target


def _chunks(realms: Realms, target: Target, stream: str) -> Iterator[bytes]:
    size, deadline = 0, time.monotonic() + QUICK
    while time.monotonic() < deadline and size < LARGEST:
        said = _said(realms.devtools.send("IO.read", {"handle": stream, "size": CHUNK}, target.session))
        if said is None:
            return
        data = base64.b64decode(said["data"]) if said.get("base64Encoded") else said["data"].encode()
        size += len(data)
        yield data
        if said["eof"]:
            break
    realms.devtools.send("IO.close", {"handle": stream}, target.session)


def _said(answer: Future[Event]) -> Event | None:
    try:
        return answer.result(QUICK)
    except (NotInTime, DevToolsError):
        return None


def _site(url: str) -> str:
    parts = urlsplit(url.removeprefix("blob:"))
    return f"{parts.scheme}://{parts.netloc}"

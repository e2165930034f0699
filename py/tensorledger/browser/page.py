"""A worker in a page: joins what it says with the harness's channel, and what it prints with its log."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any
from urllib.parse import quote

from playwright.async_api import Browser, BrowserContext, CDPSession, Error

from tensorledger.browser.files import Ear, Files
from tensorledger.environment.tree import tree
from tensorledger.protocol.channel import LONGEST_LINE

PAGE = "js/worker/page.html"
BINDING = "tensorledgerTell"
"""The function that the page finds on its global object; what it tells by it is JSON (js/worker/page.mjs)."""

CLOSING = 10
"""Seconds that a browser has to close a page; it takes 20 ms, also of a page that never stops computing."""


class Page:
    """A fresh page in a fresh context, until its channel closes or something breaks."""

    def __init__(self, context: BrowserContext, cdp: CDPSession, ear: Ear, log: int) -> None:
        self._context = context
        self._cdp = cdp
        self._ear = ear
        self._log = log
        self._writer: asyncio.StreamWriter | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._listens = False
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """How it ended."""

    @classmethod
    async def open(cls, browser: Browser, files: Files, modules: str, end: socket.socket, log: int) -> Page:
        """Open it, and begin to load the worker. Raises playwright's Error where the browser is gone."""
        context = await browser.new_context()
        page = await context.new_page()
        cdp = await context.new_cdp_session(page)
        name = secrets.token_urlsafe()
        self = cls(context, cdp, files.ear(name), log)
        page.on("console", lambda message: self._print(message.text))
        page.on("pageerror", lambda error: self._print(f"{error.name}: {error.message}"))
        page.on("crash", lambda _: self._ends("the page crashed"))
        page.on("close", lambda _: self._ends("the page was closed"))
        browser.on("disconnected", lambda _: self._ends("the browser crashed, or was closed"))
        cdp.on("Runtime.bindingCalled", self._told)
        cdp.on("Runtime.executionContextsCleared", lambda _: self._left())
        await cdp.send("Runtime.enable")
        await cdp.send("Runtime.addBinding", {"name": BINDING})
        reader, self._writer = await asyncio.open_connection(sock=end, limit=LONGEST_LINE)
        self._do(self._listen(reader))
        query = f"modules={quote(modules)}&browser={quote(browser.version)}&ear={name}"
        await page.goto(f"{files.base}{quote(str(tree() / PAGE))}?{query}", wait_until="commit")
        return self

    async def ended(self, seconds: float) -> str:
        """Say how it ended, and wait for that so many seconds."""
        try:
            return await asyncio.wait_for(asyncio.shield(self.closed), seconds)
        except asyncio.TimeoutError:
            return "it is still there"

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        async def guarded() -> None:
            with suppress(Error):  # of a page, or a browser, that goes away meanwhile: that is told by itself
                await work

        task = asyncio.ensure_future(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Hand over what the harness says, until it hangs up."""
        with suppress(ConnectionError):  # it hung up, and had not read all that it was told
            while line := await reader.readline():
                self._say({"line": line.decode()})
        self._ends("its channel was closed")

    def _told(self, event: dict[str, Any]) -> None:
        if event["name"] != BINDING or self._writer is None or self.closed.done():
            return
        try:
            match json.loads(event["payload"]):
                case {"line": str(line)}:
                    self._writer.write(line.encode() + b"\n")
                case {"listens": True} if not self._listens:
                    self._listens = True
                case {"memory": int(asked)}:
                    self._do(self._tell_memory(asked))
                case {"lost": str(why)}:
                    self._ends(why)
                case _:
                    raise ValueError("nothing that a worker says")
        except ValueError as error:  # any script of the page can call the binding
            self._ends(f"the page told {event['payload'][:200]!r}: {error}")

    def _left(self) -> None:
        """See to a page that a scenario has sent somewhere else: nobody is there to answer any more."""
        if self._listens:
            self._ends("the page went to another address, or was loaded again")

    async def _tell_memory(self, asked: int) -> None:
        """What a page cannot know of itself: its whole heap, and the array buffers outside it."""
        usage = await self._cdp.send("Runtime.getHeapUsage")
        heap = {
            "used": usage["usedSize"],
            "external": usage["backingStorageSize"],
            "embedder": usage["embedderHeapUsedSize"],
        }
        self._say({"memory": {"heap": heap, "process": {}}, "number": asked})

    def _say(self, what: dict[str, Any]) -> None:
        self._ear.say(json.dumps(what))

    def _print(self, text: str) -> None:
        if self.closed.done():  # and its log may be closed, its number another's
            return
        try:
            os.write(self._log, f"{text}\n".encode(errors="replace"))
        except OSError:
            self._ends("its log was closed")

    def _ends(self, how: str) -> None:
        if self.closed.done():
            return
        self.closed.set_result(how)
        self._do(self._close())

    async def _close(self) -> None:
        for task in self._tasks - {asyncio.current_task()}:
            task.cancel()
        self._ear.close()
        with suppress(Error, asyncio.TimeoutError):  # it went with the browser
            await asyncio.wait_for(self._context.close(), CLOSING)
        if self._writer is not None:
            self._writer.close()
        os.close(self._log)

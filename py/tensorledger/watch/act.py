"""Runs an action file in Python on the page that is watched: python -m tensorledger.watch.act FILE, the channel on 3.

What the file prints goes to the log. While nothing is asked, Playwright goes on: handlers that `setup` has installed
on the page have to be served between the steps, too.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import re
import select
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from tensorledger.protocol.channel import Channel
from tensorledger.protocol.messages import Act, Acted, ActionLoaded, FindPage, Frame, LoadAction, Thrown

DESCRIPTOR = 3
STEPS = ("setup", "action", "back")
IDLE = 20
"""Milliseconds that the page is served for before the channel is looked at again."""


class Driver(Protocol):
    """Playwright, of either kind, and the page once it is opened."""

    def open(self, params: FindPage) -> None: ...
    def call(self, function: Callable[[Any], Any]) -> None: ...
    def idle(self) -> None: ...


class Plain:
    """For functions that are not async."""

    def __init__(self) -> None:
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()

    def open(self, params: FindPage) -> None:
        browser = self._playwright.chromium.connect_over_cdp(params.endpoint)
        browser.contexts[0].set_default_timeout(params.timeout * 1000)
        self._page = browser.contexts[0].pages[0]

    def call(self, function: Callable[[Any], Any]) -> None:
        function(self._page)

    def idle(self) -> None:
        self._page.wait_for_timeout(IDLE)


class Async:
    """For functions that are."""

    def __init__(self) -> None:
        from playwright.async_api import async_playwright

        self._loop = asyncio.new_event_loop()
        self._playwright = self._loop.run_until_complete(async_playwright().start())

    def open(self, params: FindPage) -> None:
        self._page = self._loop.run_until_complete(self._opened(params))

    async def _opened(self, params: FindPage) -> Any:
        browser = await self._playwright.chromium.connect_over_cdp(params.endpoint)
        browser.contexts[0].set_default_timeout(params.timeout * 1000)
        return browser.contexts[0].pages[0]

    def call(self, function: Callable[[Any], Any]) -> None:
        self._loop.run_until_complete(function(self._page))

    def idle(self) -> None:
        self._loop.run_until_complete(asyncio.sleep(IDLE / 1000))


class Server:
    """Answers what the channel asks."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._steps: dict[str, Callable[[Any], Any]] = {}
        self._is_async = False
        self._driver: Driver | None = None
        self._is_open = False

    def serve(self, channel: Channel) -> None:
        """Until it is closed."""
        methods: dict[str, Any] = {"load_action": self._load, "find_page": self._open, "act": self._act}
        while channel.answer_one(methods):
            if self._driver is None and self._steps:
                self._driver = Async() if self._is_async else Plain()  # which takes a while, as Chromium's start does
            self._serve_page(channel)

    def _serve_page(self, channel: Channel) -> None:
        while self._is_open and self._driver is not None and not select.select([channel], [], [], 0)[0]:
            try:
                self._driver.idle()
            except Exception:
                break  # the page has gone, or crashed: what is asked next says so

    def _load(self, _: LoadAction) -> ActionLoaded:
        try:
            module = _imported(Path(self._file))
        except BaseException as error:
            return ActionLoaded(steps=[], error=_thrown(error, self._file))
        self._steps = {step: getattr(module, step) for step in STEPS if callable(getattr(module, step, None))}
        asyncs = [step for step, function in self._steps.items() if inspect.iscoroutinefunction(function)]
        self._is_async = bool(asyncs)
        if asyncs and len(asyncs) < len(self._steps):
            message = f"{' and '.join(asyncs)} is async and the rest is not: Playwright's page is of one kind for all"
            return ActionLoaded(steps=[], error=Thrown(type="TypeError", message=message, checkpoint=None, stack=[]))
        return ActionLoaded(steps=list(self._steps), error=None)

    def _open(self, params: FindPage) -> Acted:
        def opening(driver: Driver) -> None:
            driver.open(params)
            self._is_open = True

        return self._acted(opening)

    def _act(self, params: Act) -> Acted:
        return self._acted(lambda driver: driver.call(self._steps[params.step]))

    def _acted(self, act: Callable[[Driver], None]) -> Acted:
        assert self._driver is not None, "the file is loaded first"
        try:
            act(self._driver)
        except BaseException as error:
            return Acted(error=_thrown(error, self._file))
        return Acted(error=None)


def _imported(file: Path) -> ModuleType:
    path = file.resolve()
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _thrown(error: BaseException, file: str) -> Thrown:
    """Return what was raised, with the lines of the file that led to it, the innermost first."""
    path = str(Path(file).resolve())
    stack = [
        Frame(function=frame.name, file=file, line=frame.lineno, column=None, of="user")
        for frame in reversed(traceback.extract_tb(error.__traceback__))
        if frame.filename == path
    ]
    if isinstance(error, SyntaxError) and error.filename == path:
        stack.insert(0, Frame(function="", file=file, line=error.lineno, column=None, of="user"))
    message = re.sub(r"\x1b\[\d+m", "", str(error))  # escapes that colour a terminal are for one
    return Thrown(type=type(error).__name__, message=message, checkpoint=None, stack=stack)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        Server(sys.argv[1]).serve(Channel(socket.socket(fileno=DESCRIPTOR)))

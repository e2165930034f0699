"""The process that has the browser, one for a run, and opens its pages: workers, each in a fresh context.

python -m tensorledger.browser.stem CHROMIUM        with the harness on descriptor 3
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import psutil
from playwright.async_api import Browser, async_playwright

from tensorledger.browser.chromium import FLAGS
from tensorledger.browser.files import Files
from tensorledger.browser.page import Page
from tensorledger.protocol.channel import Channel
from tensorledger.protocol.messages import ClosePage, OpenPage, PageClosed, PageOpened

DESCRIPTOR = 3

MEASURING = ("--js-flags=--expose-gc --no-flush-bytecode",)
"""And what Chromium is started with so that its pages can be measured: they collect garbage when they want to."""

LOOK = 0.05
"""Seconds between two looks at what Chromium has made, or leaves."""
TIMES = 30
"""Looks after which it is left there."""

T = TypeVar("T")


class Stem:
    """Opens pages, and tells how they ended. Its methods are called outside the loop that the browser is driven in."""

    def __init__(self, browser: Browser, channel: Channel, loop: asyncio.AbstractEventLoop) -> None:
        self._browser = browser
        self._channel = channel
        self._loop = loop
        self._files = Files()
        self._pages: list[Page] = []

    def open_page(self, asked: OpenPage) -> PageOpened:
        end, log = self._channel.descriptors[:2]
        del self._channel.descriptors[:2]
        opening = Page.open(self._browser, self._files, asked.modules, socket.socket(fileno=end), log)
        self._pages.append(self._await(opening))
        return PageOpened(page=len(self._pages) - 1)

    def close_page(self, asked: ClosePage) -> PageClosed:
        return PageClosed(how=self._await(self._pages[asked.page].ended(asked.seconds)))

    def _await(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


async def serve(executable: str) -> None:
    """Open pages until the harness hangs up, or the browser is gone. Raises Error where it cannot start."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    channel = Channel(socket.socket(fileno=DESCRIPTOR))
    async with _nothing_left(), async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=[*FLAGS, *MEASURING])
        browser.on("disconnected", lambda _: over.set())
        stem = Stem(browser, channel, loop)

        def answer() -> None:
            try:
                channel.serve({"open_page": stem.open_page, "close_page": stem.close_page})
            finally:
                loop.call_soon_threadsafe(over.set)

        threading.Thread(target=answer, daemon=True).start()
        await over.wait()
        channel.hang_up()
        await browser.close()


@asynccontextmanager
async def _nothing_left() -> AsyncIterator[None]:
    """Remove what stays of a browser that is killed: its profile, and the folder of a socket of its own."""
    found: list[Path] = []

    async def find() -> None:
        while not found:
            await asyncio.sleep(LOOK)
            found.extend(_folders())

    finding = asyncio.create_task(find())
    try:
        yield
    finally:
        finding.cancel()
        for _ in range(TIMES):  # its other processes, which end now, may still be writing
            for folder in found:
                shutil.rmtree(folder, ignore_errors=True)
            if not any(folder.exists() for folder in found):
                break
            await asyncio.sleep(LOOK)


def _folders() -> list[Path]:
    """Return Chromium's profile, and the folder of the socket that it listens on for another of the same profile."""
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error, OSError, StopIteration):
            word = next(word for word in process.cmdline() if word.startswith("--user-data-dir="))
            profile = Path(word.partition("=")[2])
            return [Path(os.readlink(profile / "SingletonSocket")).parent, profile]
    return []


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))

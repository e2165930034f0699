"""Pages that are served here, and ``tensorledger watch`` run on them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tensorledger.environment.node import node
from tensorledger.environment.tree import tree

PAGES = tree() / "tests" / "pages"

GO = """\
def action(page):
    before = page.title()
    page.click("#go")
    page.wait_for_function("before => document.title !== before", arg=before)
"""
"""Of pages with a button that changes their title once it has done what it does."""

TOGGLE = """\
def action(page):
    page.click("#toggle")
    page.wait_for_selector("#best")


def back(page):
    page.click("#toggle")
    page.wait_for_selector("#best", state="detached")
"""
"""Of the React page."""


class _Handler(SimpleHTTPRequestHandler):
    asked: list[str]
    released: threading.Event

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path.startswith("/hangs"):
            self.released.wait(60)
        with suppress(ConnectionError):  # nobody waits any more
            super().do_GET()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@dataclass(frozen=True)
class Site:
    """A folder that is served."""

    folder: Path
    url: str
    asked: list[str]
    """The paths that were asked for."""


@contextmanager
def served(folder: Path) -> Iterator[Site]:
    """Serve a folder on this machine while the block runs."""
    asked: list[str] = []
    released = threading.Event()
    kind = type("Handler", (_Handler,), {"asked": asked, "released": released})
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(kind, directory=str(folder))) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Site(folder, f"http://127.0.0.1:{server.server_port}", asked)
        released.set()
        server.shutdown()
        thread.join()


def bundle(folder: Path) -> None:
    """Bundle the pages into a folder."""
    done = subprocess.run([node(), PAGES / "bundle.mjs", folder], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Run:
    """What the command has said."""

    status: int
    text: str
    json: dict[str, Any]

    @property
    def lines(self) -> list[str]:
        """The places that leak, as file:line."""
        leaks = [leak for engine in self.json["engines"] for leak in engine["leaks"]]
        stacks = [leak["stack"] for leak in leaks]
        return list(dict.fromkeys(f"{stack[0]['file']}:{stack[0]['line']}" if stack else "nowhere" for stack in stacks))

    @property
    def growth(self) -> list[int]:
        """How many tensors each round leaves, of each engine."""
        return [engine["growth"]["tensors"] for engine in self.json["engines"]]


def command(url: str, action: Path, *options: str) -> list[str | Path]:
    """Return the command that watches a page."""
    return [sys.executable, "-m", "tensorledger", "watch", url, "--action", action, *options]


def run(url: str, action: Path, *options: str, rounds: int = 2) -> Run:
    """Watch a page; the JSON is empty where none was written."""
    told = action.with_suffix(".json")
    told.unlink(missing_ok=True)
    counts = ["--rounds", str(rounds), "--warm-up", "1", "--json", str(told)]
    done = subprocess.run(command(url, action, *counts, *options), capture_output=True, text=True, timeout=120)
    found = json.loads(told.read_text(encoding="utf-8")) if told.is_file() else {}
    return Run(done.returncode, done.stdout + done.stderr, found)


def line_of(file: Path, text: str) -> int:
    """Return the number of the one line that has a text in it."""
    (found,) = [
        number for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1) if text in line
    ]
    return found

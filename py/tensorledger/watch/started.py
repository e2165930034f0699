"""A Chromium for each watch, with an empty profile: started, told what to do over a pipe, ended with all of it."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

from tensorledger.browser.chromium import FLAGS, ChromiumMissing, chromium
from tensorledger.watch.devtools import DevTools, DevToolsError, Heard
from tensorledger.workers.process import Started

USUAL = (
    # As people have it, but for what would come between: first-run pages, throttling of what is not in front.
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-popup-blocking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider",
    "--disable-hang-monitor",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
)
START = 60.0
"""Seconds that Chromium has to start; it takes 0.3 s here."""


class Chromium:
    """A running Chromium. It ends with the block, and with this process, whatever becomes of that."""

    def __init__(self, heard: Heard, *, headed: bool = False) -> None:
        """Start it; ``heard`` is told of events. Raises ChromiumMissing, which says what to do."""
        program = chromium()
        self._profile = tempfile.mkdtemp(prefix="tensorledger-watch-")
        head = [] if headed else ["--headless"]
        pipes = ["--remote-debugging-pipe", "--remote-debugging-port=0", f"--user-data-dir={self._profile}"]
        # Its two pipes, descriptors 3 and 4, are the two ways of one socket.
        command: list[str | Path] = [
            "/bin/sh",
            "-c",
            'exec "$0" "$@" 4>&3',
            program,
            *FLAGS,
            *USUAL,
            *head,
            *pipes,
            "about:blank",
        ]
        variables = dict(os.environ)
        if (
            sys.platform == "linux"
        ):  # elsewhere the way to a temporary folder is too long for one more, and for a socket in it
            variables["TMPDIR"] = self._profile  # of what Chromium leaves there, nothing is to stay
        self._process = Started(command, variables)
        self.devtools = DevTools(socket.socket(fileno=os.dup(self._process.channel.fileno())), heard)
        self.devtools.start()
        try:
            self.version: str = self.devtools.call("Browser.getVersion", limit=START)["product"]
        except DevToolsError as error:
            said = self._process.log.text(1.0).strip().splitlines()[-6:]
            self.close()
            raise ChromiumMissing(
                "\n".join([f"Chromium at {program} did not start: {error}", *(f"  {line}" for line in said)])
            ) from error
        except BaseException:  # such as Ctrl-C: nobody else would close it
            self.close()
            raise

    @property
    def endpoint(self) -> str:
        """Where Playwright connects to it, on this machine alone. Raises ChromiumMissing where it does not say."""
        file = Path(self._profile) / "DevToolsActivePort"
        deadline = time.monotonic() + START
        while time.monotonic() < deadline:
            lines = file.read_text(encoding="ascii").split() if file.is_file() else []
            if len(lines) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            time.sleep(0.01)
        raise ChromiumMissing("Chromium did not say which port it listens on")

    def close(self) -> None:
        """End it, and remove its profile."""
        self.devtools.close()
        self._process.channel.close()
        self._process.kill()
        self._process.status(5)
        for _ in range(200):  # its other processes, which have been killed too, may still be writing
            shutil.rmtree(self._profile, ignore_errors=True)
            if not Path(self._profile).exists():
                return
            time.sleep(0.05)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

"""An action file, and the process that runs its functions on the page: Playwright's, in Python or in JavaScript."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import TracebackType

from tensorledger.protocol.channel import Channel, ChannelClosed, ChannelTimeout, ProtocolBroken
from tensorledger.protocol.messages import Act, Acted, FindPage, LoadAction, Thrown
from tensorledger.workers.process import Started, stop

STEPS = ("setup", "action", "back")
ENDINGS = (".py", ".mjs", ".js", ".cjs")
START = 60.0
"""Seconds that the process has to start, and to find the page."""
BEYOND = 10.0
"""Seconds that a step may take beyond what it may wait for one thing on the page."""
PRINTED = 12
"""Lines of what it printed that are told when it fails."""

EXAMPLE = """\
a file that would do, in Python:
    def action(page):
        page.click("#open")

    def back(page):
        page.click("#close")
or in JavaScript, action.mjs:
    export const action = page => page.click('#open');
    export const back = page => page.click('#close');"""


class BadAction(Exception):
    """The action file cannot be used; the message says why."""


class ActionFailed(Exception):
    """One of its functions threw, did not come to an end, or ended the process."""

    def __init__(self, thrown: Thrown, log: str) -> None:
        super().__init__(thrown.message)
        self.thrown = thrown
        self.log = log


def playwright_driver() -> tuple[Path, Path]:
    """Return Playwright's own Node.js, and the folder of its JavaScript package."""
    from playwright._impl._driver import compute_driver_executable

    node, command = compute_driver_executable()
    return Path(node), Path(command).parent


class Action:
    """A running process that has loaded the file."""

    def __init__(self, file: Path, timeout: float) -> None:
        """Start it. Raises BadAction for a file of another kind; what is in it is seen by `load`."""
        if file.suffix not in ENDINGS:
            raise BadAction(f"{file}: an action file ends in one of {', '.join(ENDINGS)}; {EXAMPLE}")
        self._file = file
        self._timeout = timeout
        self.steps: list[str] = []
        if file.suffix == ".py":
            command: list[str | Path] = [sys.executable, "-m", "tensorledger.watch.act", file]
        else:
            from tensorledger.environment.tree import tree

            node, package = playwright_driver()
            command = [node, tree() / "js" / "watch" / "act.mjs", package, file]
        self._process = Started(command, os.environ)

    @property
    def _channel(self) -> Channel:
        return self._process.channel

    def load(self) -> None:
        """Load the file. Raises BadAction where it cannot be loaded, or has no function `action`."""
        try:
            loaded = self._channel.call("load_action", LoadAction(), deadline=time.monotonic() + START)
        except (ChannelClosed, ChannelTimeout, ProtocolBroken) as error:
            raise BadAction(f"{self._file} ended or stopped the process that loads it\n{self._printed()}") from error
        if loaded.error is not None:
            where = f" (line {loaded.error.stack[0].line})" if loaded.error.stack else ""
            raise BadAction(f"{self._file}{where}: {loaded.error.type}: {loaded.error.message}")
        if "action" not in loaded.steps:
            has = f"it has {' and '.join(loaded.steps)}" if loaded.steps else "it has neither that nor setup or back"
            raise BadAction(f"{self._file} has no function named action; {has}. {EXAMPLE}")
        self.steps = loaded.steps

    def open(self, endpoint: str) -> None:
        """Find the page in the browser. Raises ActionFailed."""
        self._ask("find_page", FindPage(endpoint=endpoint, timeout=self._timeout), START)

    def run(self, step: str) -> None:
        """Run one of the functions on the page; nothing where the file does not have it. Raises ActionFailed."""
        if step in self.steps:
            self._ask("act", Act(step=step), self._timeout + BEYOND)

    def _ask(self, method: str, params: FindPage | Act, limit: float) -> None:
        try:
            acted: Acted = self._channel.call(method, params, deadline=time.monotonic() + limit)
        except ChannelTimeout:
            raise self._failed("TimeoutError", f"it did not come to an end within {limit:g} s") from None
        except (ChannelClosed, ProtocolBroken):
            status = self._process.status(1.0)
            raise self._failed("ProcessEnded", f"it ended the process that runs it, with status {status}") from None
        if acted.error is not None:
            raise ActionFailed(acted.error, self._printed())

    def _failed(self, kind: str, message: str) -> ActionFailed:
        return ActionFailed(Thrown(type=kind, message=message, checkpoint=None, stack=[]), self._printed())

    def _printed(self) -> str:
        return "\n".join(self._process.log.text(0.2).strip().splitlines()[-PRINTED:])

    def close(self) -> None:
        """End the process, and all that it started."""
        self._process.kill()
        stop(self._process)

    def __enter__(self) -> Action:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

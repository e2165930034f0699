"""Stacks of a page, traced to what people wrote: by js/watch/trace.mjs, in the Node.js that Playwright brings."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tensorledger.environment.tree import tree
from tensorledger.protocol.messages import Frame
from tensorledger.watch.action import playwright_driver
from tensorledger.watch.scripts import Script

SECONDS = 60.0
PLACE = re.compile(r"((?:https?|file|blob|data|chrome-extension):[^\s()]+?):\d+:\d+\)?$", re.MULTILINE)

FRAME = re.compile(r"^\s*at (?:(.*?) \()?(?:async )?(\S+?):(\d+):(\d+)\)?$", re.MULTILINE)


class TraceFailed(Exception):
    """Node.js did not do it; the message has the end of what it said."""


class Place(msgspec.Struct, frozen=True):
    """Where something was made."""

    frames: list[Frame]
    """From the user's innermost one on; all where none is the user's."""
    source: str
    """The line that the first is at."""
    bundled: bool = False
    """All frames are in one script without a source map, the library's and the user's."""


class Traced(msgspec.Struct, frozen=True):
    """All places, and the releases of TensorFlow.js, in the order in which they were asked."""

    stacks: list[Place]
    releases: list[str | None]


def untraced(stack: str) -> Place:
    """Return where something was made as V8 has written it, in whatever the page has run."""
    frames = [
        Frame(function=name or "", file=url, line=int(line), column=int(column), of="library")
        for name, url, line, column in FRAME.findall(stack)
    ]
    return Place(frames, "")


def urls(stacks: Sequence[str]) -> set[str]:
    """Return the URLs of all scripts on some stacks."""
    return {url for stack in stacks for url in PLACE.findall(stack)}


def trace(page: str, scripts: Sequence[Script], stacks: Sequence[str], libraries: Sequence[str]) -> Traced:
    """Trace stacks of tensors, and of engines as they were made. Raises TraceFailed."""
    node, _ = playwright_driver()
    command: list[str | Path] = [node, "--no-warnings", tree() / "js" / "watch" / "trace.mjs"]
    request = {"page": page, "scripts": scripts, "stacks": stacks, "libraries": libraries}
    try:
        done = subprocess.run(
            command, input=msgspec.json.encode(request), capture_output=True, timeout=SECONDS, check=True
        )
        return msgspec.json.decode(done.stdout, type=Traced)
    except subprocess.CalledProcessError as error:
        said = "\n".join(error.stderr.decode(errors="replace").strip().splitlines()[-6:])
        raise TraceFailed(f"places could not be traced:\n{said}") from error
    except (OSError, subprocess.TimeoutExpired, msgspec.DecodeError) as error:
        raise TraceFailed(f"places could not be traced: {error}") from error

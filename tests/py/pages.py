"""Pages of documentation that are run: every block of code is a file, a command, or what the command before it prints.

A block whose first line is a comment with a file's name, as ``# test_it.py`` or ``// it.test.js``, is written to that
file, in a folder of the page's own. A block of ``sh`` is run there; a block of ``text`` right after it is all that it
prints to stdout, where ``…`` is any text, over several lines too. Without one the command has to succeed. Blocks are
taken in the order of the page, so that a file may be written anew. Any other block is a fault, and so is a file that
nothing reads.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_FENCED = re.compile(r"^```(?P<language>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_MISSED = re.compile(r"^\s*(```|~~~)|^( {4}|\t)\s*\S")
"""Outside of blocks: a fence that is none of those above, or code by its indent."""
_NAMED = re.compile(r"(?:#|//|;) (?P<file>[\w.-]+\.\w+)\n")
LIMIT = 300
"""Seconds that a command may take."""


@dataclass(frozen=True)
class Block:
    """One of a page's blocks of code."""

    line: int
    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The name that it has in its first line."""
        named = _NAMED.match(self.text)
        return named["file"] if named else None


def blocks(page: str) -> list[Block]:
    """Return a page's blocks."""
    return [
        Block(page.count("\n", 0, found.start()) + 1, found["language"], found["text"])
        for found in _FENCED.finditer(page)
    ]


def faults(page: str, folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Run a page in a folder; yield what is not as it says, each with the line of the page."""
    around = _FENCED.sub(lambda found: "\n" * found[0].count("\n"), page)
    for number, line in enumerate(around.split("\n"), start=1):
        if _MISSED.match(line):
            yield f"line {number}: code that is not in a block that is run: {line.strip()}"
    folder.mkdir(parents=True)
    written: dict[str, Block] = {}
    found = blocks(page)
    for before, block, after in zip([None, *found], found, [*found[1:], None], strict=False):
        if block.language == "sh":
            output = after.text if after is not None and after.language == "text" else None
            yield from _ran(block, output, folder, environment)
        elif block.language == "text" and before is not None and before.language == "sh":
            if not block.text.strip("… \n"):
                yield f"line {block.line}: output that any output would be"
        elif block.language not in ("", "text") and block.file is not None:
            yield from _unread(written.pop(block.file, None), folder)
            written[block.file] = block
            (folder / block.file).write_text(block.text, encoding="utf-8")
            os.utime(folder / block.file, (0, (folder / block.file).stat().st_mtime))  # so that a read shows
        else:
            yield f"line {block.line}: nothing runs this block, which is neither a named file, nor sh, nor its output"
    for block in written.values():
        yield from _unread(block, folder)


def _ran(block: Block, expected: str | None, folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    command = ["bash", "-eu", "-o", "pipefail", "-c", block.text]
    done = subprocess.run(command, cwd=folder, env=dict(environment), capture_output=True, text=True, timeout=LIMIT)
    output = re.sub(r"[ \t]+$", "", done.stdout, flags=re.MULTILINE)
    if expected is None and done.returncode != 0:
        yield f"line {block.line}: it ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    elif expected is not None and not _as_expected(output, expected):
        yield f"line {block.line}: it printed\n{output}\nand not\n{expected}\nand to stderr\n{done.stderr}"


def _as_expected(output: str, expected: str) -> bool:
    pattern = ".*?".join(re.escape(part) for part in expected.strip().split("…"))
    return re.fullmatch(pattern, output.strip(), re.DOTALL) is not None


def _unread(block: Block | None, folder: Path) -> Iterator[str]:
    if block is None or block.file is None or (folder / block.file).stat().st_atime != 0:
        return
    (folder / block.file).read_bytes()
    if (folder / block.file).stat().st_atime == 0:
        raise OSError(f"{folder}: this file system does not record when a file was read last")
    yield f"line {block.line}: nothing reads {block.file}"

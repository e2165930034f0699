"""What tests of targets in a browser share: whether there is a browser, and what runs of it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent
from typing import Any

import psutil
import pytest

from tensorledger.browser.chromium import ChromiumMissing, chromium
from tensorledger.cells.cell import Cell, Ran, Settings, run_cell
from tensorledger.scenarios.catalogue import find
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers


def _missing() -> str:
    try:
        chromium()
    except ChromiumMissing as error:
        return str(error)
    return ""


needs_chromium = pytest.mark.skipif(bool(_missing()), reason=_missing() or "there is one")
"""Marks tests, or a file of them, that are skipped where there is no Chromium, or nothing to drive it."""

(CPU,) = resolve(["tfjs/cpu+browser"])
(WEBGL,) = resolve(["tfjs/webgl"])
(WEBGPU,) = resolve(["tfjs/webgpu"])


class Page:
    """Runs scenarios in pages, each from a file of the test's own."""

    def __init__(self, workers: Workers, folder: Path) -> None:
        self._workers = workers
        self._folder = folder

    def __call__(self, source: str, *, target: Target = CPU, name: str = "scenario.mjs", **settings: Any) -> Ran:
        """Write a scenario, or take ``source`` as the name of one that is there, and run it."""
        written = source
        if "\n" in source or "=>" in source:
            file = self._folder / name
            file.write_text(dedent(source), encoding="utf-8")
            written = str(file)
        how = Settings(**{"cycles": 1, "limit": 60.0, **settings})
        return run_cell(Cell(find(written), target), self._workers, how)


def processes(kind: str | None = None, of: int | None = None) -> list[psutil.Process]:
    """Return Chromium's processes that descend from one: its main ones (``browser``), or those of a type of its own.

    ``None``: all of a stem's processes, with the stem. ``of``: by default the process that runs the tests.
    """
    found = []
    for process in psutil.Process(of).children(recursive=True):
        try:
            told = _kind(process.cmdline())
        except psutil.Error:
            continue  # it has just ended
        if told is not None and kind in (None, told):
            found.append(process)
    return found


def _kind(command: list[str]) -> str | None:
    for word in command:
        if word.startswith("--type="):
            return word.removeprefix("--type=")
    if "--remote-debugging-pipe" in command:
        return "browser"
    return "driver" if "run-driver" in command else "stem" if "tensorledger.browser.stem" in command else None


def renderer() -> psutil.Process:
    """Return the process of the page that a scenario of the test's is in: the one that works most."""
    return max(processes("renderer"), key=lambda process: process.memory_info().rss)


def all_gone(those: Iterable[psutil.Process], within: float = 30.0) -> list[psutil.Process]:
    """Return those processes that have not ended after some seconds."""
    _, alive = psutil.wait_procs(list(those), timeout=within)
    return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def profiles(folder: Path) -> list[str]:
    """Return what Playwright has left in the folder of temporary files."""
    return [found.name for found in folder.glob("playwright*")]


def none_left(folder: Path, within: float = 30.0) -> list[str]:
    """Return what Playwright has left in a folder after some seconds."""
    deadline = time.monotonic() + within
    while (found := profiles(folder)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def chromium_as(folder: Path, script: str) -> Path:
    """Write a program to be taken for Chromium; ``$CHROMIUM`` in it is the real one."""
    program = folder / "chromium-as"
    program.write_text(f"#!/bin/bash\nCHROMIUM={chromium()}\n{dedent(script)}", encoding="utf-8")
    program.chmod(0o755)
    assert shutil.which(str(program))
    return program

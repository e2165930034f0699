"""A folder of a fault's own, the commands that run in it, and what they leave behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

MARK = "TENSORLEDGER_FAULT"
"""In the environment of all that a fault starts, so that what it leaves behind is found."""
PATIENCE = 180
"""Seconds after which a run hangs."""
SOON = 15
"""Seconds in which all that a run started has to be gone after it."""

GOOD = "export default async function* ({tf}) { const x = tf.ones([4]); yield 'made'; x.dispose(); }\n"
GOOD_PY = "def scenario(context):\n    x = context.tf.ones([4])\n    yield 'made'\n    del x\n"


@dataclass
class Ended:
    """A command that has ended."""

    status: int
    output: str
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By the file of the scenario, without its folder."""

    def verdicts(self) -> dict[str, str]:
        return {name: result["verdict"] for name, result in self.results.items()}


@dataclass
class Place:
    """A folder of a fault's own, and the commands that run in it."""

    folder: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    environment: dict[str, str] = field(default_factory=dict)
    temporary: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="tl-", dir="/tmp")))
    """Of a short name: Chromium's socket in it must not have a long one."""

    @property
    def results(self) -> Path:
        return self.folder / "results.json"

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def start(self, *arguments: str, before: Callable[[], None] = lambda: None) -> subprocess.Popen[str]:
        def begin() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # who started the tests may ignore it
            before()

        return subprocess.Popen(
            [Path(sys.executable).with_name("python"), "-m", "tensorledger", *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            preexec_fn=begin,
            env={**os.environ, "TMPDIR": str(self.temporary), MARK: self.mark, **self.environment},
        )

    def end(self, process: subprocess.Popen[str]) -> Ended:
        """Wait for a command; a hang is a failure. What it wrote is read."""
        try:
            output, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
            pytest.fail(f"it hangs: {output[-2000:]}")
        results = {}
        if self.results.is_file() and self.results.stat().st_size:
            for result in json.loads(self.results.read_text(encoding="utf-8"))["results"]:
                results[Path(result["scenario"]).name] = result
        return Ended(process.returncode, output, results)

    def run(self, *arguments: str, **how: Any) -> Ended:
        """Run ``tensorledger run ARGUMENTS…``, with its results written."""
        return self.end(self.start("run", *arguments, "--json", str(self.results), **how))

    def processes(self) -> list[psutil.Process]:
        """Return all processes that this place's commands have started and that are alive."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == self.mark:
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def left(self) -> list[str]:
        """Return what is left: processes, and with them their ports, and temporary files."""
        until = time.monotonic() + SOON
        while self.processes() and time.monotonic() < until:
            time.sleep(0.1)
        processes = [f"process {found.pid}: {' '.join(found.cmdline())[:200]}" for found in self.processes()]
        return processes + [f"file {path}" for path in self.temporary.rglob("*")]

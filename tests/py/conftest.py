"""What several tests need."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tensorledger.workers.pool import Workers


@pytest.fixture(scope="session")
def command_line() -> Callable[..., subprocess.Popen[str]]:
    """Start `tensorledger ARGUMENTS…` in a folder; both outputs are on its stdout."""
    program = Path(sys.executable).with_name("tensorledger")

    def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [program, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    return start


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """Workers that a file's tests share."""
    with Workers() as found:
        yield found

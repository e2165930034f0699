"""What several tests need."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import convertible
import pytest
from filelock import FileLock
from packed import pack, packed_wheel

from tensorledger.environment.tree import tree
from tensorledger.workers.pool import Workers


def interruptible() -> None:
    """Let a process be interrupted, though who started the tests may ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(scope="session")
def command_line() -> Callable[..., subprocess.Popen[str]]:
    """Start `tensorledger ARGUMENTS…` in a folder; both outputs are on its stdout."""
    program = Path(sys.executable).with_name("tensorledger")

    def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [program, *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=interruptible,
        )

    return start


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """Workers that a file's tests share."""
    with Workers() as found:
        yield found


@pytest.fixture(scope="session")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the npm package, packed."""
    return pack(tmp_path_factory.mktemp("package"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel."""
    return packed_wheel(tree(), tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def convertible_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the models of convertible.py as each Keras saves them; made once, for all processes that run tests."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "convertible"
    with FileLock(f"{folder}.lock"):
        if not (folder / "complete").is_file():
            command = [sys.executable, convertible.__file__, str(folder)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert not done.stdout.strip(), done.stdout
            (folder / "complete").touch()
    return folder

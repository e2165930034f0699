"""Writes down what the tests of a run have cost, without start-up and imports: where TENSORLEDGER_SPENT says."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

started = pytest.StashKey[float]()


def pytest_runtestloop(session: pytest.Session) -> None:
    session.config.stash[started] = time.process_time()


def pytest_sessionfinish(session: pytest.Session) -> None:
    spent = os.environ.get("TENSORLEDGER_SPENT")
    if spent and started in session.config.stash:
        Path(spent).write_text(str(time.process_time() - session.config.stash[started]), encoding="utf-8")

"""A planted scenario as a test under pytest-memray: pytest --memray memray_probe.py, told what by the environment."""

import os
import types

import pytest
from plain import load

scenario = load(os.environ["PLANTED"])
context = types.SimpleNamespace(params={"size": int(os.environ["SIZE"])})
KEPT = []


def cycles(count):
    for _ in range(count):
        for _ in scenario(context):
            pass


cycles(10)
CYCLES = int(os.environ["CYCLES"])


@pytest.mark.limit_leaks(f"{CYCLES * 512} B")
def test_planted():
    cycles(CYCLES)


@pytest.mark.limit_leaks(f"{CYCLES * 512} B")
def test_control():
    """Is to fail: who passes it does not look."""
    KEPT.append(bytearray(2**20))

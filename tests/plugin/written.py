"""The test files that the tests write, and what runs pytest on them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

HEAD = """
import pytest
import tensorflow as tf

CACHE = []
"""

Run = Callable[..., pytest.RunResult]


def line_of(text: str, source: str) -> int:
    """The number of the one line in the test file that has this text."""
    found = [number for number, line in enumerate((HEAD + source).strip().splitlines(), start=1) if text in line]
    assert len(found) == 1
    return found[0]
